import Domain

/// Who did what.
struct AuditPanel {
  let texts: Texts
  var names = KeyNames()

  func write(_ answer: Result<JSONValue, ToldProblem>, _ html: inout HTML) {
    html.section("audit", texts[.audit], live: 10) { html in
      guard let entries = html.items(of: answer) else { return }
      guard !entries.isEmpty else { return html.element("p", [.class("empty")], texts[.noAudit]) }
      html.element("p", [.class("quiet")], texts[.auditLead])
      AuditPage.table(entries, "audit-heading", names, texts, &html)
      html.element("p") { $0.element("a", [.href(Link("audit"))], texts[.auditAll]) }
    }
  }
}
