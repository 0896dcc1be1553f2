import Domain

/// What waits, and for which credential.
struct QueuePanel {
  let texts: Texts

  func write(queue status: JSONValue, _ html: inout HTML) {
    let queue = status["queue"]
    func number(_ name: String) -> String? {
      queue?[name]?.integer.map { texts.number(max(0, Int(clamping: $0))) }
    }
    html.section("queue", texts[.queue], live: 5) { html in
      html.element("dl", [.class("figures")]) { html in
        html.fact(texts[.jobs], number("jobs") ?? "0")
        if let oldest = queue?["oldest_at"]?.string { html.fact(texts[.oldest]) { $0.time(oldest) } }
        html.fact(texts[.retries], number("retries"))
        html.fact(texts[.quarantined], number("quarantined"))
      }
      html.element("p", [.class("quiet")], texts[.queueLead])
    }
  }

  func write(credentials status: JSONValue, _ html: inout HTML) {
    let credentials = CredentialFigures.all(of: status)
    html.section("credentials", texts[.credentials], live: 5) { html in
      guard !credentials.isEmpty else { return html.element("p", [.class("empty")], texts[.noCredentials]) }
      html.table(
        labelledBy: "credentials-heading",
        [
          (texts[.credential], false), (texts[.state], false), (texts[.connections], true), (texts[.atWork], true),
          (texts[.jobs], true), (texts[.oldest], false), (texts[.nextTry], false), (texts[.expires], false),
        ]
      ) { html in
        for credential in credentials { line(credential, &html) }
      }
    }
  }

  private func line(_ credential: CredentialFigures, _ html: inout HTML) {
    html.element("tr") { html in
      html.element("th", [.set(.scope, "row")]) { html in
        html.text(credential.name)
        if let kind = credential.kind { html.element("p", [.class("quiet small")], kind) }
      }
      html.element("td") { html in
        credential.writeState(texts, &html)
        if let reason = credential.reason { html.element("p", [.class("small")], reason) }
        if let fix = credential.condition?.fix { html.element("p", [.class("quiet small")], texts[fix]) }
      }
      html.number(texts.number(credential.connections))
      html.number(texts(.ofWhole, texts.number(credential.atWork), texts.number(credential.limit)))
      html.number(texts.number(credential.jobs))
      html.element("td") { $0.time(credential.oldest) }
      html.element("td") { $0.time(credential.nextTry) }
      html.element("td") { html in
        html.time(credential.expiresAt)
        if let expiry = credential.expiry { html.element("p", [.class("small")], expiry) }
      }
    }
  }
}
