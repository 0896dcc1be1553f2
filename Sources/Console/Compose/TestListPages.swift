import Domain
import HTTPServer
import Store

/// The lists that a message can be tried on: a few people of the team.
struct TestListPages: PageSet {
  let console: Console
  let visitor: Visitor

  func list(_ faults: [FieldFault] = []) async -> HTTPServerResponse {
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
          for list in lists { row(list, &html) }
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

  private func row(_ list: JSONValue, _ html: inout HTML) {
    let name = list["name"]?.string ?? ""
    html.element("tr") { html in
      html.element("th", [.set(.scope, "row")], name)
      for key in ["users", "devices"] {
        html.element("td", (list[key]?.array ?? []).prefix(20).compactMap(\.string).joined(separator: ", "))
      }
      html.element("td") { html in
        guard visitor.may(.send) else { return }
        html.element("details", [.class("act")]) { html in
          html.element("summary", [.set(.ariaLabel, texts(.deleteNamed, name))], texts[.delete])
          Frame.form(visitor, Link("test-lists", "delete"), &html) { html in
            html.void("input", [.set(.type, "hidden"), .set(.name, "name"), .set(.value, name)])
            html.element("p", texts[.deleteListLead])
            html.element("button", [.class("danger")], texts[.deleteForGood])
          }
        }
      }
    }
  }

  /// Creates or replaces a list. Ids stand one on a line.
  func keep() async -> HTTPServerResponse {
    let name = visit.field("name").trimmed
    var members: [JSONMember] = []
    for key in ["users", "devices"] {
      members.set(
        key,
        strings: visit.field(key).split(whereSeparator: \.isNewline).map { String($0).trimmed }.filter { !$0.isEmpty })
    }
    switch await visitor.ask("PUT", ["v1", "test_lists", name], body: .object(members)) {
    case .success: return console.redirect(Link("test-lists"))
    case .failure(let problem):
      let faults = (problem.document?["violations"]?.array ?? []).prefix(40).map { violation in
        let place = violation["pointer"]?.string?.split(separator: "/").first.map(String.init) ?? "name"
        return FieldFault(
          field: ["users", "devices"].contains(place) ? place : "name", text: violation["detail"]?.string ?? "")
      }
      return await list(faults.isEmpty ? [FieldFault(field: "name", text: problem.detail)] : faults)
    }
  }

  func delete() async -> HTTPServerResponse {
    switch await visitor.ask("DELETE", ["v1", "test_lists", visit.field("name")]) {
    case .success: return console.redirect(Link("test-lists"))
    case .failure(let problem): return console.refusal(problem, visitor, section: .compose)
    }
  }
}
