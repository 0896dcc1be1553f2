import Domain

/// What a set of devices has in common. The raw value begins the set's name.
enum SetKind: String, CaseIterable {
  /// Live and enabled: receives. The only set that a tombstone or a disabled device is not in.
  case active = "!"
  /// One of several devices of its user, or was.
  case several = "&"
  case route = "r"
  case platform = "p"
  /// Small letters.
  case language = "l"
  case zone = "z"
  case version = "v"
  /// The day since 1970 on which it was last seen, or registered if it never was.
  case seen = "s"
  /// Names of attributes.
  case attribute = "a"
  case tag = "t"
  /// What tags begin with: everything up to the first colon, and the colon.
  case tagKey = "k"
}

/// A set of devices of one app.
struct SetName: Hashable {
  var kind: SetKind
  var value: ExactText

  init(_ kind: SetKind, _ value: String = "") {
    self.kind = kind
    self.value = ExactText(value)
  }
  init?(text: String) {
    // A combining mark behind it would make another character of the first one.
    guard let first = text.unicodeScalars.first, let kind = SetKind(rawValue: String(first)) else { return nil }
    self.init(kind, String(text.unicodeScalars.dropFirst()))
  }

  var text: String { kind.rawValue + value.text }

  /// Tags and their keys are many: their entries are spread over this many buckets.
  static let tagBuckets = 1_024

  /// Where the set's entry stands: sets of one kind together, so that their names can be listed, but for tags.
  var bucket: String {
    switch kind {
    case .tag, .tagKey: String(Slots.hash(kind.rawValue, value.text) % UInt64(Self.tagBuckets))
    case .active, .several: SetKind.active.rawValue
    default: kind.rawValue
    }
  }
}

extension SetName {
  static func key(ofTag tag: String) -> String? {
    guard let colon = tag.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    return String(tag[...colon])
  }

  static func day(of device: Device) -> Int {
    Int((device.lastSeen ?? device.registeredAt).milliseconds / millisecondsPerDay)
  }
  static let millisecondsPerDay: Int64 = 86_400_000
}

extension DeviceRecord {
  /// The sets that hold the device.
  var sets: Set<SetName> {
    let device = stored.device
    var names = Set<SetName>(minimumCapacity: 10 + 2 * (device.tags.count + stored.userTags.count))
    if stored.isLive { names.insert(SetName(.active)) }
    if isOneOfSeveral { names.insert(SetName(.several)) }
    names.insert(SetName(.route, RouteClass(of: device.address).name))
    names.insert(SetName(.seen, String(SetName.day(of: device))))
    if let platform = device.platform { names.insert(SetName(.platform, platform)) }
    if let language = device.language { names.insert(SetName(.language, language.lowercased())) }
    if let zone = device.timeZone { names.insert(SetName(.zone, zone)) }
    if let version = device.appVersion { names.insert(SetName(.version, version)) }
    for attribute in device.attributes { names.insert(SetName(.attribute, attribute.key)) }
    for tags in [device.tags, stored.userTags] {
      for tag in tags {
        names.insert(SetName(.tag, tag))
        if let key = SetName.key(ofTag: tag) { names.insert(SetName(.tagKey, key)) }
      }
    }
    return names
  }
}
