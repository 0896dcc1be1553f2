import Domain
import Intake
import Testing

@Suite("Placeholders and languages of a message")
struct PlaceholderTests {
  private func read(_ rest: String) throws -> Message {
    try Intake.message(from: document(alert(rest)))
  }

  @Test("placeholders pass in the texts a person reads, in all languages")
  func accepted() throws {
    let message = try read(
      #""notification":{"title":"Hi {{first_name|there}}","body":"{{count}} \\{{new}}","title_key":"T","#
        + #""title_args":["{{first_name}}"],"localized":{"de-AT":{"title":"Servus {{first_name|du}}"}}}"#)
    #expect(
      MessageTexts(message).slots == [
        Placeholder("first_name", fallback: "there"), Placeholder("count"), Placeholder("first_name"),
        Placeholder("first_name", fallback: "du"),
      ])
  }

  @Test("braces that are no placeholder stay what they are", arguments: ["a { b }", "}}", "{}", "{x}", "}} {"])
  func noPlaceholder(_ title: String) throws {
    let message = try read(#""notification":{"title":"\#(title)"}"#)
    #expect(MessageTexts(message).sample(.own).notification?.title == title)
  }

  @Test(
    "what cannot be a placeholder is refused where it stands",
    arguments: [
      (#""title":"{{""#, ["/notification/title invalid_placeholder"]),
      (#""title":"Hi {{name}""#, ["/notification/title invalid_placeholder"]),
      (
        #""title":"T","body":"{{}}","subtitle":"{{|x}}""#,
        [
          "/notification/subtitle invalid_placeholder", "/notification/body invalid_placeholder",
        ]
      ),
      (
        #""title":"T","title_key":"K","title_args":["a","{{b{{"]"#,
        [
          "/notification/title_args/1 invalid_placeholder"
        ]
      ),
      (#""title":"T","localized":{"de":{"body":"{{x"}}"#, ["/notification/localized/de/body invalid_placeholder"]),
      (#""title":"T","link":"https://a.example/{{user}}""#, ["/notification/link not_allowed"]),
      (#""title":"T","buttons":[{"id":"a","text":"{{x}}"}]"#, ["/notification/buttons/0/text not_allowed"]),
    ])
  func refused(_ notification: String, _ expected: [String]) throws {
    #expect(try faults(of: alert(#""notification":{\#(notification)}"#)) == expected)
  }

  @Test("so many different placeholders that nobody meant them are refused")
  func tooMany() throws {
    func text(_ count: Int) -> String {
      #""notification":{"title":"\#((0..<count).map { "{{a\($0)}}{{a\($0)}}" }.joined())"}"#
    }
    #expect(MessageTexts(try read(text(32))).slots.count == 32)
    #expect(try faults(of: alert(text(33))) == ["/notification too_many"])
  }
}
