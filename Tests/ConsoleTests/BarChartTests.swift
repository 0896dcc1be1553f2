import Domain
import Testing

@testable import Console

@Suite("The chart of what ended")
struct BarChartTests {
  private func hour(_ began: String, _ counts: [(String, JSONValue)]) -> JSONValue {
    .object([
      JSONMember("began_at", .string(began)),
      JSONMember(
        "counts",
        .array(
          counts.map { outcome, count in
            .object([
              JSONMember("provider", .string("fcm")), JSONMember("outcome", .string(outcome)),
              JSONMember("count", count),
            ])
          })),
    ])
  }

  private func figures(_ hours: [JSONValue], _ rates: [JSONValue] = []) -> ActivityFigures {
    ActivityFigures(.object([JSONMember("hours", .array(hours)), JSONMember("rates", .array(rates))]))
  }

  private func drawn(_ figures: ActivityFigures) -> String {
    var html = HTML()
    BarChart(figures: figures).write(Texts.english, &html)
    return String(decoding: html.bytes, as: UTF8.self)
  }

  @Test("four steps of the axis reach the highest bar, whatever it is")
  func steps() {
    for highest in [0, 1, 4, 5, 8, 9, 21, 1_000, 412_003, 1 << 40, .max] {
      let step = BarChart.step(to: highest)
      #expect(step >= 1 && Double(step) * 4 >= Double(highest) * 0.99, "\(highest): \(step)")
    }
    #expect(BarChart.step(to: 9) == 5 && BarChart.step(to: 412_003) == 200_000)
    #expect(BarChart.short(20_000, .english) == "20 k" && BarChart.short(7, .english) == "7")
    #expect([500, 1_000, 1_500, 2_000].map { BarChart.short($0, .german) } == ["500", "1 k", "1,5 k", "2 k"])
    #expect(BarChart.short(.max, .english) == "9,223,372,036.8 G")
  }

  @Test("without hours nothing is drawn; a single hour without an outcome has an axis and a table")
  func empty() {
    #expect(drawn(figures([])).isEmpty)
    #expect(drawn(ActivityFigures(.null)).isEmpty && drawn(ActivityFigures(.array([.integer(1)]))).isEmpty)
    let one = drawn(figures([hour("2026-11-26T14:00:00.000Z", [])]))
    #expect(!one.contains("<rect") && one.contains(">14:00<") && one.contains("<table"))
  }

  @Test("a bar is as high as its count, and none leaves the chart")
  func heights() {
    let two = drawn(figures([hour("", [("accepted", .integer(4)), ("failed", .integer(0))])]))
    #expect(two.contains(#"y="24" height="120""#), "\(two)")
    #expect(two.components(of: "<rect") == 1)
  }

  @Test("numbers and texts from outside neither end the process nor become markup")
  func hostile() {
    let huge = hour(
      #"<script>alert(1)</script>"#,
      [
        ("accepted", .integer(.max)), ("accepted", .integer(.max)), ("failed", .integer(.min)), ("dead", .integer(-1)),
        ("expired", .double(.infinity)), ("<b>", .integer(5)), ("skipped", .integer(1)),
      ])
    let odd: [JSONValue] = [
      .object([JSONMember("provider", .string("<i>")), JSONMember("per_second", .double(.nan))]),
      .object([JSONMember("provider", .string("fcm")), JSONMember("per_second", .integer(.max))]), .null,
    ]
    let many = figures([JSONValue](repeating: huge, count: 60) + [.null], odd)
    #expect(many.hours.count == 48 && many.total == .max)
    let page = drawn(many)
    #expect(!page.contains("<script>") && !page.contains("<b>") && !page.contains("nan") && !page.contains("inf"))
    for rate in many.rates { #expect(!Texts.english.rate(rate.perSecond).isEmpty) }
    #expect(Texts.english.rate(.infinity) == "0" && Texts.english.rate(0.01) == "< 0.1")
    #expect(Texts.german.rate(1.25) == "1,3" && Texts.english.rate(8_240.4) == "8,240")
  }

  @Test("what is wrong with a credential is told with the next step")
  func alarms() {
    func told(_ members: [(String, JSONValue)]) -> String {
      var html = HTML()
      let credential = CredentialFigures(.object(members.map { JSONMember($0.0, $0.1) }))
      html.alarms([credential], Texts.english)
      return String(decoding: html.bytes, as: UTF8.self)
    }
    #expect(told([("credential", .string("shop/fcm")), ("state", .string("open"))]).isEmpty)
    let blocked = told([
      ("credential", .string("<x>")), ("state", .string("blocked")), ("reason", .string("InvalidProviderToken")),
      ("jobs", .integer(.max)), ("held_prunes", .integer(-4)),
    ])
    #expect(blocked.contains("InvalidProviderToken") && blocked.contains("/console/operations"), "\(blocked)")
    #expect(!blocked.contains("<x>") && blocked.contains(#"data-state="blocked""#))
    #expect(told([("state", .string("open")), ("expiry", .string("expired"))]).contains("expired"))
    #expect(told([("state", .string("idle")), ("prune_brake", .object([]))]).contains("decision"))
  }
}

extension String {
  /// How often a text stands in it.
  fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
