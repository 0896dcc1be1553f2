import API
import Domain
import HTTPServer
import Store

/// Who did what, filtered by what stands in the address.
struct AuditPage: PageSet {
  let console: Console
  let visitor: Visitor

  private static let filters = ["operation", "key", "object", "from", "to"]
  private static let perPage = "50"

  private var texts: Texts { visitor.texts }
  private var visit: Visit { visitor.visit }

  func page() async -> HTTPServerResponse {
    let kept = Self.filters.map { (name: $0, value: visit.query($0)) }.filter { !$0.value.isEmpty }
    let query = kept.map { (name: $0.name, value: Day.time($0.name, $0.value)) }
    let answer = await visitor.get(
      "v1", "audit", query: query + [("limit", Self.perPage), ("cursor", visit.query("cursor"))])
    var problem: ToldProblem?
    var names = KeyNames()
    if case .failure(let found) = answer {
      // What was typed stays, beside what is wrong with it; who may not look sees no filter.
      guard [400, 422].contains(found.status) else { return console.refusal(found, visitor, section: .operations) }
      problem = found
    } else {
      names = await KeyNames.known(to: visitor)
    }
    return Frame.page(
      visitor, title: texts[.audit], section: .operations, status: problem?.status ?? 200
    ) { html in
      html.crumbs([(texts[.operations], Link("operations"))], texts[.audit], texts)
      html.element("h1", texts[.audit])
      if let problem { html.refused(problem) }
      filter(problem, &html)
      guard case .success(let page) = answer else { return }
      let next = page["next_cursor"]?.string
      html.section("list", texts[.auditEntries]) { html in
        let entries = page["items"]?.array ?? []
        if entries.isEmpty {
          let word: Word = next != nil ? .auditGoesOn : kept.isEmpty ? .noAudit : .auditNone
          html.element("p", [.class("empty")], texts[word])
        } else {
          Self.table(entries, "list-heading", names, texts, &html)
        }
        html.pages(["audit"], kept, next, isFirst: visit.query("cursor").isEmpty, texts)
      }
    }
  }

  private func filter(_ problem: ToldProblem?, _ html: inout HTML) {
    html.element(
      "form", [.class("filters"), .set(.method, "get"), .action(Link("audit")), .set(.ariaLabel, texts[.filter])]
    ) { html in
      html.element("label") { html in
        html.text(texts[.what] + " ")
        let fault = problem?.fault(at: "operation")
        html.element("select", [.set(.name, "operation")] + Attribute.faulty("operation", fault)) { html in
          html.element("option", [.set(.value, "")], texts[.anyValue])
          let chosen = visit.query("operation")
          for name in Service.auditedOperations + (Service.auditedOperations.contains(chosen) ? [] : [chosen])
          where !name.isEmpty {
            let shown = OperationWords.all[name].map { texts[$0] + " · " + name } ?? name
            html.element("option", [.set(.value, name), .flag(.selected, name == chosen)], shown)
          }
        }
        html.fault(of: "operation", fault)
      }
      for (name, word, type) in [
        ("key", Word.auditKey, "search"), ("object", .object, "search"), ("from", .from, "date"), ("to", .to, "date"),
      ] {
        html.element("label") { html in
          html.text(texts[word] + " ")
          let fault = problem?.fault(at: name)
          html.void(
            "input",
            [.set(.type, type), .set(.name, name), .set(.value, visit.query(name)), .set(.maxLength, "300")]
              + Attribute.faulty(name, fault))
          html.fault(of: name, fault)
        }
      }
      html.element("button", [.class("primary")], texts[.apply])
      html.element("a", [.class("button"), .href(Link("audit"))], texts[.clear])
    }
  }
}

/// Days of forms, in UTC, as times of the API.
enum Day {
  private static let milliseconds: Int64 = 86_400_000

  /// `from` is a day's beginning, `to` its end. What is no day is handed on as it is: the API says what is wrong with it.
  static func time(_ name: String, _ value: String) -> String {
    guard ["from", "to"].contains(name), value.utf8.count == 10 else { return value }
    let start = value + "T00:00:00Z"
    guard name == "to", let day = WallTime(rfc3339: start) else { return start }
    return WallTime(milliseconds: day.milliseconds &+ milliseconds).rfc3339
  }
}

/// What the outcomes of acts are called.
enum AuditWords {
  static let all: [String: Word] = [
    "done": .actDone, "refused": .actRefused, "failed": .actFailed, "begun": .actBegun, "unknown": .actUnknown,
  ]
  private static let styles = [
    "done": "done", "refused": "cancelled", "failed": "failed", "begun": "running", "unknown": "blocked",
  ]
  static func style(_ outcome: String) -> String { styles[outcome] ?? "waiting" }
}

extension AuditPage {
  /// Entries of the audit trail, a line each.
  static func table(
    _ entries: [JSONValue], _ heading: String, _ names: KeyNames, _ texts: Texts, _ html: inout HTML
  ) {
    html.table(
      labelledBy: heading,
      [
        (texts[.when], false), (texts[.who], false), (texts[.what], false), (texts[.object], false),
        (texts[.outcome], false),
      ]
    ) { html in
      for entry in entries {
        html.element("tr") { html in
          html.element("td") { $0.time(entry["ended_at"]?.string ?? entry["began_at"]?.string) }
          html.element("td") { who(entry, names, &$0) }
          html.element("th", [.set(.scope, "row")]) { html in
            let operation = entry["operation"]?.string ?? ""
            html.text(texts.word(OperationWords.all, operation))
            if OperationWords.all[operation] != nil { html.element("p") { $0.element("code", operation) } }
          }
          html.element("td") { html in
            html.text(entry["object"]?.string ?? entry["created_id"]?.string ?? "")
            if let query = entry["query"]?.string, !query.isEmpty { html.element("p") { $0.element("code", query) } }
          }
          html.element("td") { html in
            let outcome = entry["outcome"]?.string ?? ""
            html.element(
              "span", [.class("state"), .data(.state, AuditWords.style(outcome))], texts.word(AuditWords.all, outcome))
            if let code = entry["code"]?.string { html.element("p") { $0.element("code", code) } }
          }
        }
      }
    }
  }

  /// A key by its name, with its id beside it.
  private static func who(_ entry: JSONValue, _ names: KeyNames, _ html: inout HTML) {
    let (id, address) = (entry["key"]?.string, entry["address"]?.string)
    if let id, let name = names.name(of: id) {
      html.text([name, address].compactMap { $0 }.joined(separator: " · "))
      html.element("p") { $0.element("code", id) }
    } else {
      html.text([id ?? entry["user"]?.string, address].compactMap { $0 }.joined(separator: " · "))
    }
  }
}
