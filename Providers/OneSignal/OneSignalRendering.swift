import Domain
import JSON

/// protocols/onesignal.md section 2: the members of the body that all slices share.
extension OneSignalAccount {
  static let dataLimit = 2_048
  static let collapseIDLimit = 64

  static let createPath = "/notifications"
  static let encryptedBodyKey = "encrypted_body"

  func render(_ message: Message, startedAt: WallTime) throws(RenderFault) -> Rendering {
    switch message.kind {
    case .alert, .background, .voip: return try renderNotification(message)
    case .liveActivity:
      guard let activity = message.liveActivity else { throw .kindNotSupported(message.kind, provider: .oneSignal) }
      return try renderActivity(message, activity)
    default: throw .kindNotSupported(message.kind, provider: .oneSignal)
    }
  }

  private func renderNotification(_ message: Message) throws(RenderFault) -> Rendering {
    var warnings: [RenderWarning] = []
    var members = [JSONMember("app_id", .string(appID.description))]
    members.set("name", message.analyticsLabel)
    if message.kind != .background, let notification = message.notification {
      OneSignalTexts(notification, &warnings).write(to: &members)
      OneSignalLook.write(notification, to: &members, &warnings)
    } else if message.notification != nil {
      warnings.append(RenderWarning("/notification", "onesignal: a background message shows nothing", isLeftOut: true))
    }
    if message.kind == .voip { members.set("apns_push_type_override", "voip") }
    // Without texts it is a data push.
    let isSilent = message.kind == .background || (message.kind == .voip && members["contents"] == nil)
    if isSilent || message.contentAvailable { members.set("content_available", .bool(true)) }
    if message.mutableContent == false {
      warnings.append(RenderWarning("/mutable_content", "onesignal: always on for Apple devices", isLeftOut: true))
    }
    var faults = RenderFaults()
    faults.check { () throws(RenderFault) in try Self.writeData(message, to: &members) }
    faults.check { () throws(RenderFault) in try Self.delivery(message, &members) }
    merge(message.overrides.oneSignal, into: &members, &faults)
    faults.check { () throws(RenderFault) in try Self.checkText(members) }
    try faults.refuse()
    var rendering = Self.rendering(Self.createPath, members, isOpen: true, warnings)
    rendering.dataLeft = Self.dataLimit - (members["data"]?.encoded.count ?? 0)
    return rendering
  }

  /// `isOpen`: targets and key follow.
  static func rendering(_ path: String, _ members: [JSONMember], isOpen: Bool, _ warnings: [RenderWarning])
    -> Rendering
  {
    let body = JSONValue.object(members).encoded
    return Rendering(
      path: path, headers: [Header("content-type", "application/json; charset=utf-8")],
      head: isOpen ? Array(body.dropLast()) + [UInt8(ascii: ",")] : body, tail: isOpen ? [UInt8(ascii: "}")] : [],
      warnings: warnings)
  }

  private static func writeData(_ message: Message, to members: inout [JSONMember]) throws(RenderFault) {
    var data = message.data
    if message.kind == .alert { data.set(encryptedBodyKey, message.encryptedBody) }
    guard !data.isEmpty else { return }
    let bytes = JSONValue.object(data).encoded.count
    guard bytes <= Self.dataLimit else {
      throw .tooLarge("data", provider: .oneSignal, bytes: bytes, limit: Self.dataLimit, pointer: "/data")
    }
    members.set("data", .object(data))
  }

  private static func delivery(_ message: Message, _ members: inout [JSONMember]) throws(RenderFault) {
    members.set("priority", message.effectivePriority == .high ? 10 : 5)
    members.set("ttl", message.ttl)
    guard let key = message.collapseKey else { return }
    guard key.count <= collapseIDLimit else {
      throw RenderFault(
        pointer: "/collapse_key", code: "collapse_key_too_long",
        detail: "onesignal: a collapse id has at most \(collapseIDLimit) characters, this one has \(key.count)")
    }
    members.set("collapse_id", key)
    // The same for browsers, where it is bounded as their push services have it.
    if message.kind == .alert, members["web_push_topic"] == nil, WebTopic.isValid(key) {
      members.set("web_push_topic", key)
    }
  }

  /// What decides who receives and how often: an override must not widen a send.
  private static let reserved: Set<String> = [
    "app_id", "app_ids", "target_channel", "idempotency_key", "external_id", "filters", "excluded_segments",
    "included_segments", "email_to", "channel_for_external_user_ids", "event", "activity_id",
  ]

  func merge(_ overrides: [JSONMember], into members: inout [JSONMember], _ faults: inout RenderFaults) {
    for member in overrides where Self.reserved.contains(member.key) || member.key.hasPrefix("include_") {
      faults.add(
        RenderFault(
          pointer: "/overrides/onesignal/\(member.key.pointerStep)", code: "override_reserved",
          detail: "onesignal: targets and keys are set by Fanfare alone"))
    }
    members.merge(overrides)
  }

  private static func checkText(_ members: [JSONMember]) throws(RenderFault) {
    if members["content_available"]?.bool == true || members["template_id"] != nil { return }
    guard members["contents"]?["en"]?.string?.isEmpty == false else {
      throw .textRequired("an alert needs a text")
    }
  }
}

extension RenderFault {
  static func textRequired(_ problem: String) -> Self {
    Self(
      pointer: "/notification/body", code: textRequiredCode,
      detail: "onesignal: \(problem): set notification.body, title or localized.en")
  }
}
