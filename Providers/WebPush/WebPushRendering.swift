import Domain
import JSON
import TLS

/// The text that a site's service worker gets, and that a browser with declarative Web Push shows by itself.
extension WebPushAccount {
  /// RFC 8030, section 5.4.
  /// By which a browser tells a declarative message from a site's own JSON.
  private static let declarative = 8_030

  func render(_ message: Message, startedAt: WallTime) throws(RenderFault) -> Rendering {
    var warnings: [RenderWarning] = []
    var members: [JSONMember] = []
    switch message.kind {
    case .alert: members = shown(message, &warnings)
    case .background:
      members.set("data", members: message.data)
      warnings.append(
        RenderWarning("/kind", "webpush: browsers show a notice of their own if the site shows nothing for a push"))
      if message.notification != nil {
        warnings.append(RenderWarning("/notification", "webpush: a background message shows nothing"))
      }
    default: throw .kindNotSupported(message.kind, provider: .webPush)
    }
    WebPushWarnings.add(message, to: &warnings)
    let text = JSONValue.object(members).encoded
    if text.count > MessageEncryption.textLimit {
      throw .tooLarge("the message", provider: .webPush, bytes: text.count, limit: MessageEncryption.textLimit)
    }
    return Rendering(
      path: "", headers: headers(message), head: text, limit: MessageEncryption.textLimit, warnings: warnings)
  }

  private func headers(_ message: Message) -> [Header] {
    var headers = [
      Header("content-type", "application/octet-stream"), Header("content-encoding", "aes128gcm"),
      Header("ttl", String(message.ttl)), Header("urgency", message.effectivePriority.rawValue),
    ]
    if let key = message.collapseKey { headers.append(Header("topic", Self.topic(of: key))) }
    return headers
  }

  /// Any other key than a topic's own form goes by its digest.
  private static func topic(of key: String) -> String {
    if WebTopic.isValid(key) { return key }
    return String(Base64URL.encode(Digest.sha256(Array(key.utf8))).prefix(WebTopic.limit))
  }

  private func shown(_ message: Message, _ warnings: inout [RenderWarning]) -> [JSONMember] {
    let notification = message.notification ?? Notification()
    let web = notification.web
    var look: [JSONMember] = []
    look.set("title", notification.title)
    look.set("body", notification.body)
    look.set("navigate", notification.link)
    look.set("image", notification.image)
    look.set("icon", web?.icon)
    look.set("badge", web?.badge)
    look.set("tag", web?.tag ?? message.collapseKey)
    look.set("requireInteraction", web?.requireInteraction.map(JSONValue.bool))
    look.set("silent", web?.silent.map(JSONValue.bool))
    let actions = notification.buttons.map { button in
      var action = [JSONMember("action", .string(button.id)), JSONMember("title", .string(button.text))]
      action.set("icon", button.icon)
      action.set("navigate", button.url ?? notification.link)
      return JSONValue.object(action)
    }
    if !actions.isEmpty { look.set("actions", .array(actions)) }
    look.set("data", members: message.data)

    var members: [JSONMember] = []
    // A declarative message without these is none.
    if notification.title != nil, notification.link != nil {
      members.set("web_push", .integer(Int64(Self.declarative)))
    }
    members.set("notification", .object(look))
    members.set("app_badge", notification.badge.map { .integer(Int64($0)) })
    members.set("encrypted_body", message.encryptedBody)
    // The service worker sees a declarative message only if asked to.
    if message.mutableContent ?? (message.encryptedBody != nil) { members.set("mutable", .bool(true)) }
    return members
  }
}
