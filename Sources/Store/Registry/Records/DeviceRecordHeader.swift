import Domain

/// What sending needs of a packed device record, found without reading the rest: where id, token and facts stand. Its
/// layout is `DeviceRecord`'s.
///
/// Earns its place: reading a whole record of ten tags takes ten times as long.
struct DeviceRecordHeader {
  private(set) var bornAt: WallTime
  /// Nil: it may be sent to.
  private(set) var gone: Gone?
  /// Where provider, kind of token and bundle id stand: the same bytes mean the same.
  private(set) var route: Range<Int>
  private var flags: DeviceRecord.Flags
  private var id: Int
  private var token: Int
  private var facts: Int
  private var end: Int

  enum Gone: Hashable {
    case disabled
    case dead
  }

  /// `part`: where it stands in `packed`, which all else takes as well. Throws if it cannot be read.
  init(_ packed: [UInt8], _ part: Range<Int>) throws(Corrupt) {
    var reader = Unpacker(packed, part)
    end = part.upperBound
    guard let isArriving = DeviceRecord.isArriving(try reader.byte()) else { throw Corrupt() }
    flags = DeviceRecord.Flags(rawValue: try reader.byte())
    let registeredAt = try reader.time()
    bornAt = WallTime(milliseconds: try reader.time(after: registeredAt))
    if flags.contains(.lastSeen) { _ = try reader.number() }
    id = reader.place
    try reader.skipCompact()
    token = reader.place
    try reader.skipCompact()
    let start = reader.place
    for _ in 0..<3 { try reader.skipWord() }
    route = start..<reader.place
    facts = reader.place
    gone = flags.contains(.tombstone) || isArriving ? .dead : flags.contains(.enabled) ? nil : .disabled
  }

  func deviceID(_ packed: [UInt8]) throws(Corrupt) -> DeviceID {
    var reader = Unpacker(packed, id..<end)
    return DeviceID(rawValue: try reader.compact())
  }

  /// Replaces `bytes` by the token's.
  func token(_ packed: [UInt8], into bytes: inout [UInt8]) throws(Corrupt) {
    var reader = Unpacker(packed, token..<end)
    bytes.removeAll(keepingCapacity: true)
    try reader.compact(into: &bytes)
  }

  /// As `DeviceRecord` has it, but for the token of a Live Activity.
  func address(_ packed: [UInt8], _ words: StringTable) throws(Corrupt) -> Address {
    var reader = Unpacker(packed, token..<end)
    let token = try reader.compact()
    let provider = ProviderName(rawValue: try reader.word(words))
    guard let kind = TokenKind(rawValue: try reader.word(words)) else { throw Corrupt() }
    return Address(
      provider: provider, token: token, tokenKind: kind,
      environment: flags.contains(.sandbox) ? .sandbox : .production, bundleID: try reader.optionalWord(words))
  }

  /// Where the zone of the device's clock stands: the same bytes mean the same.
  func zone(_ packed: [UInt8]) throws(Corrupt) -> Range<Int> {
    var reader = Unpacker(packed, facts..<end)
    for _ in 0..<3 { try reader.skipWord() }
    let start = reader.place
    try reader.skipWord()
    return start..<reader.place
  }

  func facts(_ packed: [UInt8], _ words: StringTable) throws(Corrupt) -> DeviceFacts {
    var reader = Unpacker(packed, facts..<end)
    var facts = DeviceFacts()
    facts.platform = try reader.optionalWord(words)
    try reader.skipWord()
    facts.language = try reader.optionalWord(words)
    facts.timeZone = try reader.optionalWord(words)
    if flags.contains(.user) {
      try reader.skipCompact()
      _ = try reader.number()
      for _ in 0..<(try reader.int()) { try reader.skipWord() }
    }
    if flags.contains(.activity) {
      for _ in 0..<2 where try reader.flag() { try reader.skipCompact() }
    }
    if flags.contains(.permissions) { _ = try reader.byte() }
    for _ in 0..<(try reader.int()) { try reader.skipWord() }
    for _ in 0..<(try reader.int()) {
      facts.attributes.append(JSONMember(try reader.word(words), try DeviceRecord.readValue(&reader, words)))
    }
    return facts
  }
}

extension Unpacker {
  mutating func skipWord() throws(Corrupt) {
    let head = try int()
    if head > 0, head & 1 == 0 { _ = try slice((head >> 1) - 1) }
  }
}
