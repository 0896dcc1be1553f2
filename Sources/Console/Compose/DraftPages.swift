import Domain
import HTTPServer
import Store

/// Messages that are not sent yet.
struct DraftPages: PageSet {
  let console: Console
  let visitor: Visitor

  /// All drafts, newest first.
  func list() async -> HTTPServerResponse {
    let answer = await visitor.get("v1", "drafts")
    return Frame.page(visitor, title: texts[.drafts], section: .compose) { html in
      html.head(texts[.drafts], texts, isLive: false) { html in
        guard visitor.mayWrite else { return }
        html.element("div", [.class("actions")]) { html in
          html.element("a", [.class("button"), .href(Link("compose"))], texts[.newMessage])
          html.element("a", [.class("button"), .href(Link("test-lists"))], texts[.testLists])
        }
      }
      html.section("list", texts[.allDrafts]) { html in
        guard let drafts = html.items(of: answer) else { return }
        guard !drafts.isEmpty else { return html.element("p", [.class("empty")], texts[.noDrafts]) }
        html.table(
          labelledBy: "list-heading",
          [(texts[.name], false), (texts[.changed], false), (texts[.state], false), (texts[.whatYouCanDo], false)]
        ) { html in
          for draft in drafts { row(draft, &html) }
        }
      }
    }
  }

  private func row(_ draft: JSONValue, _ html: inout HTML) {
    let id = draft["id"]?.string ?? ""
    let name = draft["name"]?.string ?? texts[.untitled]
    html.element("tr") { html in
      html.element("th", [.set(.scope, "row")]) { $0.element("a", [.href(Link("drafts", id))], name) }
      html.element("td") { $0.time(draft["updated_at"]?.string) }
      html.element("td") { html in
        let (style, word): (String, Word) =
          draft["sending_as"] != nil
          ? ("running", .beingSent) : draft["approved_by"] != nil ? ("done", .approved) : ("waiting", .beingWritten)
        html.element("span", [.class("state"), .data(.state, style)], texts[word])
      }
      html.element("td") { html in
        html.element("a", [.href(Link("drafts", id, "send"))], texts[visitor.may(.send) ? .send : .review])
        guard visitor.mayWrite else { return }
        html.text(" ")
        Frame.form(visitor, Link("drafts", id, "duplicate"), &html) { html in
          html.element("button", [.set(.ariaLabel, texts(.duplicateNamed, name))], texts[.duplicate])
        }
        html.element("details", [.class("act")]) { html in
          html.element("summary", [.set(.ariaLabel, texts(.deleteNamed, name))], texts[.delete])
          Frame.form(visitor, Link("drafts", id, "delete"), &html) { html in
            html.element("p", texts[.deleteDraftLead])
            html.element("button", [.class("danger")], texts[.deleteForGood])
          }
        }
      }
    }
  }

  /// Sends or approves the version that was shown. Sending twice is sending once: the API answers the same message.
  func act(_ id: String, _ act: String) async -> HTTPServerResponse? {
    let match = [Header("if-match", "\"\(visit.field("version"))\"")]
    switch act {
    case "send":
      switch await visitor.ask("POST", ["v1", "drafts", id, "send"], headers: match) {
      case .success(let accepted):
        let message = accepted["id"]?.string ?? ""
        guard visitor.may(.read) else { return console.refusal(200, .acceptedOnly, visitor, message) }
        return console.redirect(Link("campaigns", message))
      case .failure(let problem): return await SendPage(console: console, visitor: visitor).page(id, refused: problem)
      }
    case "approve":
      switch await visitor.ask("POST", ["v1", "drafts", id, "approve"], headers: match) {
      case .success: return console.redirect(Link("drafts", id, "send"))
      case .failure(let problem): return await SendPage(console: console, visitor: visitor).page(id, refused: problem)
      }
    case "delete":
      switch await visitor.ask("DELETE", ["v1", "drafts", id]) {
      case .success: return console.redirect(Link("drafts"))
      case .failure(let problem): return console.refusal(problem, visitor, section: .compose)
      }
    case "duplicate":
      switch await visitor.ask("POST", ["v1", "drafts", id, "duplicate"]) {
      case .success(let copy): return console.redirect(Link("drafts", copy["id"]?.string ?? ""))
      case .failure(let problem): return console.refusal(problem, visitor, section: .compose)
      }
    default: return nil
    }
  }
}
