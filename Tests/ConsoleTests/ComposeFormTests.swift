import Domain
import HTTPServer
import JSON
import Support
import Testing

@testable import Console

@Suite("What is written in the composer is the message, and a message is what the composer shows")
struct ComposeFormTests {
  private func message(_ text: String) throws -> JSONValue { try JSON.parse(Array(text.utf8)) }

  private func form(of message: JSONValue, name: String? = nil) -> ComposeForm {
    var members = [JSONMember("id", .string("drf_1")), JSONMember("version", .integer(3))]
    members.set("name", name)
    members.set("message", message)
    return ComposeForm(draft: .object(members))
  }

  /// Equal whatever the order of members.
  private func sorted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let members):
      .object(members.map { JSONMember($0.key, sorted($0.value)) }.sorted { $0.key < $1.key })
    case .array(let items): .array(items.map(sorted))
    default: value
    }
  }

  @Test(
    "a message comes back as it was, whatever it holds",
    arguments: [
      #"{"notification":{"title":"T","subtitle":"S","body":"two\nlines"},"to":{"audience":"plan:pro && !churned"}}"#,
      #"{"notification":{"title":"T","localized":{"de":{"title":"X"},"pt-BR":{"body":"Y","subtitle":"Z"}}}}"#,
      #"{"notification":{"title":"T","localized":{"de":{"title":"X","future":1}}}}"#,
      #"{"notification":{"title":"T","buttons":[{"id":"a","text":"A","url":"https://x"},{"id":"b","text":"B"}]}}"#,
      #"{"notification":{"title":"T","buttons":[{"id":"a","text":"A","icon":"i"}],"sound":{"name":"s","volume":1}}}"#,
      #"{"notification":{"title":"T","badge":0,"sound":"default","thread_id":"t","interruption_level":"passive"}}"#,
      #"{"kind":"background","data":{"a":{"b":[1,2.5,null,true]}},"to":{"users":["ana","tom"]}}"#,
      #"{"kind":"live_activity","live_activity":{"event":"end","content_state":{}},"notification":{"title":"T"}}"#,
      #"{"to":{"devices":["d"]},"variants":[{"name":"a","weight":33.3,"notification":{"title":"A"}}],"holdout":66.7}"#,
      #"{"variants":[{"name":"a","weight":50,"data":{"x":1}},{"name":"b","weight":50}]}"#,
      #"{"send_at":"2026-12-01T09:00:00+01:00","rate_per_second":500,"ttl":3601,"collapse_key":"k"}"#,
      #"{"send_at":"2026-12-01T09:00:00+05:45","priority":"low"}"#,
      #"{"send_at_local":"2026-12-01T09:00:30","reach":"latest_device_per_user","topic":"offers"}"#,
      #"{"quiet_hours":false,"cap":{"max":2,"per":"week"},"topic":"offers"}"#,
      #"{"quiet_hours":{"from":"22:00","to":"08:00","else":"skip","zone":"Europe/Berlin"},"priority":"low"}"#,
      #"{"labels":{"a":"b"},"overrides":{"apns":{"aps":{"x":1}}},"durability":{"replicas":1},"holdout":5}"#,
    ])
  func roundTrip(_ text: String) throws {
    let before = try message(text)
    let (after, faults) = form(of: before).message(.english)
    #expect(faults.isEmpty, "\(faults)")
    #expect(sorted(after) == sorted(before), "\(String(decoding: after.encoded, as: UTF8.self))")
  }

  @Test(
    "a time is never shown as now",
    arguments: ["2026-12-01T09:00:00.000Z", "2026-12-01t09:00:00z", "2026-12-01T09:00:00.5+02:00"])
  func times(_ text: String) throws {
    let form = form(of: try message(#"{"send_at":"\#(text)"}"#))
    #expect(form.time == .at && form.at == "2026-12-01T09:00" && form.rest.isEmpty)
    var typed = ComposeForm()
    typed.rest = #"{"send_at":"\#(text)"}"#
    #expect(typed.message(.english).faults.map(\.field) == ["json"])
  }

  @Test("whatever is typed, a form that is read from its own draft is the same form")
  func property() throws {
    var random = Seeded()
    let words = ["", "a", "Ä\u{301}", "<b>", "\u{202e}x", "🎉", "{{name|you}}", #"""#, "plan:pro || x", "2"]
    func word() -> String { words.randomElement(using: &random) ?? "" }
    func some(_ text: String) -> String { text.isEmpty ? "x" : text }
    for _ in 0..<300 {
      var form = ComposeForm()
      (form.draft, form.version, form.name) = ("drf_1", "3", some(word()))
      form.words = [.init(title: word(), subtitle: word(), body: word())]
      for language in ["de", "fr"].prefix(Int.random(in: 0...2, using: &random)) {
        form.words.append(.init(language: language, title: some(word()), subtitle: word(), body: word()))
      }
      (form.image, form.link, form.audience, form.collapseKey) = (word(), word(), word(), word())
      form.buttons = (0..<Int.random(in: 0...3, using: &random)).map {
        .init(id: "b\($0)", title: some(word()), link: word())
      }
      form.variants = (0..<Int.random(in: 0...3, using: &random)).map {
        .init(name: "v\($0)", share: "\(25 * ($0 + 1))", title: word(), body: word())
      }
      form.time = ComposeForm.Time.allCases.randomElement(using: &random) ?? .now
      if form.time != .now { form.at = "2026-12-01T09:0\(Int.random(in: 0...9, using: &random))" }
      if form.time == .at { form.offset = ["+00:00", "-03:30"].randomElement(using: &random) ?? "+00:00" }
      form.quiet = ComposeForm.Quiet.allCases.randomElement(using: &random) ?? .app
      if form.quiet == .own { (form.quietFrom, form.quietTo) = ("22:00", "07:30") }
      form.isCapped = Bool.random(using: &random)
      if form.isCapped { (form.capMaximum, form.topic) = ("3", word()) }
      (form.perSecond, form.ttl, form.badge) = (["", "5"].randomElement(using: &random) ?? "", "", "0")
      let (message, faults) = form.message(.english)
      #expect(faults.isEmpty, "\(faults), seed \(random.seed)")
      let again = self.form(of: message, name: form.name)
      #expect(again == form, "seed \(random.seed)")
    }
  }

  @Test("what cannot be read is told at its field, and stays in the form")
  func faults() {
    var form = ComposeForm()
    form.perSecond = "fast"
    form.data = "{"
    form.rest = "[1]"
    form.holdout = "a lot"
    form.time = .at
    form.words.append(.init(title: "Titel"))
    form.variants = [.init(name: "a", share: "1e400")]
    form.words += [.init(language: "de", title: "a"), .init(language: "de", title: "b")]
    let fields = Set(form.message(.english).faults.map(\.field))
    #expect(fields == ["per_second", "data", "json", "holdout", "at", "lang.1", "lang.3", "variant.0.share"])
    form.kind = "background"
    #expect(form.message(.english).faults.contains { $0.field == "kind" })
  }

  @Test(
    "each fault of the API finds the field that shows it",
    arguments: [
      ("/notification/title", "title.0"), ("/message/notification/localized/de/body", "body.1"),
      ("/notification/localized/xx/body", ""), ("/notification/buttons/1/url", "button.1.link"),
      ("/notification/buttons/99999999999999999999/url", "button.0.title"), ("/variants/0/weight", "variant.0.share"),
      ("/variants/7/weight", "variant.0.name"), ("/to/audience", "audience"), ("/send_at_local", "at"),
      ("/cap/max", "cap_max"), ("/quiet_hours/from", "quiet_from"), ("/name", "name"), ("/overrides/apns/x", ""),
      ("", ""), ("/", ""), ("/notification", "title.0"), ("/reach", "devices"),
    ])
  func pointers(_ pointer: String, _ field: String) {
    var form = ComposeForm()
    form.words.append(.init(language: "de", title: "T"))
    form.variants = [.init(name: "a")]
    #expect(form.field(at: pointer) == field)
  }

  @Test("the sentence says whom, when and how fast, in both languages")
  func sentence() {
    var form = ComposeForm()
    form.words.append(.init(language: "de", title: "T"))
    (form.time, form.at, form.offset, form.perSecond) = (.at, "2026-12-01T09:00", "+01:00", "5000")
    #expect(
      form.sentence("To 184,220 devices", leftOut: 2_113, .english)
        == "To 184,220 devices in 2 versions of the text, at 2026-12-01 09:00 (UTC+01:00), at most 5,000 a second; "
        + "2,113 devices are left out.")
    form.time = .now
    let german = form.sentence("An 1 Gerät", waiting: 3, leftOut: 0, .german)
    #expect(
      german == "An 1 Gerät in 2 Fassungen des Textes, jetzt, höchstens 5.000 je Sekunde; 3 davon nach ihrer Ruhezeit.",
      "\(german)")
    #expect(form.sentence("To 1 device", startsAt: "2026-12-01T09:00:00Z", leftOut: 0, .english).contains("2026-12-01"))
  }
}
