package import Domain

/// Reads registrations of devices (pure). A refusal tells every fault at once.
package enum DeviceReader {
  static let maximumAttributes = 100
  private static let longestAttribute = 1_024

  /// A device as `PUT /v1/devices/{id}` and `POST /v1/devices` take it, with what else the request said. `id`: from the
  /// path, or nil (then a body's `id` is used, or one derived by the caller, left empty here). `isImported`: a line of
  /// `POST /v1/devices/bulk`, which may tell when the app registered elsewhere. `faults`: shared by all lines of a
  /// request.
  package static func read(
    _ document: JSONValue, id: DeviceID?, now: WallTime, providers: [ProviderName: TokenRules]? = nil,
    isImported: Bool = false, faults: FaultBudget = FaultBudget()
  ) throws(Refusal) -> DeviceReading {
    var findings = Findings(providers: providers, maximumTargets: RequestBounds.targets, faults: faults)
    let reading = read(document, id: id, now: now, isImported: isImported, &findings)
    try findings.refuse()
    guard var reading else { preconditionFailure("a device was not read, but nothing was found wrong with it") }
    reading.warnings = findings.warnings
    return reading
  }

  /// Nil only together with findings.
  private static func read(
    _ document: JSONValue, id: DeviceID?, now: WallTime, isImported: Bool, _ findings: inout Findings
  ) -> DeviceReading? {
    if !isImported, document["registered_at"] != nil {
      findings.refuse(
        Place.root.member("registered_at"), .notAllowed,
        "the server sets `registered_at` at the registration: leave it out; only an import may give it")
    }
    let (document, schema) = isImported ? (document, Schema.importedDevice) : (withoutRegisteredAt(document), .device)
    guard let fields = Fields(document, at: .root, of: schema, &findings) else { return nil }
    let address = AddressReader.read(fields, &findings)
    let path = id
    let id = readID(fields, path: path, &findings)
    let placeholder = Address(provider: .apns, token: "")
    var device = Device(id: id ?? DeviceID(rawValue: ""), address: address ?? placeholder, registeredAt: now)
    device.platform = readPlatform(fields, &findings)
    device.appVersion = fields.text("app_version", .line(64), &findings)
    device.language = readLanguage(fields, &findings)
    device.timeZone = readZone(fields, &findings)
    if fields["user"] != .null { device.user = fields.text("user", .line(RecipientsReader.longestUser), &findings) }
    device.tags = TagReader.tags(fields, "tags", &findings) ?? []
    device.attributes = fields.members("attributes", .document, &findings) ?? []
    DataReader.checkFlat(
      device.attributes, at: fields.place.member("attributes"), maximum: maximumAttributes,
      longestValue: longestAttribute, &findings)
    let enabled = isImported ? readImportedState(fields, &findings) : fields.flag("enabled", &findings)
    device.enabled = enabled ?? true
    device.activityID = fields.text("activity_id", .line(RecipientsReader.longestActivity), &findings)
    device.permissions = readPermissions(fields, &findings)
    device.lastSeen = readLastSeen(fields, now: now, &findings)
    device.registeredAt = readRegisteredAt(fields, now: now, &findings) ?? now
    let installation = readInstallation(fields, path: path, &findings)
    guard address != nil else { return nil }
    var given = Set(fields.names)
    if enabled != nil { given.insert("enabled") }
    return DeviceReading(device: device, given: given, installation: installation, warnings: [])
  }

  private static func withoutRegisteredAt(_ document: JSONValue) -> JSONValue {
    guard case .object(let members) = document, members.contains(where: { $0.key == "registered_at" }) else {
      return document
    }
    return .object(members.filter { $0.key != "registered_at" })
  }

  /// True of a line that an export wrote of a device that gets nothing any more: an import passes over it.
  package static func isDead(_ document: JSONValue) -> Bool {
    document["status"] == .string("dead") || document["tombstone"]?.object != nil
  }

  /// `enabled`, which an export tells as `status` as well; nil: neither is given.
  private static func readImportedState(_ fields: Fields, _ findings: inout Findings) -> Bool? {
    if let tags = fields["user_tags"], tags != .array([]) {
      findings.warn(
        fields.place.member("user_tags"), "ignored",
        "the tags of a user are not imported with a device: set them with PUT /v1/users/{user}/tags")
    }
    var enabled: Bool?
    if case .string? = fields["enabled"] {
      findings.refuse(
        fields.place.member("enabled"), .wrongType,
        "must be true or false; in a table also yes or no, y or n, 1 or 0, in any letter case")
    } else {
      enabled = fields.flag("enabled", &findings)
    }
    guard let status = fields.text("status", .line(64), &findings) else { return enabled }
    guard let told = ["active": true, "disabled": false][status] else {
      findings.refuse(
        fields.place.member("status"), .unknownValue,
        "`status` must be active, disabled or dead, as an export writes it")
      return enabled
    }
    guard (enabled ?? told) == told else {
      findings.refuse(
        fields.place.member("status"), .notAllowed,
        "`status` is `\(status)`, and `enabled` says otherwise: leave out `status`, which only repeats `enabled`")
      return nil
    }
    return told
  }

  private static func readID(_ fields: Fields, path: DeviceID?, _ findings: inout Findings) -> DeviceID? {
    if let path, let fault = TextRule.identifier(RecipientsReader.longestDeviceID).fault(in: path.rawValue) {
      findings.refuse(.root, fault.code, "the device id in the path \(fault.detail)")
    }
    let body = fields.text("id", .identifier(RecipientsReader.longestDeviceID), &findings).map(DeviceID.init(rawValue:))
    if let body, reservedIDs.contains(body.rawValue) {
      findings.refuse(
        fields.place.member("id"), .notAllowed,
        "`\(body.rawValue)` is a word of the API's paths and cannot be an id: choose another")
    }
    if let path, let body, path != body {
      findings.refuse(fields.place.member("id"), .notAllowed, "differs from the id in the path: leave it out")
    }
    return path ?? body
  }

  /// What a path of the API says something else by, or what is no path at all.
  package static let reservedIDs: Set<String> = ["bulk", "export", "count", ".", ".."]

  /// True if a device may be called so; what a path names otherwise does not exist.
  package static func isDeviceID(_ text: String) -> Bool {
    TextRule.identifier(RecipientsReader.longestDeviceID).fault(in: text) == nil
  }
  /// True if a user may be called so.
  package static func isUser(_ text: String) -> Bool {
    TextRule.line(RecipientsReader.longestUser).fault(in: text) == nil
  }

  private static func readPlatform(_ fields: Fields, _ findings: inout Findings) -> String? {
    guard let platform = fields.text("platform", .identifier(32), &findings) else { return nil }
    let plain = platform.lowercased()
    guard plain.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }) else {
      findings.refuse(
        fields.place.member("platform"), .invalidFormat,
        "a platform is one word of letters, digits and `_`, such as ios or android")
      return nil
    }
    if let doubt = KnownPlatforms.doubt(of: platform) {
      findings.warn(fields.place.member("platform"), "unknown_platform", doubt)
    }
    return plain
  }

  private static func readLanguage(_ fields: Fields, _ findings: inout Findings) -> String? {
    guard let language = fields.text("language", .line(64), &findings) else { return nil }
    if let fault = LanguageTag.fault(in: language) {
      findings.refuse(fields.place.member("language"), .invalidFormat, fault)
      return nil
    }
    if let doubt = KnownLanguages.doubt(of: language) {
      findings.warn(fields.place.member("language"), "unknown_language", doubt)
    }
    return language
  }

  /// `authorization`: one word, or a list of them.
  private static func readPermissions(_ fields: Fields, _ findings: inout Findings) -> Permissions {
    let name = "authorization"
    let words = Permission.allCases.map(\.rawValue)
    var permissions = Permissions()
    func take(_ value: JSONValue, at place: Place, _ findings: inout Findings) {
      guard case .string(let text) = value else {
        findings.refuse(place, .wrongType, "must be a word such as `provisional`, not \(value.article)")
        return
      }
      guard let permission = Permission(rawValue: text) else {
        let near = findings.faults.suggestion { Suggestion.nearest(to: text, among: words) }
        let hint = near.map { "; did you mean `\($0)`?" } ?? ""
        findings.refuse(place, .unknownValue, "is one of \(words.joined(separator: ", "))\(hint)")
        return
      }
      if permission.isStatus, permissions.hasStatus, !permissions.contains(permission) {
        findings.refuse(place, .notAllowed, "a device has one status: give the one that the system reports now")
      }
      permissions.insert(permission)
    }
    if case .string? = fields[name], let value = fields[name] {
      take(value, at: fields.place.member(name), &findings)
    } else {
      for (index, item) in (fields.items(name, maximum: 16, &findings) ?? []).enumerated() {
        take(item, at: fields.place.member(name).element(index), &findings)
      }
    }
    return permissions
  }

  private static func readInstallation(_ fields: Fields, path: DeviceID?, _ findings: inout Findings) -> InstallationID?
  {
    let name = "installation"
    guard let text = fields.text(name, .identifier(InstallationID.longest), &findings) else { return nil }
    let place = fields.place.member(name)
    guard let installation = InstallationID(text) else {
      findings.refuse(
        place, .invalidFormat,
        "is easy to guess: let the app create it at random, with at least \(InstallationID.shortest) characters, and "
          + "keep it"
      )
      return nil
    }
    if path != nil || fields.has("id") {
      findings.refuse(place, .notAllowed, "replaces the id: give only one of the two")
    }
    return installation
  }

  private static func readZone(_ fields: Fields, _ findings: inout Findings) -> String? {
    guard let zone = fields.text("tz", .line(64), &findings) else { return nil }
    guard ZoneName.exists(zone) else {
      let hint = findings.faults.suggestion { ZoneName.nearest(to: zone) }.map { "; did you mean `\($0)`?" } ?? ""
      findings.refuse(
        fields.place.member("tz"), .unknownValue, "`tz` must be an IANA zone such as Europe/Vienna, or UTC\(hint)")
      return nil
    }
    return zone
  }

  /// A clock that runs ahead must not keep a device young for ever.
  private static func readLastSeen(_ fields: Fields, now: WallTime, _ findings: inout Findings) -> WallTime? {
    guard let time = readTime(fields, "last_seen_at", &findings) else { return nil }
    if time > now {
      findings.warn(
        fields.place.member("last_seen_at"), "clock_ahead", "is in the future; the time of this request was stored")
      return now
    }
    return time
  }

  /// One in the future would keep its token from ever being pruned by a 410.
  private static func readRegisteredAt(_ fields: Fields, now: WallTime, _ findings: inout Findings) -> WallTime? {
    guard let time = readTime(fields, "registered_at", &findings) else { return nil }
    if time > now {
      findings.refuse(
        fields.place.member("registered_at"), .notAllowed,
        "`registered_at` is in the future (it is now \(now.rfc3339)): leave it out if it is unknown")
    }
    return time
  }

  private static func readTime(_ fields: Fields, _ name: String, _ findings: inout Findings) -> WallTime? {
    guard let text = fields.text(name, .line(64), &findings) else { return nil }
    guard let time = WallTime(rfc3339: text) else {
      findings.refuse(
        fields.place.member(name), .invalidFormat,
        WallTime.calendarFault(in: text) ?? "`\(name)` needs \(TimeAdvice.absolute(text))")
      return nil
    }
    return time
  }
}

