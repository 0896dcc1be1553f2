import Domain

/// Reads `localized`: a notification's texts by language.
enum LanguageReader {
  private static let maximumLanguages = 100

  static func read(
    _ fields: Fields, into notification: inout Notification, _ texts: inout TextReader, _ findings: inout Findings
  ) {
    guard fields.has("localized") else { return }
    notification.localized = read(fields, &texts, &findings)
    warnOfMixedLanguages(notification, fields, &findings)
  }

  private static func read(_ fields: Fields, _ texts: inout TextReader, _ findings: inout Findings) -> [LocalizedText] {
    guard let members = fields.members("localized", .document, &findings) else { return [] }
    let place = fields.place.member("localized")
    guard members.count <= maximumLanguages else {
      findings.refuse(place, .tooMany, "has \(members.count) languages; the limit is \(maximumLanguages)")
      return []
    }
    var localized: [LocalizedText] = []
    for member in members {
      let place = place.member(member.key)
      if let fault = LanguageTag.fault(in: member.key) {
        findings.refuse(place, .invalidFormat, fault)
      } else if let doubt = KnownLanguages.doubt(of: member.key) {
        findings.warn(place, "unknown_language", doubt)
      }
      guard let entry = Fields(member.value, at: place, of: .localized, &findings) else { continue }
      var text = LocalizedText(language: member.key)
      texts.read("title", entry, into: &text.title, &findings)
      texts.read("subtitle", entry, into: &text.subtitle, &findings)
      texts.read("body", entry, into: &text.body, &findings)
      localized.append(text)
    }
    return localized
  }

  /// A text that a language leaves out is shown in the message's own: a German title above an English body.
  private static func warnOfMixedLanguages(
    _ notification: Notification, _ fields: Fields, _ findings: inout Findings
  ) {
    let entries = notification.localized
    let languages = entries.map(\.language)
    for entry in entries {
      let wider = LanguageMatch.matches(for: entry.language, among: languages).map { entries[$0] } + [entry]
      let missing = [
        ("title", notification.title, wider.contains { $0.title != nil }),
        ("subtitle", notification.subtitle, wider.contains { $0.subtitle != nil }),
        ("body", notification.body, wider.contains { $0.body != nil }),
      ].filter { $0.1 != nil && !$0.2 }.map(\.0)
      guard !missing.isEmpty else { continue }
      findings.warn(
        fields.place.member("localized").member(entry.language), "partly_localized",
        "devices with language `\(entry.language)` get the message's own "
          + "\(missing.map { "`\($0)`" }.joined(separator: " and ")) beside these texts: add "
          + missing.map { "`localized.\(entry.language).\($0)`" }.joined(separator: " and "))
    }
  }
}
