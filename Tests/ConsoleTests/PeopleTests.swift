import Domain
import Testing

@testable import Console

@Suite("What a user's and a device's page are made of")
struct PeopleTests {
  private func event(_ time: String?, name: String = "", _ more: [JSONMember] = []) -> JSONValue {
    .object((time.map { [JSONMember("accepted_at", .string($0))] } ?? []) + [JSONMember("name", .string(name))] + more)
  }

  private func written(_ events: [DeviceEvents.Event], _ texts: Texts = .english) -> String {
    var html = HTML()
    DeviceEvents(texts: texts).list(events, &html)
    return String(decoding: html.bytes, as: UTF8.self)
  }

  @Test("timelines of several devices become one, newest first; what has no time is last")
  func merging() {
    let merged = DeviceEvents.merged([
      ("a", [event("2026-01-03T00:00:00Z", name: "3"), event("2026-01-01T00:00:00.000Z", name: "1")]),
      ("b", [event(nil, name: "none"), event("2026-01-03T00:00:00.000Z", name: "3b"), event("no time", name: "x")]),
      ("c", [event("2026-01-02T23:59:59.999Z", name: "2"), event("2026-01-03T00:00:00.001Z", name: "4"), .null]),
    ])
    #expect(merged.map { $0.value["name"]?.string ?? "-" } == ["4", "3", "3b", "2", "1", "none", "x", "-"])
    #expect(merged.prefix(4).map(\.device) == ["c", "a", "b", "c"] && DeviceEvents.merged([]).isEmpty)
  }

  @Test("each event names its device as a link; texts from outside stay texts")
  func hostile() {
    let text = "</li><script>alert(1)</script>\"'&"
    let attempt = JSONValue.object([JSONMember("verdict", .string(text)), JSONMember("reason", .string(text))])
    let more = [
      JSONMember("reason", .string(text)), JSONMember("state", .string(text)), JSONMember("message", .string(text)),
      JSONMember("attempts", .array([attempt])), JSONMember("attempts_omitted", .integer(.max)),
    ]
    for texts in Texts.all {
      let page = written([.init(device: "../" + text, value: event(text, name: text, more))], texts)
      #expect(!page.contains("<script") && page.contains("&lt;script&gt;"), "\(page)")
      #expect(page.contains(#"href="/console/devices/..%2F"#), "\(page)")
    }
    #expect(!written([.init(value: event(nil))]).contains("/console/devices"))
  }

  @Test("that attempts of successes in audiences are not kept is said once, and only where one is missing")
  func receipts() {
    func one(_ to: String, _ state: String, _ attempts: [JSONValue] = []) -> DeviceEvents.Event {
      let more = [JSONMember("to", .string(to)), JSONMember("state", .string(state))]
      return .init(value: event(nil, more + [JSONMember("attempts", .array(attempts))]))
    }
    let told = "<code>keep_receipts</code>"
    let missing = one("audience", "accepted")
    #expect(written([missing, missing]).components(of: told) == 1)
    let whole = [one("listed", "accepted"), one("audience", "skipped"), one("audience", "accepted", [.null])]
    #expect(written(whole).components(of: told) == 0)
  }

  @Test("of a token its ends are shown, and of a short one nothing")
  func tokens() {
    #expect(ShortToken.of("0123456789abcdef01234567") == "01234567…4567")
    for short in ["", "a", "0123456789abcdef0123456"] { #expect(ShortToken.of(short) == "…") }
    var html = HTML()
    html.secret("<b>\"'&0123456789abcdef0123456789", .german)
    let page = String(decoding: html.bytes, as: UTF8.self)
    #expect(page.contains("<details>") && !page.contains("<b>"), "\(page)")
  }
}

extension String {
  fileprivate func components(of part: String) -> Int {
    split(separator: part, omittingEmptySubsequences: false).count - 1
  }
}
