import Domain

/// What a set of devices has in common. The raw value begins the set's name.
enum SetKind: String, CaseIterable {
  /// Live and enabled: receives. The only set that a tombstone, a disabled device or one that is arriving is not in.
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
  /// What its notifications may do.
  case permission = "n"
  /// The Live Activity that it shows.
  case activity = "c"
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

  func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }

  /// Tags, their keys and activities are many: their entries are spread over this many buckets.
  static let tagBuckets = 2_048

  /// Where the set's entry stands: sets of one kind together, so that their names can be listed, but for the many.
  var bucket: SetBucket {
    switch kind {
    case .tag, .tagKey, .activity:
      SetBucket(number: Int(ClusterHashTags.hash(kind.rawValue, value.text) % UInt64(Self.tagBuckets)))
    case .active, .several: SetBucket(of: .active)
    default: SetBucket(of: kind)
    }
  }
}

/// Of the entries of one block.
struct SetBucket: Hashable {
  /// One of tags, or behind those the letter of a kind.
  let number: Int

  init(number: Int) { self.number = number }
  init(of kind: SetKind) { number = SetName.tagBuckets + Int(kind.rawValue.utf8.first ?? 0) }

  /// As its key ends.
  var text: String {
    number < SetName.tagBuckets
      ? String(number) : String(Unicode.Scalar(UInt8(truncatingIfNeeded: number - SetName.tagBuckets)))
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
  /// The sets that hold the device; some may come twice.
  func forEachSet(_ body: (SetName) -> Void) {
    forEachSetBesideTags(body)
    forEachTag { tag in
      body(SetName(.tag, tag))
      if let key = SetName.key(ofTag: tag) { body(SetName(.tagKey, key)) }
    }
  }
  func forEachTag(_ body: (String) -> Void) {
    for tag in stored.device.tags { body(tag) }
    for tag in stored.userTags { body(tag) }
  }
  func forEachSetBesideTags(_ body: (SetName) -> Void) {
    let device = stored.device
    if isLive { body(SetName(.active)) }
    if isOneOfSeveral { body(SetName(.several)) }
    body(SetName(.route, RouteClass(of: device.address).name))
    body(SetName(.seen, String(SetName.day(of: device))))
    if let platform = device.platform { body(SetName(.platform, platform)) }
    if let language = device.language { body(SetName(.language, language.lowercased())) }
    if let zone = device.timeZone { body(SetName(.zone, zone)) }
    if let version = device.appVersion { body(SetName(.version, version)) }
    for permission in device.permissions.all { body(SetName(.permission, permission.rawValue)) }
    if let activity = device.activityID { body(SetName(.activity, activity)) }
    for attribute in device.attributes { body(SetName(.attribute, attribute.key)) }
  }

  var sets: Set<SetName> {
    var names = Set<SetName>(minimumCapacity: 10 + 2 * (stored.device.tags.count + stored.userTags.count))
    forEachSet { names.insert($0) }
    return names
  }
}
