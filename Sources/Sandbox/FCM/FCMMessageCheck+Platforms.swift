import Domain
import JSON

/// The blocks for web browsers and Apple devices, by their shape.
extension FCMMessageCheck {
  mutating func checkWebpush(_ webpush: JSONValue?) {
    checkLabel(webpush?["fcm_options"], "message.webpush.fcm_options")
    if let link = webpush?["fcm_options"]?["link"]?.string, !link.hasPrefix("https://") {
      add("message.webpush.fcm_options.link", "must be an https URL")
    }
    for header in webpush?["headers"]?.object ?? [] {
      let value = header.value.string ?? ""
      let right =
        switch header.key.lowercased() {
        case "ttl": !value.isEmpty && value.utf8.allSatisfy { (0x30...0x39).contains($0) }
        case "urgency": ["very-low", "low", "normal", "high"].contains(value)
        case "topic": (1...32).contains(value.utf8.count) && FCMCondition.isTopic(value)
        default: true
        }
      if !right { add("message.webpush.headers", "Invalid value of \(header.key): \(value)") }
    }
    checkWebNotification(webpush?["notification"])
  }

  private mutating func checkWebNotification(_ notification: JSONValue?) {
    let path = "message.webpush.notification"
    for name in ["title", "body", "icon", "image", "badge", "lang", "tag"] {
      if let value = notification?[name], value.string == nil { add("\(path).\(name)", "must be a string") }
    }
    for name in ["renotify", "requireInteraction", "silent"] {
      if let value = notification?[name], value.bool == nil { add("\(path).\(name)", "must be true or false") }
    }
    if let dir = notification?["dir"], !["auto", "ltr", "rtl"].contains(dir.string ?? "") {
      add("\(path).dir", "must be auto, ltr or rtl")
    }
    if let actions = notification?["actions"] {
      let right = actions.array?.allSatisfy { $0["action"]?.string != nil && $0["title"]?.string != nil } ?? false
      if !right { add("\(path).actions", "must be an array of objects with action and title") }
    }
  }

  // MARK: Apple

  private static let pushTypes: Set<String> = [
    "alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity", "pushtotalk",
    "widgets", "controls",
  ]

  mutating func checkAPNs(_ apns: JSONValue?) {
    guard let apns else { return }
    var headers: [String: String] = [:]
    for header in apns["headers"]?.object ?? [] { headers[header.key.lowercased()] = header.value.string ?? "" }
    func isWrong(_ name: String, _ right: (String) -> Bool) -> Bool { headers[name].map { !right($0) } ?? false }
    let wrong = [
      ("apns-priority", isWrong("apns-priority") { ["1", "5", "10"].contains($0) }),
      ("apns-push-type", isWrong("apns-push-type") { Self.pushTypes.contains($0) }),
      ("apns-expiration", isWrong("apns-expiration") { Int64($0).map { $0 >= 0 } ?? false }),
      ("apns-collapse-id", isWrong("apns-collapse-id") { $0.utf8.count <= 64 }),
      ("apns-id", isWrong("apns-id") { UUIDBytes($0) != nil }),
    ]
    for (name, isWrong) in wrong where isWrong {
      add("message.apns.headers", "Invalid value of \(name): \(headers[name] ?? "")")
    }
    if headers["apns-push-type"] == "background", headers["apns-priority"] ?? "10" != "5" {
      add("message.apns.headers", "A background push needs apns-priority 5.")
    }
    let aps = apns["payload"]?["aps"]
    if let aps, aps.object == nil { add("message.apns.payload.aps", "must be an object") }
    guard let token = apns["live_activity_token"]?.string else { return }
    if token.isEmpty { add("message.apns.live_activity_token", "must not be empty") }
    switch target {
    case .token, .fid, nil: break
    case .topic, .condition: add("message.apns.live_activity_token", "needs a token or fid as the target")
    }
    if aps?["timestamp"]?.integer == nil || !["start", "update", "end"].contains(aps?["event"]?.string ?? "") {
      add("message.apns.payload.aps", "A Live Activity needs timestamp and event.")
    }
  }
}
