import Domain

/// Placeholders: `{{name|default}}` in the texts of a notification, nowhere else.
enum PlaceholderRules {
  private static let maximumPlaceholders = 32

  /// False: the text is what it reads. Almost no text has a brace at all, which is sooner found than two.
  static func mayApply(to text: String) -> Bool { text.holds(UInt8(ascii: "{")) && !TextTemplate.isPlain(text) }

  static func refuse(in text: String, at place: @autoclosure () -> Place, _ findings: inout Findings) {
    guard mayApply(to: text), let template = try? TextTemplate(parsing: text), !template.slots.isEmpty else {
      return
    }
    findings.refuse(
      place(), .notAllowed, "placeholders may be only in `title`, `subtitle`, `body`, their `_args` and `localized`")
  }

  static func checkCount(_ notification: Notification, _ place: Place, _ findings: inout Findings) {
    let count = MessageTexts.slots(of: notification).count
    guard count > maximumPlaceholders else { return }
    findings.refuse(
      place, .tooMany, "has \(count) different placeholders in its texts; the limit is \(maximumPlaceholders)")
  }

  /// Nobody here knows the attributes of those at whom a provider aims.
  static func checkDefaults(_ message: Message.Fields, _ fields: Fields, _ findings: inout Findings) {
    let aims: String
    if message.oneSignalTargeting == .provider {
      aims = "OneSignal selects the devices"
    } else if case .channel = message.to {
      aims = "a broadcast goes to every follower of the channel"
    } else {
      return
    }
    guard let notification = message.notification else { return }
    for slot in MessageTexts.slots(of: notification) where slot.fallback == nil {
      findings.refuse(
        fields.place.member("notification"), .notAllowed,
        "\(aims), so Fanfare knows no device's `\(slot.name)`: give a default: `{{\(slot.name)|…}}`")
    }
  }
}
