import Domain
import HTTPServer
import Store

extension Console {
  /// How the gateway is, what waits for a decision, and who did what.
  func operations(_ visitor: Visitor) async -> HTTPServerResponse {
    let texts = visitor.texts
    let readiness = await readiness(visitor)
    let reasons = health(readiness, visitor)
    let isAdmin = visitor.may(.admin)
    var (prunes, audit): (Result<JSONValue, ToldProblem>?, Result<JSONValue, ToldProblem>?)
    if isAdmin {
      prunes = await visitor.get("v1", "prunes")
      audit = await visitor.get("v1", "audit", query: [("limit", "20")])
    }
    return Frame.page(visitor, title: texts[.operations], section: .operations) { html in
      html.head(texts[.operations], texts, isLive: true)
      html.section("health", texts[.health], live: 5) { $0.reasons(reasons, texts) }
      workers(readiness["workers"]?.array ?? [], texts, &html)
      if visitor.may(.keys) {
        html.section("keys", texts[.keys]) { html in
          html.element("p", texts[.keysLead])
          html.element("p") { $0.element("a", [.href(Link("keys"))], texts[.keysOfApp]) }
        }
      }
      guard isAdmin else { return html.element("p", [.class("quiet")], texts[.onlyAdmin]) }
      if let prunes { held(prunes, visitor, &html) }
      if let audit { trail(audit, texts, &html) }
    }
  }

  private func workers(_ workers: [JSONValue], _ texts: Texts, _ html: inout HTML) {
    html.section("workers", texts[.workers], live: 5) { html in
      guard !workers.isEmpty else { return html.element("p", [.class("empty")], texts[.noWorkers]) }
      html.table(
        labelledBy: "workers-heading",
        [(texts[.worker], false), (texts[.host], false), (texts[.partitions], true), (texts[.heartbeat], true)]
      ) { html in
        for worker in workers {
          html.element("tr") { html in
            html.element("th", [.set(.scope, "row")]) { $0.element("code", worker["worker"]?.string ?? "") }
            html.element("td", worker["host"]?.string ?? "")
            html.number(texts.number(worker["partitions"]?.array?.count ?? 0))
            html.number(texts.duration(milliseconds: Int(clamping: worker["heartbeat_age_ms"]?.integer ?? 0)))
          }
        }
      }
    }
  }

  private func held(_ answer: Result<JSONValue, ToldProblem>, _ visitor: Visitor, _ html: inout HTML) {
    let texts = visitor.texts
    html.section("prunes", texts[.prunes]) { html in
      guard let all = html.items(of: answer) else { return }
      let prunes = all.filter { ($0["held"]?.integer ?? 0) > 0 }
      guard !prunes.isEmpty else { return html.element("p", [.class("empty")], texts[.prunesNone]) }
      html.element("p", texts[.prunesLead])
      for brake in prunes {
        let credential = brake["credential"]?.string ?? ""
        html.element("h3", credential)
        html.element("p", texts[.held] + ": " + texts.number(Int(clamping: brake["held"]?.integer ?? 0)))
        html.element("div", [.class("actions")]) { html in
          for (act, word) in [("apply", Word.applyPrunes), ("discard", .discardPrunes)] {
            Frame.form(visitor, Link("prunes", act), &html) { html in
              html.void("input", [.set(.type, "hidden"), .set(.name, "credential"), .set(.value, credential)])
              html.element("button", act == "apply" ? [.class("danger")] : [], texts[word])
            }
          }
        }
      }
    }
  }

  private func trail(_ answer: Result<JSONValue, ToldProblem>, _ texts: Texts, _ html: inout HTML) {
    html.section("audit", texts[.audit], live: 10) { html in
      guard let entries = html.items(of: answer) else { return }
      guard !entries.isEmpty else { return html.element("p", [.class("empty")], texts[.noAudit]) }
      html.element("p", [.class("quiet")], texts[.auditLead])
      AuditPage.table(entries, "audit-heading", texts, &html)
      html.element("p") { $0.element("a", [.href(Link("audit"))], texts[.auditAll]) }
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