/// A valid device, and what the request said beside it.
package struct DeviceReading: Sendable {
  package var device: Device
  /// The names of the members that the request had: what it left out may be kept from an earlier registration.
  package var given: Set<String>
  /// In place of an id.
  package var installation: InstallationID?
  package var warnings: [Warning]

  /// The same, where known attributes stay that the request does not name, as far as there is room.
  package func mergedByAttribute(into known: Device) -> Device {
    var device = merged(into: known)
    guard given.contains("attributes") else { return device }
    let names = Set(device.attributes.map(\.key))
    let others = known.attributes.filter { !names.contains($0.key) }
    device.attributes += others.prefix(max(0, DeviceReader.maximumAttributes - device.attributes.count))
    return device
  }

  /// The device as the request has it, which stays disabled if it is and the request does not say: whoever switched it
  /// off knew more than a registration that has no word about it.
  package func keepingDisabled(_ known: Device) -> Device {
    var device = self.device
    if !given.contains("enabled") { device.enabled = known.enabled }
    return device
  }

  /// The device, with what the request left out as it is known.
  package func merged(into known: Device) -> Device {
    var device = self.device
    if !given.contains("user") { device.user = known.user }
    if !given.contains("tags") { device.tags = known.tags }
    if !given.contains("enabled") { device.enabled = known.enabled }
    if !given.contains("attributes") { device.attributes = known.attributes }
    if !given.contains("platform") { device.platform = known.platform }
    if !given.contains("app_version") { device.appVersion = known.appVersion }
    if !given.contains("language") { device.language = known.language }
    if !given.contains("tz") { device.timeZone = known.timeZone }
    if !given.contains("live_activity_token") { device.liveActivityToken = known.liveActivityToken }
    if !given.contains("activity_id") { device.activityID = known.activityID }
    if !given.contains("authorization") { device.permissions = known.permissions }
    if !given.contains("last_seen_at") { device.lastSeen = known.lastSeen }
    return device
  }
}
