import Domain

/// Reads what a person sees or hears.
enum NotificationReader {
  private static let maximumButtons = 3
  /// Of more, nothing is read.
  private static let mostReadButtons = 16
  private static let maximumArguments = 32

  /// `notification`: nil until now; it stays nil if the message has none that is an object. A notification is large: it
  /// is filled where it stays.
  static func read(_ message: Fields, into notification: inout Notification?, _ findings: inout Findings) {
    guard let fields = message.object("notification", of: .notification, &findings) else { return }
    notification = Notification()
    read(fields, into: &notification!, &findings)
  }

  private static func read(_ fields: Fields, into notification: inout Notification, _ findings: inout Findings) {
    var texts = TextReader()
    texts.read("title", fields, into: &notification.title, &findings)
    texts.read("subtitle", fields, into: &notification.subtitle, &findings)
    texts.read("body", fields, into: &notification.body, &findings)
    if fields.has("image") { notification.image = LinkReader.webURL("image", fields, &findings) }
    if fields.has("link") { notification.link = LinkReader.link("link", fields, &findings) }
    fields.read("category", .line(256), into: &notification.category, &findings)
    fields.read("thread_id", .line(256), into: &notification.threadID, &findings)
    notification.badge = fields.integer("badge", in: 0...Int64(Int32.max), &findings).map(Int.init)
    if fields.has("sound") { notification.sound = readSound(fields, &findings) }
    notification.interruptionLevel = fields.choice("interruption_level", InterruptionLevel.self, &findings)
    notification.relevanceScore = fields.number("relevance_score", in: 0...1, &findings)
    fields.read("title_key", .line(256), into: &notification.titleKey, &findings)
    readArguments("title_args", of: "title_key", fields, into: &notification.titleArgs, &texts, &findings)
    fields.read("subtitle_key", .line(256), into: &notification.subtitleKey, &findings)
    readArguments("subtitle_args", of: "subtitle_key", fields, into: &notification.subtitleArgs, &texts, &findings)
    fields.read("body_key", .line(256), into: &notification.bodyKey, &findings)
    readArguments("body_args", of: "body_key", fields, into: &notification.bodyArgs, &texts, &findings)
    fields.read("launch_image", .line(256), into: &notification.launchImage, &findings)
    fields.read("target_content_id", .line(256), into: &notification.targetContentID, &findings)
    fields.read("filter_criteria", .line(256), into: &notification.filterCriteria, &findings)
    PlatformLookReader.android(fields, into: &notification, &findings)
    if fields.has("web") { notification.web = PlatformLookReader.web(fields, &findings) }
    fields.read("icon", .line(2_048), into: &notification.icon, &findings)
    if fields.has("color") { notification.color = readColor(fields, &findings) }
    if fields.has("buttons") { notification.buttons = readButtons(fields, &findings) }
    LanguageReader.read(fields, into: &notification, &texts, &findings)
    if texts.hasPlaceholders { PlaceholderRules.checkCount(notification, fields.place, &findings) }
  }

  private static func readSound(_ fields: Fields, _ findings: inout Findings) -> Sound? {
    guard case .object = fields["sound"] else {
      if let value = fields["sound"], value.string == nil, value != .null {
        findings.refuse(
          fields.place.member("sound"), .wrongType,
          "must be a string or an object\(FieldHint.example(of: "sound")), not \(value.article)")
        return nil
      }
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

  /// `title_args` of `title_key`, and so on: what stands in texts that the app itself translates.
  private static func readArguments(
    _ name: String, of key: String, _ fields: Fields, into arguments: inout [String], _ texts: inout TextReader,
    _ findings: inout Findings
  ) {
    guard fields.has(name) else { return }
    arguments = fields.texts(name, maximum: maximumArguments, .prose, &findings) ?? []
    if !fields.has(key) {
      findings.refuse(fields.place.member(name), .required, "`\(name)` needs `\(key)`")
    }
    for (index, text) in arguments.enumerated() {
      texts.check(text, at: fields.place.member(name).element(index), &findings)
    }
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
    guard let items = fields.items("buttons", maximum: mostReadButtons, &findings) else { return [] }
    if items.count > maximumButtons {
      findings.refuse(
        fields.place.member("buttons"), .tooMany,
        "`buttons` has \(items.count) entries; the limit is \(maximumButtons): leave some out")
    }
    var buttons: [Button] = []
    for (index, item) in items.enumerated() {
      let place = fields.place.member("buttons").element(index)
      guard let button = Fields(item, at: place, of: .button, &findings) else { continue }
      button.require("id", "a button needs `id`", &findings)
      button.require("text", "a button needs `text`", &findings)
      let id = button.text("id", .line(64), &findings)
      let label = button.text("text", .line(128), &findings)
      let icon = button.text("icon", .line(2_048), &findings)
      let url = LinkReader.link("url", button, &findings)
      if let label { PlaceholderRules.refuse(in: label, at: place.member("text"), &findings) }
      guard let id, let label else { continue }
      if buttons.contains(where: { $0.id == id }) {
        findings.refuse(place.member("id"), .duplicate, "another button has this id: give each button its own id")
      }
      buttons.append(Button(id: id, text: label, icon: icon, url: url))
    }
    return buttons
  }
}
