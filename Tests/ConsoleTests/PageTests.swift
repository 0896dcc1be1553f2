import Domain
import Store
import Support
import Testing

@testable import Console

@Suite("What pages are made of")
struct PageTests {
  @Test("no text and no value of an attribute becomes markup, whatever it holds")
  func escaping() {
    var random = Seeded(seed: 19)
    let pieces = [
      "<", ">", "\"", "'", "&", "</script>", "<!--", "]]>", "\u{0}", "\u{1b}", "\u{202e}", "é", "🎉", "a", " ", "=",
    ]
    for _ in 0..<500 {
      let text = (0..<20).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      var html = HTML()
      html.element("p", [.set(.title, text), .class(text)], text)
      let written = String(decoding: html.bytes, as: UTF8.self)
      #expect(written.count { $0 == "<" } == 2 && written.count { $0 == ">" } == 2, "\(written)")
      #expect(written.count { $0 == "\"" } == 4, "\(written)")
      #expect(!written.utf8.contains(0) && !written.utf8.contains(27), "\(written)")
    }
  }

  @Test("a link stays below the console, whatever it is made of")
  func links() {
    for text in ["javascript:alert(1)", "//evil.example/", "../../v1/keys", "a b?c#d", "ü/€", ""] {
      let link = Link("campaigns", text, query: [("q", text)]).text
      #expect(link.hasPrefix("/console/campaigns/"), "\(link)")
      #expect(!link.dropFirst("/console/campaigns/".count).prefix { $0 != "?" }.contains("/"), "\(link)")
    }
    for part in [".", ".."] { #expect(Link("devices", part).text == "/console/devices/") }
    #expect(Link("a b", query: [("x", "1&2=ü")]).text == "/console/a%20b?x=1%262%3D%C3%BC")
  }

  @Test("the filter offers each state that the API knows")
  func states() { #expect(Set(Console.states) == Set(MessageState.allCases.map(\.rawValue))) }

  @Test("counts that differ by platform alone are one line")
  func counts() {
    let line: (String, Int64) -> JSONValue = { platform, count in
      .object([
        JSONMember("provider", .string("fcm")), JSONMember("outcome", .string("failed")),
        JSONMember("platform", .string(platform)), JSONMember("count", .integer(count)),
      ])
    }
    let report = JSONValue.object([
      JSONMember("targets", .integer(10)), JSONMember("counts", .array([line("ios", 2), line("web", 3)])),
      JSONMember("progress", .object([JSONMember("final", .integer(5))])),
      JSONMember("outcomes", .object([JSONMember("failed", .integer(5))])),
    ])
    let campaign = Campaign(report)
    #expect(campaign.counts.map(\.count) == [5] && campaign.left == 5 && campaign.failed == 5)
    #expect(campaign.parts.map(\.count) == [5, 5])
  }

  @Test("a form is read as browsers send it; one that is none has no fields")
  func forms() {
    func read(_ body: String, _ type: String = "application/x-www-form-urlencoded") -> [String] {
      Form.read(Array(body.utf8), type).map { "\($0.name)=\($0.value)" }
    }
    #expect(read("a=1&b=x+y%26z&c=%C3%BC&d=") == ["a=1", "b=x y&z", "c=ü", "d="])
    #expect(read("a") == ["a="])
    for broken in ["a=%", "a=%4", "a=%zz", "a=%ff"] { #expect(read(broken).isEmpty, "\(broken)") }
    #expect(read("a=1", "application/json").isEmpty)
    #expect(read((0..<401).map { "a\($0)=1" }.joined(separator: "&")).isEmpty)
  }

  @Test("each language has each text, with the same places in it", arguments: Texts.all.map(\.language))
  func texts(language: String) throws {
    let texts = try #require(Texts.all.first { $0.language == language })
    for word in Word.allCases {
      let text = try #require(texts.words[word], "\(language) lacks \(word)")
      #expect(!text.isEmpty)
      func places(_ text: String?) -> [Bool] { ["%1", "%2"].map { text?.contains($0) ?? false } }
      #expect(places(text) == places(Texts.english.words[word]), "\(language) \(word): \(text)")
    }
  }

  @Test("numbers have marks between thousands; what is not nothing is not shown as nothing")
  func numbers() {
    #expect(Texts.english.number(1_234_567) == "1,234,567" && Texts.german.number(-1_000) == "−1.000")
    #expect(Texts.english.number(0) == "0" && Texts.english.number(999) == "999")
    #expect(Texts.english.percent(1, of: 1_000_000) == "< 0.1 %" && Texts.german.percent(1, of: 3) == "33,3 %")
    #expect(Texts.german.percent(999_999, of: 1_000_000) == "> 99,9 %" && Texts.english.percent(5, of: 5) == "100.0 %")
    #expect(Texts.english.percent(999, of: 1_000) == "99.9 %" && Texts.english.percent(1, of: 0) == "–")
    #expect(Texts.english.duration(milliseconds: 3_725_000) == "1 h 2 min")
    #expect(Texts.english(.lineDone, "%2", "5") == "%2 of 5")
  }

  @Test("a name that is typed in counts as a page shows it, and so does the id")
  func confirmations() {
    #expect(Confirmation.holds("Black Friday", " Black  Friday\u{a0}", "msg_1"))
    #expect(Confirmation.holds(" msg_1\n", "Black Friday", "msg_1") && Confirmation.holds("a\tb", "a b"))
    for typed in ["", "  ", "black friday", "BlackFriday", "msg_"] {
      #expect(!Confirmation.holds(typed, "Black Friday", "msg_1", "", "  "), "\(typed)")
    }
  }

  @Test("the latest of the audit trail has translated outcomes, and leads to all of it")
  func audit() {
    let entry = JSONValue.object([
      JSONMember("operation", .string("replayMessage")), JSONMember("outcome", .string("refused")),
    ])
    var html = HTML()
    let page = JSONValue.object([JSONMember("items", .array([entry]))])
    AuditPanel(texts: .german).write(.success(page), &html)
    let written = String(decoding: html.bytes, as: UTF8.self)
    #expect(written.contains(Texts.german[.actRefused]) && written.contains(#"href="/console/audit""#), "\(written)")
    #expect(!written.contains(">refused<"))
  }

  @Test("the language is the first that the browser asks for and the console has")
  func languages() {
    #expect(Texts.best(for: "de-AT,de;q=0.9,en;q=0.8").language == "de")
    #expect(Texts.best(for: "fr,en-GB;q=0.8,de;q=0.5").language == "en")
    #expect(Texts.best(for: "").language == "en" && Texts.best(for: "dede,*").language == "en")
  }
}
