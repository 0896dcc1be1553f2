import Domain

/// A device as stored. Layout, version 1: the version byte; flags; registered-at and born-at in milliseconds; last-seen if
/// flagged; then id, provider, token (hex tokens as bytes, if flagged), token kind, environment, and the optional texts
/// bundle id, platform, app version, language, time zone, user, live-activity token, activity id; the tags; the attributes,
/// each a name, a type byte and a value; the tombstone's reason and time if flagged. Numbers are LEB128.
struct DeviceRecord: Hashable {
  var stored: StoredDevice
  /// When the number was given: a delivery that names a number born later names another device.
  var bornAt: WallTime

  private static let version: UInt8 = 1

  private struct Flags: OptionSet {
    let rawValue: UInt8
    static let enabled = Self(rawValue: 1)
    static let hexToken = Self(rawValue: 2)
    static let lastSeen = Self(rawValue: 4)
    static let tombstone = Self(rawValue: 8)
  }

  var packed: [UInt8] {
    let device = stored.device
    let hex = Self.fromHex(device.address.token)
    var flags: Flags = device.enabled ? [.enabled] : []
    if hex != nil { flags.insert(.hexToken) }
    if device.lastSeen != nil { flags.insert(.lastSeen) }
    if stored.tombstone != nil { flags.insert(.tombstone) }
    var packer = Packer()
    packer.byte(Self.version)
    packer.byte(flags.rawValue)
    packer.time(device.registeredAt.milliseconds)
    packer.time(bornAt.milliseconds)
    if let lastSeen = device.lastSeen { packer.time(lastSeen.milliseconds) }
    packer.text(device.id.rawValue)
    packer.text(device.address.provider.rawValue)
    if let hex { packer.blob(hex) } else { packer.text(device.address.token) }
    packer.text(device.address.tokenKind.rawValue)
    packer.text(device.address.environment.rawValue)
    for text in [
      device.address.bundleID, device.platform, device.appVersion, device.language, device.timeZone, device.user,
      device.liveActivityToken, device.activityID,
    ] { packer.optional(text) }
    packer.number(device.tags.count)
    for tag in device.tags { packer.text(tag) }
    packer.number(device.attributes.count)
    for attribute in device.attributes {
      packer.text(attribute.key)
      Self.write(attribute.value, to: &packer)
    }
    if let tombstone = stored.tombstone {
      packer.text(tombstone.reason)
      packer.time(tombstone.at.milliseconds)
    }
    return packer.bytes
  }

  init(_ stored: StoredDevice, bornAt: WallTime) {
    self.stored = stored
    self.bornAt = bornAt
  }

  init(packed: [UInt8]) throws(Corrupt) {
    var reader = Unpacker(packed)
    guard try reader.byte() == Self.version else { throw Corrupt() }
    let flags = Flags(rawValue: try reader.byte())
    let registeredAt = WallTime(milliseconds: try reader.time())
    bornAt = WallTime(milliseconds: try reader.time())
    let lastSeen = flags.contains(.lastSeen) ? WallTime(milliseconds: try reader.time()) : nil
    let id = DeviceID(rawValue: try reader.text())
    let provider = ProviderName(rawValue: try reader.text())
    let token = flags.contains(.hexToken) ? Self.hex(try reader.blob()) : try reader.text()
    guard let kind = TokenKind(rawValue: try reader.text()),
      let environment = Environment(rawValue: try reader.text())
    else { throw Corrupt() }
    var device = Device(
      id: id,
      address: Address(
        provider: provider, token: token, tokenKind: kind, environment: environment, bundleID: try reader.optional()),
      registeredAt: registeredAt)
    device.lastSeen = lastSeen
    device.enabled = flags.contains(.enabled)
    device.platform = try reader.optional()
    device.appVersion = try reader.optional()
    device.language = try reader.optional()
    device.timeZone = try reader.optional()
    device.user = try reader.optional()
    device.liveActivityToken = try reader.optional()
    device.activityID = try reader.optional()
    for _ in 0..<(try reader.int()) { device.tags.append(try reader.text()) }
    for _ in 0..<(try reader.int()) {
      device.attributes.append(JSONMember(try reader.text(), try Self.readValue(&reader)))
    }
    stored = StoredDevice(device: device, tombstone: nil)
    if flags.contains(.tombstone) {
      stored.tombstone = Tombstone(reason: try reader.text(), at: WallTime(milliseconds: try reader.time()))
    }
    guard reader.isAtEnd else { throw Corrupt() }
  }

  // MARK: Attribute values: strings, numbers, booleans; anything else is stored as null.

  private static func write(_ value: JSONValue, to packer: inout Packer) {
    switch value {
    case .bool(let flag): packer.byte(flag ? 2 : 1)
    case .integer(let number):
      packer.byte(3)
      packer.number(UInt64(bitPattern: number))
    case .unsigned(let number):
      packer.byte(4)
      packer.number(number)
    case .double(let number):
      packer.byte(5)
      packer.number(number.bitPattern)
    case .string(let text):
      packer.byte(6)
      packer.text(text)
    case .null, .array, .object: packer.byte(0)
    }
  }

  private static func readValue(_ reader: inout Unpacker) throws(Corrupt) -> JSONValue {
    switch try reader.byte() {
    case 0: return .null
    case 1: return .bool(false)
    case 2: return .bool(true)
    case 3: return .integer(Int64(bitPattern: try reader.number()))
    case 4: return .unsigned(try reader.number())
    case 5:
      let number = Double(bitPattern: try reader.number())
      guard number.isFinite else { throw Corrupt() }
      return .double(number)
    case 6: return .string(try reader.text())
    default: throw Corrupt()
    }
  }

  // MARK: Hex tokens take half the room.

  /// Nil unless `text` is lower-case hex of whole bytes.
  private static func fromHex(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard !digits.isEmpty, digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let high = nibble(digits[place]), let low = nibble(digits[place + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
  private static func nibble(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
  static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
