import Domain

/// What the parts of a notification ask of each other.
enum NotificationRules {
  /// What a Live Activity says when it changes; all else is for alerts.
  private static let saidOfActivities: Set<String> = [
    "title", "body", "sound", "title_key", "title_args", "body_key", "body_args", "localized",
  ]

  static func check(_ message: Message.Fields, _ fields: Fields, _ findings: inout Findings) {
    switch message.kind {
    case .alert: checkAlert(message, fields, &findings)
    case .liveActivity: checkActivity(message, fields, &findings)
    default: break
    }
  }

  private static func checkAlert(_ message: Message.Fields, _ fields: Fields, _ findings: inout Findings) {
    let place = fields.place
    guard let notification = message.notification else {
      let hint = fields.has("data") ? "; to wake the app with `data` alone, use kind `background`" : ""
      fields.require(
        "notification", "an alert needs `notification` with a text, a sound or a badge\(hint)", &findings)
      return
    }
    let hasText = notification.hasText
    if !hasText, notification.sound == nil, notification.badge == nil,
      !findings.violations.contains(where: { $0.pointer.hasPrefix("/notification") })
    {
      return findings.refuse(
        place.member("notification"), .required,
        "an alert needs a text (`title`, `body`, `title_key` …), a `sound` or a `badge`; for a silent push use kind "
          + "`background`")
    }
    if message.mutableContent == true, !hasText {
      findings.refuse(
        place.member("mutable_content"), .notAllowed,
        "needs a `title`, `subtitle` or `body` that the service extension can change")
    }
    if notification.interruptionLevel == .critical, notification.sound?.critical != true {
      findings.refuse(
        place.member("notification").member("interruption_level"), .notAllowed,
        #"`critical` needs a critical sound: "sound": {"name": "default", "critical": true}"#)
    }
    checkEncryptedBody(message, notification, fields, &findings)
  }

  private static func checkEncryptedBody(
    _ message: Message.Fields, _ notification: Notification, _ fields: Fields, _ findings: inout Findings
  ) {
    guard message.encryptedBody != nil else { return }
    let place = fields.place.member("encrypted_body")
    if !notification.hasText {
      findings.refuse(
        place, .notAllowed, "needs a `title` or `body` to show if the service extension does not run in time")
    }
    if message.mutableContent == false {
      findings.refuse(
        fields.place.member("mutable_content"), .notAllowed,
        "an `encrypted_body` needs the service extension: leave it out")
    }
    if message.data.contains(where: { $0.key == "encrypted_body" }) {
      findings.refuse(
        fields.place.member("data").member("encrypted_body"), .duplicate,
        "`encrypted_body` uses this key of `data`: give only one of the two")
    }
  }

  private static func checkActivity(_ message: Message.Fields, _ fields: Fields, _ findings: inout Findings) {
    let place = fields.place.member("notification")
    if let members = fields["notification"]?.object {
      for member in members where Schema.notification.has(member.key) && !saidOfActivities.contains(member.key) {
        let hint = member.key == "relevance_score" ? "give it in `live_activity`" : "it is for kind `alert`"
        findings.refuse(
          place.member(member.key), .notAllowed,
          "a Live Activity's notification has only a title, a body and a sound: \(hint)")
      }
    }
    for entry in message.notification?.localized ?? [] where entry.subtitle != nil {
      findings.refuse(
        place.member("localized").member(entry.language).member("subtitle"), .notAllowed,
        "a Live Activity's notification has only a title, a body and a sound: it is for kind `alert`")
    }
    if message.notification?.sound?.critical == true {
      findings.refuse(
        place.member("sound").member("critical"), .notAllowed, "a Live Activity has no critical sound: leave it out")
    }
    if message.liveActivity?.event == .start, message.notification?.hasText != true,
      !findings.violations.contains(where: { $0.pointer.hasPrefix("/notification") })
    {
      findings.refuse(
        place, .required, "the start of a Live Activity needs `notification` with a `title` and a `body`")
    }
  }
}

extension Notification {
  /// True if there is something to read.
  fileprivate var hasText: Bool {
    if titleKey != nil || subtitleKey != nil || bodyKey != nil { return true }
    if title?.isEmpty == false || subtitle?.isEmpty == false || body?.isEmpty == false { return true }
    return localized.contains {
      $0.title?.isEmpty == false || $0.subtitle?.isEmpty == false || $0.body?.isEmpty == false
    }
  }
}
