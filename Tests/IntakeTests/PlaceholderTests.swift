import Domain
import Intake
import Support
import Testing

@Suite("Placeholders and languages of a message")
struct PlaceholderTests {
  private func read(_ rest: String) throws -> Message {
    try MessageReader.message(from: document(alert(rest)))
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

  @Test(
    "where OneSignal aims, no attribute is known: each placeholder needs a default, in whatever text it stands",
    arguments: [
      (#""title":"Hi {{name|there}}""#, []), (#""title":"Hi {{name|}}","body":"\\{{name}}""#, []),
      (#""title":"Hi {{name}}""#, ["name"]),
      (#""title":"{{name}}","body":"{{name|x}} {{name}} {{city}}""#, ["name", "city"]),
      (#""title":"T","localized":{"de":{"body":"{{ort}}"}}"#, ["ort"]),
      (#""title_key":"K","title_args":["{{count}}"]"#, ["count"]),
    ] as [(String, [String])])
  func unknownDevices(_ notification: String, _ names: [String]) throws {
    let members = #""to":{"everyone":true},"providers":["onesignal"],"notification":{\#(notification)}"#
    #expect(try faults(of: "{\(members)}").isEmpty)
    do {
      _ = try MessageReader.read(
        document(#"{\#(members),"onesignal_targeting":"provider"}"#), providers: knownProviders)
      #expect(names.isEmpty)
    } catch let refusal as Refusal {
      #expect(refusal.violations.map { "\($0.pointer) \($0.code)" } == names.map { _ in "/notification not_allowed" })
      for (violation, name) in zip(refusal.violations, names) {
        #expect(violation.detail.contains("give a default: `{{\(name)|…}}`"), "\(violation.detail)")
      }
      #expect(!names.isEmpty)
    }
  }

  @Test("a broadcast goes to devices that nobody here knows: its placeholders need defaults as well")
  func broadcast() throws {
    func message(_ title: String) -> String {
      let channel = #"{"id":"dGVzdC1jaGFubmVs","bundle_id":"com.example.app","environment":"sandbox"}"#
      let activity = #"{"event":"update","content_state":{"home":2},"timestamp":1}"#
      let update = #""kind":"live_activity","live_activity":\#(activity)"#
      return #"{"to":{"channel":\#(channel)},\#(update),"notification":{"title":"\#(title)"}}"#
    }
    #expect(try faults(of: message("Goal, {{name|all}}")).isEmpty)
    #expect(try faults(of: message("Goal, {{name}}")) == ["/notification not_allowed"])
  }
}
