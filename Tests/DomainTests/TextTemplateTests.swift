import Domain
import Testing

@Suite("Placeholders in texts")
struct TextTemplateTests {
  private func filled(_ text: String, _ attributes: [String: JSONValue] = [:]) throws -> String {
    let facts = DeviceFacts(attributes: attributes.map { JSONMember($0.key, $0.value) })
    return try TextTemplate(parsing: text).filled { facts.text(for: $0) ?? "<missing>" }
  }

  @Test(
    "attributes and defaults take their places; what is filled in is not read again",
    arguments: [
      ("Hi {{name}}!", "Hi Ann {{x|y}}!"), ("{{ name | there }}", "Ann {{x|y}}"), ("{{none|there}}", "there"),
      ("{{none|}}.", "."), ("{{none}}", "<missing>"), ("{{empty|there}}", "there"), ("{{none|a | b}}", "a | b"),
      ("{{count}} {{half}} {{whole}} {{flag}}", "3 0.5 5 true"), ("{{name}}{{count}}", "Ann {{x|y}}3"),
      ("é{{ünter|🙂}}é", "é🙂é"), ("{{name }}", "Ann {{x|y}}"),
    ])
  func fills(_ text: String, _ expected: String) throws {
    let attributes: [String: JSONValue] = [
      "name": .string("Ann {{x|y}}"), "count": .integer(3), "half": .double(0.5), "whole": .double(5),
      "flag": .bool(true), "empty": .string(""),
    ]
    #expect(try filled(text, attributes) == expected)
  }

  @Test(
    "braces can be written, and lone ones need not be",
    arguments: [
      (#"\{{name}}"#, "{{name}}"), (#"\\{{name}}"#, #"\Ann"#), ("a { b } c }} d", "a { b } c }} d"),
      (#"C:\dir {x}"#, #"C:\dir {x}"#), ("", ""), (#"\"#, #"\"#), (#"{\{{"#, "{{{"),
    ])
  func escapes(_ text: String, _ expected: String) throws {
    #expect(try filled(text, ["name": .string("Ann")]) == expected)
  }

  @Test(
    "what cannot be read is refused with what to write instead",
    arguments: [
      "{{", "Hi {{name}", "{{}}", "{{|x}}", "{{ }}", "{{a{{b}}", "{{a|{b}}}",
      "{{\(String(repeating: "n", count: 65))}}", "{{n|\(String(repeating: "d", count: 1_025))}}",
    ])
  func faults(_ text: String) {
    let fault = #expect(throws: TemplateFault.self) { try TextTemplate(parsing: text) }
    #expect(fault?.detail.isEmpty == false)
  }

  @Test(
    "a language takes the closest of its wider forms",
    arguments: [
      ("de-AT", ["en", "de", "de-at"], [2, 1]), ("de-AT-1996", ["de", "en"], [0]), ("de_CH", ["DE"], [0]),
      ("nl", ["de", "en"], []), ("de", ["de-AT"], []), ("zh-TW", ["zh", "zh-Hant"], [1, 0]),
      ("zh-CN", ["zh-Hant", "zh-Hans"], [1]), ("zh-Hant-HK", ["zh-HK", "zh-Hant"], [1]),
      ("en-a-bbb-x-ccc", ["en-a", "en-a-bbb", "en"], [1, 2]), ("", ["en"], []),
    ])
  func languages(_ tag: String, _ among: [String], _ expected: [Int]) {
    #expect(LanguageMatch.matches(for: tag, among: among) == expected)
  }

  @Test("a device gets the texts of its language, and what they leave out from wider ones")
  func choices() throws {
    var message = Message(to: .everyone, kind: .alert)
    var notification = Notification()
    notification.title = "Hello {{name|you}}"
    notification.body = "Body"
    notification.bodyArgs = ["{{name|you}}"]
    notification.localized = [
      LocalizedText(language: "de", title: "Hallo {{name}}", body: "Text"),
      LocalizedText(language: "de-AT", title: "Servus {{name}}"),
    ]
    message.notification = notification
    let texts = MessageTexts(message)
    #expect(texts.slots == [Placeholder("name", fallback: "you"), Placeholder("name")])
    func shown(_ language: String?, _ name: String?, providerChooses: Bool = false) -> String? {
      let facts = DeviceFacts(language: language, attributes: name.map { [JSONMember("name", .string($0))] } ?? [])
      guard let own = texts.message(for: facts, providerChooses: providerChooses)?.notification else { return nil }
      let languages = own.localized.map { "\($0.language)=\($0.title ?? "")" }
      return ([own.title ?? "", own.body ?? ""] + own.bodyArgs + languages).joined(separator: "/")
    }
    #expect(shown("de-AT", "Ann") == "Servus Ann/Text/Ann")
    #expect(shown("de-CH", "Ann") == "Hallo Ann/Text/Ann")
    #expect(shown("fr", nil) == "Hello you/Body/you")
    #expect(shown(nil, nil) == "Hello you/Body/you")
    #expect(shown("de", nil) == nil)
    #expect(shown("fr", "Ann", providerChooses: true) == "Hello Ann/Body/Ann")
    #expect(shown(nil, "Ann", providerChooses: true) == "Hello Ann/Body/Ann/de=Hallo Ann/de-AT=Servus Ann")
    #expect(texts.choices(providerChooses: false).count == 3 && texts.choices(providerChooses: true).count == 4)

    message.notification?.title = nil
    message.notification?.body = nil
    #expect(MessageTexts(message).sample(.own).notification?.title == "Hallo -")
  }
}
