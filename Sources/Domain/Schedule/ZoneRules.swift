/// The clock of one zone: its offsets from UTC over time, as a file of the IANA database has them (RFC 8536).
package struct ZoneRules: Sendable {
  /// Instants in seconds, ascending, and the offset from each on.
  private var times: [Int64] = []
  private var offsets: [Int64] = []
  /// Before the first of them.
  private var first: Int64
  /// Behind the last of them; nil: nothing changes any more.
  private var tail: ZoneTail?

  package static let utc = ZoneRules(offset: 0)
  /// A clock that never changes. `offset`: seconds to add to UTC.
  package init(offset: Int64) { first = offset }

  /// Nil: this is no such file.
  package init?(file: [UInt8]) {
    var reader = Reader(bytes: file[...])
    guard var counts = reader.header() else { return nil }
    var wide = false
    if counts.version >= UInt8(ascii: "2") {
      guard reader.skip(counts.size(wide: false)), let second = reader.header() else { return nil }
      (counts, wide) = (second, true)
    }
    guard counts.types > 0 else { return nil }
    for _ in 0..<counts.times {
      guard let time = reader.number(wide ? 8 : 4) else { return nil }
      times.append(time)
    }
    var kinds: [Int] = []
    for _ in 0..<counts.times {
      guard let kind = reader.byte(), kind < counts.types else { return nil }
      kinds.append(Int(kind))
    }
    var types: [Int64] = []
    for _ in 0..<counts.types {
      guard let offset = reader.number(4), reader.skip(2), abs(offset) < 26 * 3_600 else { return nil }
      types.append(offset)
    }
    offsets = kinds.map { types[$0] }
    first = types[0]
    guard zip(times, times.dropFirst()).allSatisfy(<) else { return nil }
    guard reader.skip(counts.characters + counts.leaps * (wide ? 12 : 8) + counts.standard + counts.universal) else {
      return nil
    }
    guard wide else { return }
    let footer = reader.rest.dropFirst().prefix { $0 != UInt8(ascii: "\n") }
    guard reader.rest.first == UInt8(ascii: "\n") else { return nil }
    if !footer.isEmpty {
      guard let tail = ZoneTail(String(decoding: footer, as: UTF8.self)) else { return nil }
      self.tail = tail
    }
  }

  /// Seconds to add to UTC.
  package func offset(at time: WallTime) -> Int64 { offset(atSecond: floorSeconds(time)) }

  private func offset(atSecond second: Int64) -> Int64 {
    guard let last = times.last, second >= times[0] else {
      return times.isEmpty ? tail?.offset(at: second) ?? first : first
    }
    if second >= last { return tail?.offset(at: second) ?? offsets[offsets.count - 1] }
    var low = 0
    var high = times.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if times[middle] <= second { low = middle } else { high = middle }
    }
    return offsets[low]
  }

  /// What the clock shows at that time, without the fraction of a second.
  package func local(_ time: WallTime) -> LocalTime { LocalTime(seconds: floorSeconds(time) + offset(at: time)) }

  /// The first instant at which the clock shows this time or a later one. So a time that is skipped counts as the first
  /// one behind the gap, and of a time that comes twice the first counts.
  package func instant(of local: LocalTime) -> WallTime {
    // Offsets lie within ±26 hours.
    let margin: Int64 = 26 * 3_600
    var from = local.seconds - margin
    let end = local.seconds + margin
    for change in changes(after: from, through: end) + [end] {
      let offset = offset(atSecond: from)
      if from + offset >= local.seconds { return WallTime(seconds: from) }
      if local.seconds - offset < change { return WallTime(seconds: local.seconds - offset) }
      from = change
    }
    return WallTime(seconds: local.seconds - offset(atSecond: from))
  }

  private func changes(after start: Int64, through end: Int64) -> [Int64] {
    var found = times.filter { $0 > start && $0 <= end }
    if let tail { found += tail.changes(after: max(start, times.last ?? start), through: end) }
    return found
  }

  private func floorSeconds(_ time: WallTime) -> Int64 {
    let rest = (time.milliseconds % 1_000 + 1_000) % 1_000
    return (time.milliseconds - rest) / 1_000
  }
}

private struct Reader {
  private var bytes: ArraySlice<UInt8>
  init(bytes: ArraySlice<UInt8>) { self.bytes = bytes }
  var rest: ArraySlice<UInt8> { bytes }

  struct Counts {
    var version: UInt8
    var universal: Int
    var standard: Int
    var leaps: Int
    var times: Int
    var types: Int
    var characters: Int
    func size(wide: Bool) -> Int {
      times * (wide ? 9 : 5) + types * 6 + characters + leaps * (wide ? 12 : 8) + standard + universal
    }
  }

  mutating func byte() -> UInt8? { bytes.popFirst() }
  mutating func skip(_ count: Int) -> Bool {
    guard count >= 0, bytes.count >= count else { return false }
    bytes = bytes.dropFirst(count)
    return true
  }
  /// Big endian, with its sign.
  mutating func number(_ width: Int) -> Int64? {
    guard bytes.count >= width else { return nil }
    var value: UInt64 = 0
    for byte in bytes.prefix(width) { value = value << 8 | UInt64(byte) }
    bytes = bytes.dropFirst(width)
    return width == 4 ? Int64(Int32(truncatingIfNeeded: value)) : Int64(bitPattern: value)
  }
  mutating func header() -> Counts? {
    guard bytes.starts(with: Array("TZif".utf8)), skip(4), let version = byte(), skip(15) else { return nil }
    var counts: [Int] = []
    for _ in 0..<6 {
      guard let count = number(4), (0...100_000).contains(count) else { return nil }
      counts.append(Int(count))
    }
    return Counts(
      version: version, universal: counts[0], standard: counts[1], leaps: counts[2], times: counts[3],
      types: counts[4], characters: counts[5])
  }
}
