import Domain

/// A device as stored. Layout, version 3: the version byte; flags; registered-at in milliseconds; born-at and last-seen
/// (if flagged) as differences from it; id and token as compact texts; the words provider, token kind, bundle id,
/// platform, app version, language and time zone; if flagged the user with the version of its tags and the tags; if
/// flagged live-activity token and activity id; if flagged a byte of permissions; the tags; the attributes, each a
/// word, a type byte and a value; if flagged the tombstone's reason and time, the credential and, behind a byte that
/// says whether there is one, the message that it came by; if the version byte says so (`Mark`) eight bytes. Numbers
/// are LEB128.
struct DeviceRecord: Hashable {
  var stored: StoredDevice
  /// When the number was given: a delivery that names a number born later names another device.
  var bornAt: WallTime
  /// Of the user's tags as this record holds them.
  var userVersion = 0
  /// Its user may have other devices as well. True of a device that has become its user's only one does no harm.
  var isOneOfSeveral = false

  /// Nil in a device that nobody is just registering.
  var mark: Mark?

  /// What registrations of one token tell each other by (`TokenOwners.contest`).
  struct Mark: Hashable {
    var nonce: UInt64
    /// It holds its token as soon as those before it are buried, and until then it is no recipient. Else it says
    /// nothing: the record was changed, so that what another process is about to write in its place is refused.
    var isArriving: Bool
    var tag: UInt16 { UInt16(truncatingIfNeeded: nonce) }
    var raw: [UInt8] {
      stride(from: UInt64(56), through: 0, by: -8).map { UInt8(truncatingIfNeeded: nonce >> $0) }
    }

    init(nonce: UInt64, isArriving: Bool) { (self.nonce, self.isArriving) = (nonce, isArriving) }
    /// From its eight bytes.
    init(raw: some Sequence<UInt8>, isArriving: Bool) {
      self.init(nonce: raw.reduce(0) { $0 << 8 | UInt64($1) }, isArriving: isArriving)
    }

    static let arriving: UInt8 = 0x80
    static let length = 8
    fileprivate static let shaken: UInt8 = 0x40
    fileprivate static let bits = arriving | shaken
  }

  var isArriving: Bool { mark?.isArriving ?? false }
  /// Receives.
  var isLive: Bool { stored.isLive && !isArriving }
  /// Has its token, whether it is enabled or not.
  var isLiving: Bool { stored.tombstone == nil && !isArriving }
  /// As others are told of it: one that is arriving is not there yet.
  var visible: StoredDevice? { isArriving ? nil : stored }

  static let version: UInt8 = 3
  /// What the first byte of a record tells; nil: it is of another version.
  static func isArriving(_ head: UInt8) -> Bool? {
    head & ~Mark.bits == version ? head & Mark.arriving != 0 : nil
  }

  /// The mark of a packed record, which stands at its end. Nil: it has none, or is of another version.
  static func mark(of packed: ArraySlice<UInt8>) -> Mark? {
    guard let head = packed.first, let isArriving = isArriving(head), head != version, packed.count > Mark.length
    else { return nil }
    return Mark(raw: packed.suffix(Mark.length), isArriving: isArriving)
  }

  struct Flags: OptionSet {
    let rawValue: UInt8
    static let enabled = Self(rawValue: 1)
    static let lastSeen = Self(rawValue: 2)
    static let tombstone = Self(rawValue: 4)
    static let user = Self(rawValue: 8)
    static let activity = Self(rawValue: 16)
    static let sandbox = Self(rawValue: 32)
    static let several = Self(rawValue: 64)
    static let permissions = Self(rawValue: 128)
  }

  init(_ stored: StoredDevice, bornAt: WallTime) {
    self.stored = stored
    self.bornAt = bornAt
  }

