import Domain

extension Intake {
  private static let maximumButtons = 3
  private static let maximumArguments = 32
  private static let maximumLanguages = 100

  static func readNotification(_ message: Fields, _ findings: inout Findings) -> Notification? {
    guard let fields = message.object("notification", of: .notification, &findings) else { return nil }
    var notification = Notification()
    notification.title = text("title", fields, &findings)
    notification.subtitle = text("subtitle", fields, &findings)
    notification.body = text("body", fields, &findings)
    notification.image = readURL("image", fields, &findings)
    notification.link = readLink("link", fields, &findings)
    notification.category = fields.text("category", .line(256), &findings)
    notification.threadID = fields.text("thread_id", .line(256), &findings)
    notification.badge = fields.integer("badge", in: 0...Int64(Int32.max), &findings).map(Int.init)
    notification.sound = readSound(fields, &findings)
    notification.interruptionLevel = fields.choice("interruption_level", InterruptionLevel.self, &findings)
    notification.relevanceScore = fields.number("relevance_score", in: 0...1, &findings)
    (notification.titleKey, notification.titleArgs) = readKey("title_key", "title_args", fields, &findings)
    (notification.subtitleKey, notification.subtitleArgs) = readKey("subtitle_key", "subtitle_args", fields, &findings)
    (notification.bodyKey, notification.bodyArgs) = readKey("body_key", "body_args", fields, &findings)
    notification.launchImage = fields.text("launch_image", .line(256), &findings)
    notification.targetContentID = fields.text("target_content_id", .line(256), &findings)
    notification.filterCriteria = fields.text("filter_criteria", .line(256), &findings)
    readAndroid(fields, into: &notification, &findings)
    notification.web = readWeb(fields, &findings)
    notification.icon = fields.text("icon", .line(2_048), &findings)
    notification.color = readColor(fields, &findings)
    notification.buttons = readButtons(fields, &findings)
    notification.localized = readLocalized(fields, &findings)
    warnOfMixedLanguages(notification, fields.place.member("localized"), &findings)
    checkPlaceholderCount(notification, fields.place, &findings)
    return notification
  }

