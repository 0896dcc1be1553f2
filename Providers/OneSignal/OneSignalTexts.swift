import Domain

/// `contents`, `headings` and `subtitle` by language. `en` is required and stands for the message's own texts; all three
/// maps hold the same languages.
struct OneSignalTexts {
  private typealias Texts = (title: String?, subtitle: String?, body: String?)

  private var languages: [(code: String, texts: LocalizedText)] = []
  private let notification: Notification

  init(_ notification: Notification, _ warnings: inout [RenderWarning]) {
    self.notification = notification
    for texts in notification.localized {
      let code = Self.code(of: texts.language)
      if code != texts.language {
        warnings.append(
          RenderWarning(
            "/notification/localized/\(texts.language.pointerStep)", "onesignal: known there as \(code)"))
      }
      if !languages.contains(where: { $0.code == code }) { languages.append((code, texts)) }
    }
    if notification.title != nil, notification.body == nil, !notification.localized.contains(where: { $0.body != nil })
    {
      warnings.append(
        RenderWarning("/notification/title", "onesignal: without a `body` the title is shown as the text"))
    }
  }

  func write(to members: inout [JSONMember]) {
    let english = languages.first { $0.code == "en" }?.texts
    // Without texts of its own, the first language speaks for all.
    let hasDefault = notification.title != nil || notification.body != nil || notification.subtitle != nil
    let base = english ?? (hasDefault ? nil : languages.first?.texts)
    let texts: Texts = (
      base?.title ?? notification.title, base?.subtitle ?? notification.subtitle, base?.body ?? notification.body
    )
    var headings: [JSONMember] = []
    var subtitles: [JSONMember] = []
    var contents: [JSONMember] = []
    func add(_ code: String, _ own: Texts) {
      // A message of a title alone shows it as the text: contents cannot be empty.
      let body = own.body ?? texts.body
      contents.set(code, body ?? own.title ?? texts.title)
      if body != nil { headings.set(code, own.title ?? texts.title) }
      subtitles.set(code, own.subtitle ?? texts.subtitle)
    }
    add("en", texts)
    for (code, own) in languages where code != "en" { add(code, (own.title, own.subtitle, own.body)) }
    members.set("headings", members: headings)
    members.set("subtitle", members: subtitles)
    members.set("contents", members: contents)
  }

  /// The primary subtag; for Chinese with its script.
  private static func code(of tag: String) -> String {
    let parts = tag.lowercased().split(whereSeparator: { $0 == "-" || $0 == "_" })
    guard let first = parts.first else { return tag }
    guard first == "zh" else { return String(first) }
    let traditional = ["hant", "tw", "hk", "mo"].contains { part in parts.contains { $0 == part } }
    return traditional ? "zh-Hant" : "zh-Hans"
  }
}