  func packed(_ words: StringTable) -> [UInt8] {
    let device = stored.device
    var flags: Flags = device.enabled ? [.enabled] : []
    if device.lastSeen != nil { flags.insert(.lastSeen) }
    if stored.tombstone != nil { flags.insert(.tombstone) }
    if device.user != nil { flags.insert(.user) }
    if device.liveActivityToken != nil || device.activityID != nil { flags.insert(.activity) }
    if device.address.environment == .sandbox { flags.insert(.sandbox) }
    if isOneOfSeveral { flags.insert(.several) }
    if !device.permissions.isEmpty { flags.insert(.permissions) }
    var packer = Packer()
    packer.reserve(192)
    packer.byte(state.head)
    packer.byte(flags.rawValue)
    packer.time(device.registeredAt.milliseconds)
    packer.time(bornAt.milliseconds, after: device.registeredAt.milliseconds)
    if let lastSeen = device.lastSeen { packer.time(lastSeen.milliseconds, after: device.registeredAt.milliseconds) }
    packer.compact(device.id.rawValue)
    packer.compact(device.address.token)
    packer.word(device.address.provider.rawValue, words)
    packer.word(device.address.tokenKind.rawValue, words)
    packer.word(device.address.bundleID, words)
    packer.word(device.platform, words)
    packer.word(device.appVersion, words)
    packer.word(device.language, words)
    packer.word(device.timeZone, words)
    if let user = device.user {
      packer.compact(user)
      packer.number(userVersion)
      packer.number(stored.userTags.count)
      for tag in stored.userTags { packer.word(tag, words) }
    }
    if flags.contains(.activity) {
      for text in [device.liveActivityToken, device.activityID] {
        packer.byte(text == nil ? 0 : 1)
        if let text { packer.compact(text) }
      }
    }
    if flags.contains(.permissions) { packer.byte(device.permissions.rawValue) }
    packer.number(device.tags.count)
    for tag in device.tags { packer.word(tag, words) }
    packer.number(device.attributes.count)
    for attribute in device.attributes {
      packer.word(attribute.key, words)
      Self.write(attribute.value, to: &packer, words)
    }
    state.packEnd(&packer, words)
    return packer.bytes
  }

  /// What registrations of other devices may change.
  var state: State {
    get { State(tombstone: stored.tombstone, mark: mark, isOneOfSeveral: isOneOfSeveral) }
    set { (stored.tombstone, mark, isOneOfSeveral) = (newValue.tombstone, newValue.mark, newValue.isOneOfSeveral) }
  }
  func becoming(_ state: State) -> DeviceRecord {
    var record = self
    record.state = state
    return record
  }

  struct State: Hashable {
    var tombstone: Tombstone?
    var mark: Mark?
    var isOneOfSeveral: Bool

    /// Has its token.
    var isLiving: Bool { tombstone == nil && !(mark?.isArriving ?? false) }

    /// Of the packed record.
    var head: UInt8 { DeviceRecord.version | (mark.map { $0.isArriving ? Mark.arriving : Mark.shaken } ?? 0) }

    /// The last bytes of the packed record, which tell only of its state; without words.
    var packedEnd: [UInt8] {
      var packer = Packer()
      packEnd(&packer, StringTable())
      return packer.bytes
    }

    fileprivate func packEnd(_ packer: inout Packer, _ words: StringTable) {
      if let tombstone {
        packer.word(tombstone.reason, words)
        packer.time(tombstone.at.milliseconds)
        packer.word(tombstone.credential?.rawValue, words)
        packer.byte(tombstone.message == nil ? 0 : 1)
        if let message = tombstone.message { packer.append(message.raw) }
      }
      if let mark { packer.append(mark.raw) }
    }
  }

  /// What `packed` may write as words.
  func forEachRepeatingText(_ body: (String) -> Void) {
    let device = stored.device
    body(device.address.provider.rawValue)
    body(device.address.tokenKind.rawValue)
    if let bundleID = device.address.bundleID { body(bundleID) }
    if let platform = device.platform { body(platform) }
    if let appVersion = device.appVersion { body(appVersion) }
    if let language = device.language { body(language) }
    if let timeZone = device.timeZone { body(timeZone) }
    for tag in stored.userTags { body(tag) }
    for tag in device.tags { body(tag) }
    for attribute in device.attributes {
      body(attribute.key)
      if case .string(let text) = attribute.value { body(text) }
    }
    if let tombstone = stored.tombstone {
      body(tombstone.reason)
      if let credential = tombstone.credential { body(credential.rawValue) }
    }
  }

  /// Throws also if it names a word that the book does not know.
  init(packed: [UInt8], _ words: StringTable) throws(Corrupt) {
    try self.init(Unpacker(packed), words)
  }

