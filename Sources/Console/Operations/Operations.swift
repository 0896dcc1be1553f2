import Domain
import HTTPServer
import Loop
import Store

extension Console {
  /// How the gateway is, what waits for a decision, and who did what.
  func operations(_ visitor: Visitor) async -> HTTPServerResponse {
    let texts = visitor.texts
    let readiness = await readiness(visitor)
    let status = await visitor.get("v1", "status")
    let isAdmin = visitor.may(.admin)
    var (prunes, audit): (Result<JSONValue, ToldProblem>?, Result<JSONValue, ToldProblem>?)
    var names = KeyNames()
    if isAdmin {
      prunes = await visitor.get("v1", "prunes")
      audit = await visitor.get("v1", "audit", query: [("limit", "20")])
      names = await KeyNames.known(to: visitor)
    }
    return Frame.page(visitor, title: texts[.operations], section: .operations) { html in
      html.head(texts[.operations], texts, isLive: true)
      if isAdmin { PrunePanel(visitor: visitor).done(&html) }
      html.section("health", texts[.health], live: 5) { HealthPanel(texts: texts).write(readiness, status, &$0) }
      switch status {
      case .failure(let problem): html.element("p", [.class("notice"), .data(.state, "failed")], problem.detail)
      case .success(let document):
        QueuePanel(texts: texts).write(queue: document, &html)
        QueuePanel(texts: texts).write(credentials: document, &html)
      }
      GatewayPanel(texts: texts).write(workers: readiness["workers"]?.array ?? [], &html)
      if case .success(let document) = status, let facts = document["redis"] {
        GatewayPanel(texts: texts).write(redis: facts, &html)
      }
      if visitor.may(.keys) {
        html.section("keys", texts[.keys]) { html in
          html.element("p", texts[.keysLead])
          html.element("p") { $0.element("a", [.href(Link("keys"))], texts[.keysOfApp]) }
        }
      }
      guard isAdmin else { return html.element("p", [.class("quiet")], texts[.onlyAdmin]) }
      if let prunes { PrunePanel(visitor: visitor).write(prunes, &html) }
      if let audit { AuditPanel(texts: texts, names: names).write(audit, &html) }
    }
  }

  /// What the brake held is removed, or kept; what was removed comes back.
  func decide(prunes act: String, _ visitor: Visitor) async -> HTTPServerResponse {
    switch act {
    case "apply": await apply(prunesOf: visitor.visit.field("credential"), visitor)
    case "discard":
      switch await visitor.ask(
        "POST", ["v1", "prunes", act], query: [("credential", visitor.visit.field("credential"))])
      {
      case .failure(let problem): refusal(problem, visitor, section: .operations)
      case .success: redirect(Link("operations"))
      }
    case "undo": await undoPrunes(visitor)
    default: refusal(404, .noSuchPage, visitor.visit)
    }
  }

  private func apply(prunesOf credential: String, _ visitor: Visitor) async -> HTTPServerResponse {
    let query = [(name: "credential", value: credential)]
    // What is carried out bears the times of the provider's words, not of this moment.
    let earliest: String?
    switch await visitor.get("v1", "prunes", query: query) {
    case .failure(let problem): return refusal(problem, visitor, section: .operations)
    case .success(let review): earliest = review["items"]?.array?.first?["earliest_dead_at"]?.string
    }
    switch await visitor.ask("POST", ["v1", "prunes", "apply"], query: query) {
    case .failure(let problem): return refusal(problem, visitor, section: .operations)
    case .success(let answer):
      let now = loop.wallNow.rfc3339
      let removed = RemovedPrunes(
        credential: answer["credential"]?.string ?? credential,
        count: max(0, Int(clamping: answer["pruned"]?.integer ?? 0)), from: earliest ?? now, to: now)
      return redirect(Link(parts: ["operations"], query: removed.query))
    }
  }

  private func undoPrunes(_ visitor: Visitor) async -> HTTPServerResponse {
    let query = ["credential", "from", "to"].map { (name: $0, value: visitor.visit.field($0)) }
    // Without them the API would undo all that it knows.
    guard !query[0].value.isEmpty, RemovedPrunes.isSpan(query[1].value, query[2].value) else {
      return refusal(400, .badAddress, visitor.visit)
    }
    switch await visitor.ask("POST", ["v1", "prunes", "undo"], query: query) {
    case .failure(let problem): return refusal(problem, visitor, section: .operations)
    case .success(let answer):
      let revived = max(0, Int(clamping: answer["revived"]?.integer ?? 0))
      return redirect(Link(parts: ["operations"], query: [("revived", String(revived))]))
    }
  }
}
