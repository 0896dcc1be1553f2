import Domain

/// Who did what.
struct AuditPanel {
  let texts: Texts

  func write(_ answer: Result<JSONValue, ToldProblem>, _ html: inout HTML) {
    html.section("audit", texts[.audit], live: 10) { html in
      guard let entries = html.items(of: answer) else { return }
      guard !entries.isEmpty else { return html.element("p", [.class("empty")], texts[.noAudit]) }
      html.element("p", [.class("quiet")], texts[.auditLead])
      html.table(
        labelledBy: "audit-heading",
        [
          (texts[.when], false), (texts[.who], false), (texts[.what], false), (texts[.object], false),
          (texts[.outcome], false),
        ]
      ) { html in
        for entry in entries {
          html.element("tr") { html in
            html.element("td") { $0.time(entry["ended_at"]?.string ?? entry["began_at"]?.string) }
            let who = [entry["key"]?.string ?? entry["user"]?.string, entry["address"]?.string]
            html.element("td", who.compactMap { $0 }.joined(separator: " · "))
            html.element("th", [.set(.scope, "row")], entry["operation"]?.string ?? "")
            html.element("td", entry["object"]?.string ?? entry["created_id"]?.string ?? "")
            html.element("td", entry["outcome"]?.string ?? "")
          }
        }
      }
    }
  }
}