  init(_ unpacker: Unpacker, _ words: StringTable) throws(Corrupt) {
    var reader = unpacker
    let head = try reader.byte()
    guard let isArriving = Self.isArriving(head) else { throw Corrupt() }
    let flags = Flags(rawValue: try reader.byte())
    let registeredAt = WallTime(milliseconds: try reader.time())
    let base = registeredAt.milliseconds
    bornAt = WallTime(milliseconds: try reader.time(after: base))
    let lastSeen = flags.contains(.lastSeen) ? WallTime(milliseconds: try reader.time(after: base)) : nil
    let id = DeviceID(rawValue: try reader.compact())
    let token = try reader.compact()
    let provider = ProviderName(rawValue: try reader.word(words))
    guard let kind = TokenKind(rawValue: try reader.word(words)) else { throw Corrupt() }
    var device = Device(
      id: id,
      address: Address(
        provider: provider, token: token, tokenKind: kind,
        environment: flags.contains(.sandbox) ? .sandbox : .production, bundleID: try reader.optionalWord(words)),
      registeredAt: registeredAt)
    device.lastSeen = lastSeen
    device.enabled = flags.contains(.enabled)
    device.platform = try reader.optionalWord(words)
    device.appVersion = try reader.optionalWord(words)
    device.language = try reader.optionalWord(words)
    device.timeZone = try reader.optionalWord(words)
    var userTags: [String] = []
    if flags.contains(.user) {
      device.user = try reader.compact()
      userVersion = try reader.int()
      for _ in 0..<(try reader.int()) { userTags.append(try reader.word(words)) }
    }
    if flags.contains(.activity) {
      device.liveActivityToken = try reader.flag() ? try reader.compact() : nil
      device.activityID = try reader.flag() ? try reader.compact() : nil
    }
    if flags.contains(.permissions) {
      guard let permissions = Permissions(rawValue: try reader.byte()) else { throw Corrupt() }
      device.permissions = permissions
    }
    let tags = try reader.int()
    device.tags.reserveCapacity(min(tags, Tag.maximumPerDevice))
    for _ in 0..<tags { device.tags.append(try reader.word(words)) }
    for _ in 0..<(try reader.int()) {
      device.attributes.append(JSONMember(try reader.word(words), try Self.readValue(&reader, words)))
    }
    stored = StoredDevice(device: device, tombstone: nil, userTags: userTags)
    isOneOfSeveral = flags.contains(.several)
    if flags.contains(.tombstone) {
      var tombstone = Tombstone(reason: try reader.word(words), at: WallTime(milliseconds: try reader.time()))
      tombstone.credential = try reader.optionalWord(words).map { CredentialID(rawValue: $0) }
      if try reader.flag() { tombstone.message = MessageID(raw: try reader.take(16)) }
      stored.tombstone = tombstone
    }
    if head != Self.version {
      mark = Mark(raw: try reader.take(Mark.length), isArriving: isArriving)
    }
    guard reader.isAtEnd else { throw Corrupt() }
  }

  // MARK: Attribute values: strings, numbers, booleans; anything else is stored as null.

  private static func write(_ value: JSONValue, to packer: inout Packer, _ words: StringTable) {
    switch value {
    case .bool(let flag): packer.byte(flag ? 2 : 1)
    case .integer(let number):
      packer.byte(3)
      packer.signed(number)
    case .unsigned(let number):
      packer.byte(4)
      packer.number(number)
    case .double(let number):
      packer.byte(5)
      packer.number(number.bitPattern)
    case .string(let text):
      packer.byte(6)
      packer.word(text, words)
    case .null, .array, .object: packer.byte(0)
    }
  }

  static func readValue(_ reader: inout Unpacker, _ words: StringTable) throws(Corrupt) -> JSONValue {
    switch try reader.byte() {
    case 0: return .null
    case 1: return .bool(false)
    case 2: return .bool(true)
    case 3: return .integer(try reader.signed())
    case 4: return .unsigned(try reader.number())
    case 5:
      let number = Double(bitPattern: try reader.number())
      guard number.isFinite else { throw Corrupt() }
      return .double(number)
    case 6: return .string(try reader.word(words))
    default: throw Corrupt()
    }
  }
}