  /// An https URL with a host, without characters that would need escaping.
  static func readURL(_ name: String, _ fields: Fields, _ findings: inout Findings) -> String? {
    guard let text = fields.text(name, TextRule(alphabet: .line, maximum: 2_048), &findings) else { return nil }
    let place = fields.place.member(name)
    guard text.lowercased().hasPrefix("https://") else {
      findings.refuse(place, .invalidFormat, "`\(name)` must be an https URL")
      return nil
    }
    let host = text.utf8.dropFirst("https://".utf8.count).prefix { byte in
      byte != UInt8(ascii: "/") && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
    }
    guard !host.isEmpty, !text.utf8.contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: "\"") || $0 == 0x5c }) else {
      findings.refuse(place, .invalidFormat, "`\(name)` is not a URL: give a host, and escape spaces, quotes and `\\`")
      return nil
    }
    refusePlaceholders(in: text, at: place, &findings)
    return text
  }

  private static func readSound(_ fields: Fields, _ findings: inout Findings) -> Sound? {
    guard case .object = fields["sound"] else {
      return fields.text("sound", .line(256), &findings).map { Sound(name: $0) }
    }
    guard let sound = fields.object("sound", of: .sound, &findings) else { return nil }
    let critical = sound.flag("critical", &findings) ?? false
    let volume = sound.number("volume", in: 0...1, &findings)
    if volume != nil, !critical {
      findings.warn(sound.place.member("volume"), "ignored", "only critical alerts have a volume")
    }
    return Sound(
      name: sound.text("name", .line(256), &findings) ?? "default", critical: critical, volume: volume)
  }

  /// `title_key` with `title_args`, and so on: texts that the app itself translates.
  private static func readKey(
    _ name: String, _ arguments: String, _ fields: Fields, _ findings: inout Findings
  ) -> (String?, [String]) {
    let key = fields.text(name, .line(256), &findings)
    let texts = fields.texts(arguments, maximum: maximumArguments, .prose, &findings) ?? []
    if fields.has(arguments), !fields.has(name) {
      findings.refuse(fields.place.member(arguments), .required, "`\(arguments)` needs `\(name)`")
    }
    for (index, text) in texts.enumerated() {
      checkPlaceholders(in: text, at: fields.place.member(arguments).element(index), &findings)
    }
    return (key, texts)
  }

  private static func readColor(_ fields: Fields, _ findings: inout Findings) -> String? {
    guard let color = fields.text("color", .line(64), &findings) else { return nil }
    let bytes = Array(color.utf8)
    guard bytes.count == 7, bytes[0] == UInt8(ascii: "#"), bytes.dropFirst().allSatisfy({ $0.isHexDigit }) else {
      findings.refuse(fields.place.member("color"), .invalidFormat, "`color` must be #rrggbb, with six hex digits")
      return nil
    }
    return color
  }

  private static func readButtons(_ fields: Fields, _ findings: inout Findings) -> [Button] {
    guard let items = fields.items("buttons", maximum: maximumButtons, &findings) else { return [] }
    var buttons: [Button] = []
    for (index, item) in items.enumerated() {
      let place = fields.place.member("buttons").element(index)
      guard let button = Fields(item, at: place, of: .button, &findings) else { continue }
      for name in ["id", "text"] where !button.has(name) {
        findings.refuse(place.member(name), .required, "a button needs `\(name)`")
      }
      let id = button.text("id", .line(64), &findings)
      let label = button.text("text", .line(128), &findings)
      let icon = button.text("icon", .line(2_048), &findings)
      let url = readLink("url", button, &findings)
      if let label { refusePlaceholders(in: label, at: place.member("text"), &findings) }
      guard let id, let label else { continue }
      if buttons.contains(where: { $0.id == id }) {
        findings.refuse(place.member("id"), .duplicate, "another button has this id: give each button its own id")
      }
      buttons.append(Button(id: id, text: label, icon: icon, url: url))
    }
    return buttons
  }

  /// A text that a language leaves out is shown in the message's own: a German title above an English body.
  private static func warnOfMixedLanguages(
    _ notification: Notification, _ place: Place, _ findings: inout Findings
  ) {
    let entries = notification.localized
    let languages = entries.map(\.language)
    for entry in entries {
      let wider = LanguageMatch.matches(for: entry.language, among: languages).map { entries[$0] } + [entry]
      let missing = [
        ("title", notification.title, wider.contains { $0.title != nil }),
        ("subtitle", notification.subtitle, wider.contains { $0.subtitle != nil }),
        ("body", notification.body, wider.contains { $0.body != nil }),
      ].filter { $0.1 != nil && !$0.2 }.map { "`\($0.0)`" }
      guard !missing.isEmpty else { continue }
      findings.warn(
        place.member(entry.language), "partly_localized",
        "devices of this language get the message's own \(missing.joined(separator: " and ")): give it here too")
    }
  }

  /// Texts by language.
  private static func readLocalized(_ fields: Fields, _ findings: inout Findings) -> [LocalizedText] {
    guard let members = fields.members("localized", .document, &findings) else { return [] }
    let place = fields.place.member("localized")
    guard members.count <= maximumLanguages else {
      findings.refuse(place, .tooMany, "has \(members.count) languages; the limit is \(maximumLanguages)")
      return []
    }
    var texts: [LocalizedText] = []
    for member in members {
      let place = place.member(member.key)
      if !LanguageTag.isPlausible(member.key) {
        findings.refuse(place, .invalidFormat, LanguageTag.fault(member.key))
      }
      guard let entry = Fields(member.value, at: place, of: .localized, &findings) else { continue }
      texts.append(
        LocalizedText(
          language: member.key, title: text("title", entry, &findings), subtitle: text("subtitle", entry, &findings),
          body: text("body", entry, &findings)))
    }
    return texts
  }
}
