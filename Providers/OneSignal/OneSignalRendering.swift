import Domain
import JSON

/// Section 2: the members of the body that all slices share.
extension OneSignalAccount {
  static let dataLimit = 2_048
  static let collapseIDLimit = 64

  func render(_ message: Message, startedAt: WallTime) throws(RenderFault) -> Rendering {
    guard message.kind == .alert || message.kind == .background else {
      throw .kindNotSupported(message.kind, provider: .oneSignal)
    }
    var warnings: [RenderWarning] = []
    var members = [JSONMember("app_id", .string(appID.description))]
    if message.kind == .alert, let notification = message.notification {
      OneSignalTexts(notification, &warnings).write(to: &members)
      OneSignalLook.write(notification, to: &members, &warnings)
    } else if message.notification != nil {
      warnings.append(RenderWarning("/notification", "onesignal: a background message shows nothing"))
    }
    if message.kind == .background || message.contentAvailable { members.set("content_available", .bool(true)) }
    if message.mutableContent == false {
      warnings.append(RenderWarning("/mutable_content", "onesignal: always on for Apple devices"))
    }
    if !message.data.isEmpty {
      let data = JSONValue.object(message.data)
      let bytes = data.encoded.count
      guard bytes <= Self.dataLimit else {
        throw .tooLarge("data", provider: .oneSignal, bytes: bytes, limit: Self.dataLimit, pointer: "/data")
      }
      members.set("data", data)
    }
    try Self.delivery(message, &members)
    try merge(message.overrides.oneSignal, into: &members)
    try Self.checkText(members)

    // Open at its end: targets and key follow.
    let head = Array(JSONValue.object(members).encoded.dropLast()) + Array(",".utf8)
    return Rendering(
      path: "/notifications", headers: [Header("content-type", "application/json; charset=utf-8")], head: head,
      tail: Array("}".utf8), warnings: warnings)
  }

  private static func delivery(_ message: Message, _ members: inout [JSONMember]) throws(RenderFault) {
    let priority = message.priority ?? (message.kind == .alert ? .high : .normal)
    members.set("priority", priority == .high ? 10 : 5)
    members.set("ttl", message.ttl)
    guard let key = message.collapseKey else { return }
    guard key.count <= collapseIDLimit else {
      throw RenderFault(
        pointer: "/collapse_key", code: "collapse_key_too_long",
        detail: "onesignal: a collapse id has at most \(collapseIDLimit) characters, this one has \(key.count)")
    }
    members.set("collapse_id", key)
  }

  /// What decides who receives and how often: an override must not widen a send.
  private static let reserved: Set<String> = [
    "app_id", "app_ids", "target_channel", "idempotency_key", "external_id", "filters", "excluded_segments",
    "included_segments", "email_to", "channel_for_external_user_ids",
  ]

  private func merge(_ overrides: [JSONMember], into members: inout [JSONMember]) throws(RenderFault) {
    for member in overrides where Self.reserved.contains(member.key) || member.key.hasPrefix("include_") {
      throw RenderFault(
        pointer: "/overrides/onesignal/\(member.key.pointerStep)", code: "override_reserved",
        detail: "onesignal: targets and keys are set by Fanfare alone")
    }
    members.merge(overrides)
  }

  private static func checkText(_ members: [JSONMember]) throws(RenderFault) {
    if members["content_available"]?.bool == true || members["template_id"] != nil { return }
    guard members["contents"]?["en"]?.string?.isEmpty == false else {
      throw RenderFault(
        pointer: "/notification/body", code: "text_required",
        detail: "onesignal: an alert needs a text: set notification.body, title or localized.en")
    }
  }
}
