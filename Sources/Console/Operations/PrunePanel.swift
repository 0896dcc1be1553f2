import Domain

/// Tokens that wait to be removed, until somebody decides.
struct PrunePanel {
  let visitor: Visitor

  func write(_ answer: Result<JSONValue, ToldProblem>, _ html: inout HTML) {
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
}
