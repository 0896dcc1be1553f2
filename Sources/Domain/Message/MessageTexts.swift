/// The texts of a message: in which language a device gets them, and what stands in their placeholders. Rendering starts
/// from here: a provider gets a message whose texts are as they are to be shown.
package struct MessageTexts: Sendable {
  /// Whose texts a device gets.
  package enum Choice: Hashable, Sendable {
    /// The message's own.
    case own
    /// Those of this entry of `localized`.
    case localized(Int)
    /// The device's language is not known here; a provider that knows it chooses among all.
    case providers
  }

  private let message: Message
  private let languages: [String]
  /// All placeholders of the message, each once.
  package let slots: [Placeholder]
  /// Everyone gets the same texts.
  package var isShared: Bool { !hasTemplates && languages.isEmpty }
  private let hasTemplates: Bool

  /// Reads all texts of the notification; done once per message.
  package init(_ message: Message) {
    self.message = message
    let notification = message.notification
    languages = notification?.localized.map(\.language) ?? []
    let templates = notification?.templates ?? []
    slots = Self.slots(in: templates)
    hasTemplates = !templates.isEmpty
  }

  /// All that a device can get from an account; `providerChooses`: it does, where nobody told us a device's language.
  package func choices(providerChooses: Bool) -> [Choice] {
    guard !languages.isEmpty else { return [.own] }
    return [providerChooses ? .providers : .own] + languages.indices.map { .localized($0) }
      + (providerChooses ? [.own] : [])
  }

  /// The device's best match among `localized`; its absence is `own`. `language`: a BCP 47 tag, nil where it is not
  /// known.
  package func choice(for language: String?, providerChooses: Bool) -> Choice {
    guard !languages.isEmpty else { return .own }
    guard let language else { return providerChooses ? .providers : .own }
    return LanguageMatch.matches(for: language, among: languages).first.map { .localized($0) } ?? .own
  }

  /// The placeholders of these texts, each once.
  package func slots(of choice: Choice) -> [Placeholder] {
    slots.isEmpty ? [] : Self.slots(in: chosen(choice).notification?.templates ?? [])
  }

  /// The placeholders of a notification's texts, each once.
  package static func slots(of notification: Notification) -> [Placeholder] { slots(in: notification.templates) }

  private static func slots(in templates: [String]) -> [Placeholder] {
    var slots: [Placeholder] = []
    for text in templates {
      for slot in template(text)?.slots ?? [] where !slots.contains(slot) { slots.append(slot) }
    }
    return slots
  }

  /// JSON pointer of the first text that has this placeholder; nil: none has.
  package func pointer(of slot: Placeholder) -> String? {
    guard let notification = message.notification else { return nil }
    func holds(_ text: String?) -> Bool { text.flatMap(Self.template)?.slots.contains(slot) == true }
    let plain = [
      ("title", notification.title), ("subtitle", notification.subtitle), ("body", notification.body),
    ]
    if let field = plain.first(where: { holds($0.1) }) { return "/notification/\(field.0)" }
    let lists = [
      ("title_args", notification.titleArgs), ("subtitle_args", notification.subtitleArgs),
      ("body_args", notification.bodyArgs),
    ]
    for (name, texts) in lists {
      if let index = texts.firstIndex(where: { holds($0) }) { return "/notification/\(name)/\(index)" }
    }
    for entry in notification.localized {
      let texts = [("title", entry.title), ("subtitle", entry.subtitle), ("body", entry.body)]
      guard let field = texts.first(where: { holds($0.1) }) else { continue }
      return "/notification/localized/\(entry.language.pointerStep)/\(field.0)"
    }
    return nil
  }

  /// The message as a provider is to render it.
  package func message(_ choice: Choice, filling value: (Placeholder) -> String) -> Message {
    var message = chosen(choice)
    guard hasTemplates else { return message }
    message.notification?.changeTexts { text in
      TextTemplate.isPlain(text) ? text : Self.template(text)?.filled(value) ?? text
    }
    return message
  }

  /// With every default in its place, and a single character where there is none.
  package func sample(_ choice: Choice) -> Message { message(choice) { $0.fallback ?? "-" } }

  /// The language tag of these texts; nil: the message's own, or all.
  package func language(of choice: Choice) -> String? {
    if case .localized(let index) = choice { languages[index] } else { nil }
  }

  /// The message for one device; nil: an attribute without a default is missing.
  package func message(for facts: DeviceFacts, providerChooses: Bool) -> Message? {
    let choice = choice(for: facts.language, providerChooses: providerChooses)
    guard slots(of: choice).allSatisfy({ facts.text(for: $0) != nil }) else { return nil }
    return message(choice) { facts.text(for: $0) ?? "" }
  }

  /// Texts that an entry leaves out are those of a wider one, then the message's own.
  private func chosen(_ choice: Choice) -> Message {
    guard choice != .providers, !languages.isEmpty, var notification = message.notification else { return message }
    var order: [Int] = []
    if case .localized(let index) = choice {
      order = [index] + LanguageMatch.matches(for: languages[index], among: languages).filter { $0 != index }
    }
    if !notification.hasOwnTexts { order.append(first) }
    let entries = order.map { notification.localized[$0] }
    let own = notification
    notification.title = entries.lazy.compactMap(\.title).first ?? own.title
    notification.subtitle = entries.lazy.compactMap(\.subtitle).first ?? own.subtitle
    notification.body = entries.lazy.compactMap(\.body).first ?? own.body
    notification.localized = []
    var message = message
    message.notification = notification
    return message
  }

  /// The language that speaks for a message without texts of its own: English, or the first.
  private var first: Int { LanguageMatch.matches(for: "en", among: languages).first ?? 0 }

  /// Intake lets none pass that cannot be read; such a text is shown as it is.
  private static func template(_ text: String) -> TextTemplate? { try? TextTemplate(parsing: text) }
}

extension Notification {
  fileprivate var hasOwnTexts: Bool {
    title != nil || subtitle != nil || body != nil || titleKey != nil || subtitleKey != nil || bodyKey != nil
  }

  /// The texts that are more than what they read. Almost every message has none.
  fileprivate var templates: [String] {
    var found: [String] = []
    func look(at text: String?) { if let text, !TextTemplate.isPlain(text) { found.append(text) } }
    look(at: title)
    look(at: subtitle)
    look(at: body)
    for arguments in [titleArgs, subtitleArgs, bodyArgs] where !arguments.isEmpty { arguments.forEach(look) }
    for entry in localized {
      look(at: entry.title)
      look(at: entry.subtitle)
      look(at: entry.body)
    }
    return found
  }

  fileprivate mutating func changeTexts(_ change: (String) -> String) {
    title = title.map(change)
    subtitle = subtitle.map(change)
    body = body.map(change)
    titleArgs = titleArgs.map(change)
    subtitleArgs = subtitleArgs.map(change)
    bodyArgs = bodyArgs.map(change)
    for index in localized.indices {
      localized[index].title = localized[index].title.map(change)
      localized[index].subtitle = localized[index].subtitle.map(change)
      localized[index].body = localized[index].body.map(change)
    }
  }
}
