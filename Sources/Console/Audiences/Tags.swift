import Domain
import HTTPServer
import Store

extension AudiencePages {
  private static let atOnce = "100"

  /// Tags in use, with counts: a page of them, as an app may have a million.
  func tags() async -> HTTPServerResponse {
    let prefix = visit.query("prefix")
    let query = [("prefix", prefix), ("cursor", visit.query("cursor")), ("limit", Self.atOnce)]
    let page: JSONValue
    switch await visitor.get("v1", "tags", query: query.map { (name: $0.0, value: $0.1) }) {
    case .failure(let problem): return console.refusal(problem, visitor, section: .audiences)
    case .success(let found): page = found
    }
    let tags = page["items"]?.array ?? []
    return Frame.page(visitor, title: texts[.tags], section: .audiences) { html in
      html.crumbs([(texts[.audiences], Link("audiences"))], texts[.tags], texts)
      html.element("h1", texts[.tags])
      html.element(
        "form", [.class("filters"), .set(.method, "get"), .action(Link("tags")), .set(.ariaLabel, texts[.filter])]
      ) { html in
        html.element("label") { html in
          html.text(texts[.tagPrefix] + " ")
          html.void(
            "input", [.set(.type, "search"), .set(.name, "prefix"), .set(.value, prefix), .set(.maxLength, "300")])
        }
        html.element("button", [.class("primary")], texts[.apply])
        if !prefix.isEmpty { html.element("a", [.class("button"), .href(Link("tags"))], texts[.clear]) }
      }
      html.section("list", texts[.tagsInUse]) { html in
        if tags.isEmpty, page["next_cursor"]?.string == nil {
          html.element("p", [.class("empty")], prefix.isEmpty ? texts[.tagsNone] : texts(.tagsNoneOf, prefix))
        } else {
          table(of: tags, &html)
        }
        pages(page["next_cursor"]?.string, prefix, &html)
      }
      if visitor.may(.export), !tags.isEmpty {
        let link = Link("tags", query: [("format", "csv")] + (prefix.isEmpty ? [] : [("prefix", prefix)]))
        html.element("p", [.class("actions")]) {
          $0.element("a", [.class("button"), .href(link)], texts[.downloadCSV])
        }
      }
    }
  }

  private func table(of tags: [JSONValue], _ html: inout HTML) {
    html.table(labelledBy: "list-heading", [(texts[.tag], false), (texts[.count], true), (texts[.campaigns], false)]) {
      html in
      for item in tags {
        let tag = item["tag"]?.string ?? ""
        let expression = Self.expression(of: tag)
        html.element("tr") { html in
          html.element("th", [.set(.scope, "row")]) { html in
            html.element("a", [.href(Link("audiences", query: [("expression", expression)]))], tag)
          }
          html.number(texts.number(Int(clamping: item["device_count"]?.integer ?? 0)))
          html.element("td") { html in
            html.element("a", [.href(Link("campaigns", query: [("audience", expression)]))]) { html in
              html.text(texts[.campaignsOfTag])
              html.element("span", [.class("hidden")], " " + tag)
            }
          }
        }
      }
    }
  }

  /// A literal tag: it may begin with a word of the language of expressions.
  static func expression(of tag: String) -> String {
    "\"" + tag.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  private func pages(_ cursor: String?, _ prefix: String, _ html: inout HTML) {
    guard cursor != nil || !visit.query("cursor").isEmpty else { return }
    let kept = prefix.isEmpty ? [] : [(name: "prefix", value: prefix)]
    html.element("nav", [.class("pages"), .set(.ariaLabel, texts[.tags])]) { html in
      if !visit.query("cursor").isEmpty {
        html.element("a", [.class("button"), .href(Link("tags", query: kept))], texts[.tagsFirst])
      }
      if let cursor {
        let link = Link("tags", query: kept + [("cursor", cursor)])
        html.element("a", [.class("button"), .href(link), .set(.rel, "next")], texts[.tagsNext])
      }
    }
  }
}
