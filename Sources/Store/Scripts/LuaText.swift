import Domain
import RedisClient

/// Puts the text of a script together. Its file begins with Redis' own line. A line `-- use a, b` stands for the files
/// of these names in `Lua/Parts`, each once in a script; a name of `constants` for its value. Lines of comment are left
/// out.
enum LuaText {
  private static let use = Array("-- use ".utf8)
  private static let comment = Array("--".utf8)
  private static let newline = UInt8(ascii: "\n")
  private static let space = UInt8(ascii: " ")

  /// Done for every script at each start: bytes, as searching strings for the constants took 20 ms of a start's 38.
  static func script(_ name: String, _ file: [UInt8]) -> RedisScript {
    var used: Set<String> = []
    var text: [UInt8] = []
    assemble(file, &used, into: &text)
    return RedisScript(name, String(decoding: withValues(text), as: UTF8.self))
  }

  private static func assemble(_ file: [UInt8], _ used: inout Set<String>, into text: inout [UInt8]) {
    for line in file.split(separator: newline) {
      if line.starts(with: use) {
        for word in line.dropFirst(use.count).split(separator: UInt8(ascii: ",")) {
          let name = String(decoding: word.drop { $0 == space }, as: UTF8.self)
          guard let part = parts[name] else { preconditionFailure("there is no part \(name) of a script") }
          if used.insert(name).inserted { assemble(part, &used, into: &text) }
        }
      } else if !line.drop(while: { $0 == space }).starts(with: comment) {
        text += line
        text.append(newline)
      }
    }
  }

  /// The text with values in place of the words that `constants` names.
  private static func withValues(_ text: [UInt8]) -> [UInt8] {
    var whole: [UInt8] = []
    whole.reserveCapacity(text.count)
    var rest = text[...]
    while let start = rest.firstIndex(where: isCapital) {
      let word = rest[start...].prefix { isCapital($0) || $0 == UInt8(ascii: "_") }
      whole += rest[..<start]
      whole += values[word] ?? word
      rest = rest[word.endIndex...]
    }
    return whole + rest
  }

  private static func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

  private static let values = Dictionary(
    uniqueKeysWithValues: constants.map { (Array($0.utf8)[...], Array($1.utf8)[...]) })

  private static let parts: [String: [UInt8]] = [
    "addShard": PackageResources.addShard_part_lua,
    "archive": PackageResources.archive_part_lua,
    "caps": PackageResources.caps_part_lua,
    "clock": PackageResources.clock_part_lua,
    "counterList": PackageResources.counterList_part_lua,
    "fence": PackageResources.fence_part_lua,
    "flush": PackageResources.flush_part_lua,
    "heldDraft": PackageResources.heldDraft_part_lua,
    "index": PackageResources.index_part_lua,
    "keepInPlace": PackageResources.keepInPlace_part_lua,
    "keepsContent": PackageResources.keepsContent_part_lua,
    "keyed": PackageResources.keyed_part_lua,
    "listed": PackageResources.listed_part_lua,
    "mark": PackageResources.mark_part_lua,
    "owner": PackageResources.owner_part_lua,
    "records": PackageResources.records_part_lua,
    "sets": PackageResources.sets_part_lua,
    "tally": PackageResources.tally_part_lua,
    "user": PackageResources.user_part_lua,
    "writeDevices": PackageResources.writeDevices_part_lua,
  ]

  /// What Swift and Lua both know, as words of capital letters and underscores.
  static let constants = [
    ("RECORDS_PER_BUCKET", "\(Keys.recordsPerBucket)"),
    ("BITMAP_STEP", "\(SetBlock.bitmapStep)"),
    ("ARRIVING", "\(DeviceRecord.Mark.arriving)"),
    ("MARK_LENGTH", "\(DeviceRecord.Mark.length)"),
    ("SHORTEST_START", "\(AudienceStarts.shortestStart)"),
    ("LATEST_CLOCK", "\(LocalTime(seconds: 0).latest.milliseconds)"),
    ("RAMP_FLOOR", "\(RateBucket.rampFloor)"),
    ("RATE_CELL_US", "\(RateBucket.cell * 1_000)"),
    ("RATE_CELLS", "\(RateBucket.cells)"),
    ("MOVED_AT_MOST", "\(movedAtMost)"),
  ]

  /// Direct parts of more deliveries end where they stand: moving them would take longer than a script may.
  private static let movedAtMost = 1_000
}
