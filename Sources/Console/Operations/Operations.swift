import Domain
import HTTPServer
import Store

extension Console {
  /// How the gateway is, what waits for a decision, and who did what.
  func operations(_ visitor: Visitor) async -> HTTPServerResponse {
    let texts = visitor.texts
    let readiness = await readiness(visitor)
    let status = await visitor.get("v1", "status")
    let isAdmin = visitor.may(.admin)
    var (prunes, audit): (Result<JSONValue, ToldProblem>?, Result<JSONValue, ToldProblem>?)
    if isAdmin {
      prunes = await visitor.get("v1", "prunes")
      audit = await visitor.get("v1", "audit", query: [("limit", "20")])
    }
    return Frame.page(visitor, title: texts[.operations], section: .operations) { html in
      html.head(texts[.operations], texts, isLive: true)
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
      if let audit { AuditPanel(texts: texts).write(audit, &html) }
    }
  }

  /// What the brake held is removed, or kept.
  func decide(prunes act: String, _ visitor: Visitor) async -> HTTPServerResponse {
    guard ["apply", "discard"].contains(act) else { return refusal(404, .noSuchPage, visitor.visit) }
    let query = [(name: "credential", value: visitor.visit.field("credential"))]
    switch await visitor.ask("POST", ["v1", "prunes", act], query: query) {
    case .failure(let problem): return refusal(problem, visitor, section: .operations)
    case .success: return redirect(Link("operations"))
    }
  }
}
