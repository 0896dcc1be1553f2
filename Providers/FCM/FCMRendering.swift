import Domain
import JSON

/// protocols/fcm.md section 3: a message as FCM's own, but for its target.
extension FCMAccount {
  static let payloadLimit = 4096
  static let encryptedBodyKey = "encrypted_body"
  /// A key of `data` that FCM overwrites.
  static let collapseKey = "collapse_key"

  func render(_ message: Message, startedAt: WallTime) throws(RenderFault) -> Rendering {
    var warnings: [RenderWarning] = []
    var faults = RenderFaults()
    var head = Array("{\"message\":{".utf8)
    var members: [JSONMember]
    switch message.kind {
    case .alert, .background, .voip: members = everywhere(message, startedAt, &warnings, &faults)
    case .liveActivity:
      guard let activity = message.liveActivity else { throw .kindNotSupported(message.kind, provider: .fcm) }
      let apns = Self.merged(
        AppleActivity.members(message, activity, startedAt, &warnings), message.overrides.fcmAPNs, "apns", &faults)
      // Open at its end: the activity's token closes it.
      head += Array("\"apns\":".utf8) + JSONValue.object(apns).encoded.dropLast()
      if !apns.isEmpty { head.append(UInt8(ascii: ",")) }
      members = []
      members.set("android", members: message.overrides.fcmAndroid)
      members.set("webpush", members: Self.merged([], message.overrides.fcmWebpush, "webpush", &faults))
    default: throw .kindNotSupported(message.kind, provider: .fcm)
    }
    if let label = message.analyticsLabel ?? analyticsLabel {
      members.set("fcm_options", members: [JSONMember("analytics_label", .string(label))])
    }

    var tail = JSONValue.object(members).encoded
    if members.isEmpty { tail.removeFirst() } else { tail[0] = UInt8(ascii: ",") }  // in place of the opening brace
    if message.overrides.fcmValidateOnly {
      tail += Array(",\"validate_only\":true".utf8)
      warnings.append(
        RenderWarning("/overrides/fcm/validate_only", "fcm: checked by FCM and counted as accepted, but not delivered"))
    }
    tail.append(UInt8(ascii: "}"))
    let bytes = head.count + tail.count
    if bytes > Self.payloadLimit {
      faults.add(.tooLarge("the message", provider: .fcm, bytes: bytes, limit: Self.payloadLimit))
    }
    try faults.refuse()
    let headers = [Header("content-type", "application/json"), Header("x-goog-api-format-version", "2")]
    var rendering = Rendering(
      path: "/v1/projects/\(project)/messages:send", headers: headers, head: head, tail: tail,
      limit: Self.payloadLimit, warnings: warnings)
    rendering.needsLiveActivityToken = message.kind == .liveActivity
    return rendering
  }

  /// What goes to Android, Apple and the web alike.
  private func everywhere(
    _ message: Message, _ startedAt: WallTime, _ warnings: inout [RenderWarning], _ faults: inout RenderFaults
  ) -> [JSONMember] {
    let notification = message.kind == .alert ? message.notification : nil
    if message.kind == .background, message.notification != nil {
      warnings.append(RenderWarning("/notification", "fcm: a background message shows nothing", isLeftOut: true))
    }
    var members: [JSONMember] = []
    members.set("notification", members: Self.common(notification))
    members.set("data", members: data(message, notification, &warnings, &faults))
    members.set(
      "android",
      members: Self.merged(
        AndroidBlock.members(message, notification), message.overrides.fcmAndroid, "android", &faults))
    members.set(
      "apns",
      members: Self.merged(
        AppleBlock.members(message, notification, startedAt, &warnings), message.overrides.fcmAPNs, "apns", &faults))
    members.set(
      "webpush",
      members: Self.merged(
        WebBlock.members(message, notification), message.overrides.fcmWebpush, "webpush", &faults))
    if let notification { FCMWarnings.add(message, notification, to: &warnings) }
    FCMWarnings.addAppleLimits(message, to: &warnings)
    FCMWarnings.addCrowdedTime(message, to: &warnings)
    return members
  }

  private static func common(_ notification: Notification?) -> [JSONMember] {
    guard let notification else { return [] }
    var members: [JSONMember] = []
    members.set("title", notification.title)
    members.set("body", notification.body)
    members.set("image", notification.image)
    return members
  }

  /// Values are strings: anything else travels as its JSON text.
  private func data(
    _ message: Message, _ notification: Notification?, _ warnings: inout [RenderWarning], _ faults: inout RenderFaults
  ) -> [JSONMember] {
    var members: [JSONMember] = []
    members.reserveCapacity(message.data.count + 1)
    for member in message.data {
      let pointer = "/data/\(member.key.pointerStep)"
      if Self.isReserved(member.key) {
        faults.add(
          RenderFault(pointer: pointer, code: "reserved_key", detail: "fcm: this key belongs to FCM; rename it"))
      }
      if member.key == Self.collapseKey {
        warnings.append(RenderWarning(pointer, "fcm: FCM overwrites this key"))
      }
      if case .string = member.value {
        members.append(member)
      } else {
        members.append(JSONMember(member.key, .string(String(decoding: member.value.encoded, as: UTF8.self))))
        warnings.append(RenderWarning(pointer, "fcm: \(member.value.article) is sent as its JSON text"))
      }
    }
    if message.kind == .alert { members.set(Self.encryptedBodyKey, message.encryptedBody) }
    let buttons = notification?.buttonData.map { String(decoding: $0.encoded, as: UTF8.self) }
    Self.add(dataKeys.link, notification?.link, "/notification/link", to: &members, &warnings)
    Self.add(dataKeys.buttons, buttons, "/notification/buttons", to: &members, &warnings)
    return members
  }

  private static func add(
    _ key: String, _ text: String?, _ pointer: String, to members: inout [JSONMember],
    _ warnings: inout [RenderWarning]
  ) {
    guard let text else { return }
    if members[key] == nil {
      members.append(JSONMember(key, .string(text)))
    } else {
      warnings.append(RenderWarning(pointer, "fcm: data has \(key) already, which is kept", isLeftOut: true))
    }
  }

  static func isReserved(_ key: String) -> Bool {
    key == "from" || key == "message_type" || key == "gcm" || key.hasPrefix("google")
      || key.hasPrefix("gcm.notification.")
  }

  /// Overrides last, deeply; header maps in them must hold nothing that breaks a header.
  private static func merged(
    _ members: [JSONMember], _ overrides: [JSONMember], _ block: String, _ faults: inout RenderFaults
  ) -> [JSONMember] {
    var members = members
    if block == "apns", overrides[AppleActivity.tokenKey] != nil {
      faults.add(
        RenderFault(
          pointer: "/overrides/fcm/apns/\(AppleActivity.tokenKey)", code: "override_reserved",
          detail: "fcm: the activity's token comes from the device or the target: give it there"))
    }
    members.merge(overrides)
    if block == "android" { return members }
    for header in overrides["headers"]?.object ?? [] {
      if case .null = header.value { continue }
      guard let value = header.value.string, Header.isSafeName(header.key.lowercased()), Header.isSafeValue(value)
      else {
        faults.add(
          RenderFault(
            pointer: "/overrides/fcm/\(block)/headers/\(header.key.pointerStep)", code: "header_invalid",
            detail: "fcm: a header is a plain name with a string of printable ASCII, without line breaks"))
        continue
      }
    }
    return members
  }
}
