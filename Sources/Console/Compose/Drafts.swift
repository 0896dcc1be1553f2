import Domain
import HTTPServer
import Store

extension Console {
  /// All drafts, newest first.
  func drafts(_ visitor: Visitor) async -> HTTPServerResponse {
    let texts = visitor.texts
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
          for draft in drafts { row(draft, visitor, &html) }
        }
      }
    }
  }

  private func row(_ draft: JSONValue, _ visitor: Visitor, _ html: inout HTML) {
    let (texts, id) = (visitor.texts, draft["id"]?.string ?? "")
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
        html.element("a", [.href(Link("drafts", id, "send"))], texts[.send])
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

  /// The lists that a message can be tried on: a few people of the team.
  func testLists(_ visitor: Visitor, _ faults: [FieldFault] = []) async -> HTTPServerResponse {
    let (texts, visit) = (visitor.texts, visitor.visit)
    let answer = await visitor.get("v1", "test_lists")
    return Frame.page(visitor, title: texts[.testLists], section: .compose, status: faults.isEmpty ? 200 : 422) {
      html in
      html.crumbs([(texts[.drafts], Link("drafts"))], texts[.testLists], texts)
      html.element("h1", texts[.testLists])
      let fields = FormFields(texts, faults)
      fields.summary(faults, &html)
      html.section("lists", texts[.allTestLists]) { html in
        guard let lists = html.items(of: answer) else { return }
        guard !lists.isEmpty else { return html.element("p", [.class("empty")], texts[.noTestListsYet]) }
        html.table(
          labelledBy: "lists-heading",
          [(texts[.name], false), (texts[.users], false), (texts[.devices], false), (texts[.whatYouCanDo], false)]
        ) { html in
          for list in lists { self.list(list, visitor, &html) }
        }
      }
      guard visitor.may(.send) else { return }
      html.section("new", texts[.keepTestList]) { html in
        Frame.form(visitor, Link("test-lists"), &html) { html in
          fields.input(
            .init(
              name: "name", label: texts[.name], value: visit.field("name"),
              attributes: [.set(.maxLength, "64"), .set(.autocomplete, "off"), .flag(.required)]), &html)
          for (name, word) in [("users", Word.usersByLine), ("devices", .devicesByLine)] {
            fields.area(.init(name: name, label: texts[word], value: visit.field(name)), rows: 3, &html)
          }
          html.element("p", [.class("actions")]) { $0.element("button", [.class("primary")], texts[.keep]) }
        }
      }
    }
  }

  private func list(_ list: JSONValue, _ visitor: Visitor, _ html: inout HTML) {
    let (texts, name) = (visitor.texts, list["name"]?.string ?? "")
    html.element("tr") { html in
      html.element("th", [.set(.scope, "row")], name)
      for key in ["users", "devices"] {
        html.element("td", (list[key]?.array ?? []).prefix(20).compactMap(\.string).joined(separator: ", "))
      }
      html.element("td") { html in
        guard visitor.may(.send) else { return }
        Frame.form(visitor, Link("test-lists", "delete"), &html) { html in
          html.void("input", [.set(.type, "hidden"), .set(.name, "name"), .set(.value, name)])
          html.element("button", [.set(.ariaLabel, texts(.deleteNamed, name))], texts[.delete])
        }
      }
    }
  }

  /// Creates or replaces a list. Ids stand one on a line.
  func keepTestList(_ visitor: Visitor) async -> HTTPServerResponse {
    let visit = visitor.visit
    let name = visit.field("name").trimmed
    var members: [JSONMember] = []
    for key in ["users", "devices"] {
      members.set(
        key,
        strings: visit.field(key).split(whereSeparator: \.isNewline).map { String($0).trimmed }.filter { !$0.isEmpty })
    }
    switch await visitor.ask("PUT", ["v1", "test_lists", name], body: .object(members)) {
    case .success: return redirect(Link("test-lists"))
    case .failure(let problem):
      let faults = (problem.document?["violations"]?.array ?? []).prefix(40).map { violation in
        let place = violation["pointer"]?.string?.split(separator: "/").first.map(String.init) ?? "name"
        return FieldFault(
          field: ["users", "devices"].contains(place) ? place : "name", text: violation["detail"]?.string ?? "")
      }
      return await testLists(visitor, faults.isEmpty ? [FieldFault(field: "name", text: problem.detail)] : faults)
    }
  }

  func deleteTestList(_ visitor: Visitor) async -> HTTPServerResponse {
    switch await visitor.ask("DELETE", ["v1", "test_lists", visitor.visit.field("name")]) {
    case .success: return redirect(Link("test-lists"))
    case .failure(let problem): return refusal(problem, visitor, section: .compose)
    }
  }
}
