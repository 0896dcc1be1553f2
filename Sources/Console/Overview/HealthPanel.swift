import Domain

/// How the gateway does, apart from campaigns.
struct HealthPanel {
  let texts: Texts

  /// What stands against sending, in the gateway's words; empty: nothing does. `isTold`: which of its codes.
  func reasons(_ readiness: JSONValue, where isTold: (String) -> Bool = { _ in true }) -> [String] {
    let reasons = (readiness["reasons"]?.array ?? []).filter { isTold($0["code"]?.string ?? "") }
      .compactMap { $0["detail"]?.string }
    let isReady = ["ready", "degraded"].contains(readiness["status"]?.string ?? "")
    return reasons.isEmpty && !isReady ? [texts[.healthUnavailable]] : reasons
  }

  /// What stands against sending, with the next step.
  func write(_ readiness: JSONValue, _ status: Result<JSONValue, ToldProblem>, _ html: inout HTML) {
    guard case .success(let document) = status else { return html.reasons(reasons(readiness), texts) }
    // Of credentials the status tells more, and only of those of the app.
    let reasons = reasons(readiness) { !$0.hasPrefix("credential_") && $0 != "prunes_held" }
    var alarms = HTML()
    alarms.alarms(CredentialFigures.all(of: document), texts)
    guard !alarms.bytes.isEmpty else { return html.reasons(reasons, texts) }
    html.element("ul", [.class("todo")]) { html in
      html.append(alarms)
      for reason in reasons { html.todo(reason, texts) }
    }
  }

  /// How deliveries ended in the last day, and how fast they end now.
  func write(activity answer: Result<JSONValue, ToldProblem>, _ html: inout HTML) {
    html.section("activity", texts[.activity], live: 10) { html in
      switch answer {
      case .failure(let problem): html.element("p", [.class("notice"), .data(.state, "failed")], problem.detail)
      case .success(let document):
        let figures = ActivityFigures(document)
        guard figures.total > 0 else { return html.element("p", [.class("empty")], texts[.noActivity]) }
        if !figures.rates.isEmpty {
          html.element("dl", [.class("figures")]) { html in
            for rate in figures.rates { html.fact(rate.provider, texts(.perSecond, texts.rate(rate.perSecond))) }
          }
        }
        BarChart(figures: figures).write(texts, &html)
      }
    }
  }

  /// Each credential with its state and its end.
  func write(credentials answer: Result<JSONValue, ToldProblem>, _ html: inout HTML) {
    html.section("credentials", texts[.credentials], live: 10) { html in
      guard case .success(let document) = answer else {
        if case .failure(let problem) = answer {
          html.element("p", [.class("notice"), .data(.state, "failed")], problem.detail)
        }
        return
      }
      let credentials = CredentialFigures.all(of: document)
      guard !credentials.isEmpty else { return html.element("p", [.class("empty")], texts[.noCredentials]) }
      html.table(
        labelledBy: "credentials-heading",
        [(texts[.credential], false), (texts[.state], false), (texts[.jobs], true), (texts[.expires], false)]
      ) { html in
        for credential in credentials {
          html.element("tr") { html in
            html.element("th", [.set(.scope, "row")], credential.name)
            html.element("td") { credential.writeState(texts, &$0) }
            html.number(texts.number(credential.jobs))
            html.element("td") { $0.time(credential.expiresAt) }
          }
        }
      }
      html.element("p") { $0.element("a", [.href(Link("operations"))], texts[.operations]) }
    }
  }
}

extension Texts {
  /// With one digit behind the mark below a hundred. What is not nothing is not shown as nothing.
  func rate(_ perSecond: Double) -> String {
    guard perSecond.isFinite, perSecond > 0 else { return "0" }
    let bounded = min(perSecond, 1e15)
    guard bounded < 100 else { return number(Int(bounded.rounded())) }
    let tenths = Int((bounded * 10).rounded())
    return tenths == 0 ? "< 0\(decimal)1" : "\(tenths / 10)\(decimal)\(tenths % 10)"
  }
}
