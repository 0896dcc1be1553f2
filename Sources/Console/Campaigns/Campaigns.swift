import Domain
import HTTPServer

extension Console {
  private static let filters = ["name", "label", "topic", "audience", "from", "to"]
  static let states = ["queued", "scheduled", "sending", "paused", "completed", "cancelled"]

  /// All campaigns, filtered by what stands in the address, so that each view is a link.
  func campaigns(_ visitor: Visitor) async -> HTTPServerResponse {
    let (texts, visit) = (visitor.texts, visitor.visit)
    var query = (Self.filters + ["state", "cursor"]).map { (name: $0, value: visit.query($0)) }
    query.append(("limit", "50"))
    // Days of UTC, each from its beginning to its end.
    query = query.map { (name: $0.name, value: Day.time($0.name, $0.value)) }
    let answer: JSONValue
    switch await visitor.ask("GET", ["v1", "messages"], query: query.filter { !$0.value.isEmpty }) {
    // What was typed stays, beside what is wrong with it.
    case .failure(let problem) where [400, 422].contains(problem.status):
      return Frame.page(visitor, title: texts[.campaigns], section: .campaigns, status: problem.status) { html in
        html.element("h1", texts[.campaigns])
        html.refused(problem)
        filters(visit, problem, &html)
      }
    case .failure(let problem): return refusal(problem, visitor, section: .campaigns)
    case .success(let page): answer = page
    }
    let all = (answer["items"]?.array ?? []).map(Campaign.init)
    return Frame.page(visitor, title: texts[.campaigns], section: .campaigns) { html in
      html.head(texts[.campaigns], texts, isLive: true)
      filters(visit, nil, &html)
      html.section("list", texts[.allCampaigns], live: 5) { html in
        Self.table(
          of: all, "list-heading", texts, isFiltered: query.contains { $0.name != "limit" && !$0.value.isEmpty }, &html)
        pages(answer["next_cursor"]?.string, visit, &html)
      }
    }
  }

  private func filters(_ visit: Visit, _ problem: ToldProblem?, _ html: inout HTML) {
    let texts = visit.texts
    html.element(
      "form", [.class("filters"), .set(.method, "get"), .action(Link("campaigns")), .set(.ariaLabel, texts[.filter])]
    ) { html in
      for (name, word) in [("name", Word.name), ("label", .label), ("topic", .topic), ("audience", .audience)] {
        html.element("label") { html in
          html.text(texts[word] + " ")
          let fault = problem?.fault(at: name)
          html.void(
            "input",
            [.set(.type, "search"), .set(.name, name), .set(.value, visit.query(name)), .set(.maxLength, "300")]
              + (name == "label" ? [.set(.placeholder, texts[.labelHint])] : []) + Attribute.faulty(name, fault))
          html.fault(of: name, fault)
        }
      }
      html.element("label") { html in
        html.text(texts[.state] + " ")
        html.element("select", [.set(.name, "state")]) { html in
          html.element("option", [.set(.value, "")], texts[.anyState])
          for (state, word) in zip(Self.states, [Word.queued, .scheduled, .running, .paused, .completed, .cancelled]) {
            html.element(
              "option", [.set(.value, state), .flag(.selected, visit.query("state") == state)], texts[word])
          }
        }
      }
      for (name, word) in [("from", Word.from), ("to", .to)] {
        html.element("label") { html in
          html.text(texts[word] + " ")
          let fault = problem?.fault(at: name)
          html.void(
            "input",
            [.set(.type, "date"), .set(.name, name), .set(.value, visit.query(name))] + Attribute.faulty(name, fault))
          html.fault(of: name, fault)
        }
      }
      html.element("button", [.class("primary")], texts[.apply])
      html.element("a", [.class("button"), .href(Link("campaigns"))], texts[.clear])
    }
  }

  private func pages(_ cursor: String?, _ visit: Visit, _ html: inout HTML) {
    let texts = visit.texts
    guard cursor != nil || !visit.query("cursor").isEmpty else { return }
    let kept = (Self.filters + ["state"]).map { (name: $0, value: visit.query($0)) }.filter { !$0.value.isEmpty }
    html.element("nav", [.class("pages"), .set(.ariaLabel, texts[.allCampaigns])]) { html in
      if let cursor {
        html.element(
          "a",
          [
            .class("button"), .set(.rel, "next"), .href(Link(parts: ["campaigns"], query: kept + [("cursor", cursor)])),
          ],
          texts[.next])
      }
      if !visit.query("cursor").isEmpty {
        html.element("a", [.href(Link(parts: ["campaigns"], query: kept))], texts[.first])
      }
    }
  }
}
