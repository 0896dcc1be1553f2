import CommandFrame
import Domain
import JSON

/// What became of the rows of an import, by the server's answers.
struct ImportTally {
  /// What may become of a device.
  private static let registrations = ["created", "updated", "revived", "moved"]
  /// Rows of each kind that are named; the rest is counted.
  private static let named = 5

  /// Devices, each counted once: what their first row made of them.
  private var registered: [String: Int] = [:]
  private(set) var refused = 0
  /// Rows that an export wrote of dead devices.
  private var dead = 0
  private var stayDisabled = 0
  private var enabledAgain = 0
  private var duplicates = 0
  private var firstDuplicates: [String] = []
  private var seen = SeenDevices()

  private var devices: Int { registered.values.reduce(0, +) }
  private var rows: Int { devices + duplicates + dead + refused }

  mutating func refuse() { refused += 1 }

  /// A row that was not refused.
  mutating func take(_ result: JSONValue, line: Int) {
    guard result["registration"]?.string != "skipped" else {
      dead += 1
      return
    }
    let codes = Set((result["warnings"]?.array ?? []).compactMap { $0["code"]?.string })
    if codes.contains("stays_disabled") { stayDisabled += 1 }
    if codes.contains("enabled_again") { enabledAgain += 1 }
    let id = result["id"]?.string ?? ""
    // A row with the token of another row takes the device of that one its token away.
    let former = result["moved_from"]?.string.flatMap { seen.line(of: $0) }
    guard let earlier = seen.note(id, line: line) ?? former else {
      registered[result["registration"]?.string ?? "registered", default: 0] += 1
      return
    }
    duplicates += 1
    if firstDuplicates.count < Self.named { firstDuplicates.append("\(line) (as line \(earlier))") }
  }

  /// Of warnings that are counted here and not told line by line.
  static let countedCodes: Set = ["stays_disabled", "enabled_again"]

  // MARK: Shown

  func write(to writer: inout JSONWriter) {
    writer.member("rows", rows)
    writer.member("registered", devices)
    for word in Self.registrations { writer.member(word, registered[word] ?? 0) }
    writer.member("duplicates", duplicates)
    writer.member("stay_disabled", stayDisabled)
    writer.member("enabled_again", enabledAgain)
    writer.member("skipped_dead", dead)
    writer.member("refused", refused)
  }

  /// One fact a line. `isTrial`: nothing was registered.
  func lines(isTrial: Bool) -> [String] {
    let parts = registered.sorted { $0.key < $1.key }.map { "\(grouped($0.value)) \($0.key)" }
    var lines = [
      "\(counted(devices, "device")) \(isTrial ? "would be registered" : "registered")"
        + (parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))")
    ]
    if duplicates > 0 {
      let more = duplicates > firstDuplicates.count ? " …" : ""
      lines.append(
        "\(counted(duplicates, "line")) with the id or token of an earlier line; the later one counts: "
          + (duplicates == 1 ? "line " : "lines ") + firstDuplicates.joined(separator: ", ") + more)
    }
    if seen.isFull {
      lines.append("beyond \(grouped(SeenDevices.most)) devices, duplicates are not found")
    }
    if stayDisabled > 0 {
      lines.append(
        "\(counted(stayDisabled, "device")) \(stayDisabled == 1 ? "stays" : "stay") disabled: nothing is sent there until "
          + "a line has `enabled` true")
    }
    if enabledAgain > 0 {
      let (was, them) = enabledAgain == 1 ? ("was", "it") : ("were", "them")
      lines.append(
        "\(counted(enabledAgain, "device")) \(was) disabled, and a line enabled \(them) again: if the file is older than "
          + "an opt-out, this undid the opt-out")
    }
    if dead > 0 {
      lines.append("\(counted(dead, "line")) skipped: \(dead == 1 ? "its device is" : "their devices are") dead")
    }
    if refused > 0 { lines.append("\(counted(refused, "line")) refused") }
    return lines
  }
}

/// Ids of an import with the line that had each first, some 20 bytes a device: by a hash of 64 bits, so that of ten million ids
/// hardly two are taken for one.
struct SeenDevices {
  /// Some 100 MB.
  static let most = 6_000_000
  private var lines: [UInt64: UInt32] = [:]
  private(set) var isFull = false

  /// The line that had the id before; nil: none, or none that is known.
  mutating func note(_ id: String, line: Int) -> Int? {
    let hash = Self.hash(id)
    if let earlier = lines[hash] { return Int(earlier) }
    guard lines.count < Self.most else {
      isFull = true
      return nil
    }
    lines[hash] = UInt32(clamping: line)
    return nil
  }

  func line(of id: String) -> Int? { lines[Self.hash(id)].map(Int.init) }

  private static func hash(_ id: String) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(id)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}
