import Domain
import HTTPServer
import Store

/// Named audiences, tags, and expressions that somebody tries.
struct AudiencePages: PageSet {
  let console: Console
  let visitor: Visitor

  /// Nil: there is no such page.
  func view(_ path: [String]) async -> HTTPServerResponse? {
    switch (path[0], path.count) {
    case ("audiences", 1) where visit.query("format") == "csv": await file("audiences")
    case ("audiences", 1): await list()
    case ("audiences", 2): await audience(path[1])
    case ("tags", 1) where visit.query("format") == "csv": await file("tags")
    case ("tags", 1): await tags()
    default: nil
    }
  }

  /// Nil: there is no such act.
  func act(_ path: [String]) async -> HTTPServerResponse? {
    switch path.count {
    case 1: await save()
    case 3 where path[2] == "delete": await delete(path[1])
    default: nil
    }
  }

  private func file(_ list: String) async -> HTTPServerResponse {
    let query = [(name: "format", value: "csv"), (name: "prefix", value: list == "tags" ? visit.query("prefix") : "")]
    return await console.download(
      ["v1", list], query: query, filename: "\(list).csv", visitor, section: .audiences)
  }

  // MARK: All

  /// What was typed into the form, and why it was not taken.
  struct Typed {
    var name = ""
    var expression = ""
    var faults: [Fault] = []
    var status = 200
    /// What the visitor is to know though it was done.
    var notices: [String] = []
    /// What was done.
    var done: String?
    /// The expression that it replaced, whoever wrote it; nil: none, or the same.
    var before: String?
  }

  struct Fault {
    var field: StaticString
    var detail: String
    /// In the expression, from 1.
    var column: Int?
  }

  /// The list, the form to try an expression and the one to name it. What is tried stands in the address.
  func list(_ typed: Typed? = nil) async -> HTTPServerResponse {
    let all: [JSONValue]
    switch await visitor.get("v1", "audiences") {
    case .failure(let problem): return console.refusal(problem, visitor, section: .audiences)
    case .success(let page): all = page["items"]?.array ?? []
    }
    let tried = visit.request.method == "GET" ? visit.query("expression") : ""
    let count = tried.isEmpty ? nil : await AudienceReach.ask(tried, visitor)
    let typed = typed ?? Typed(expression: tried)
    return Frame.page(visitor, title: texts[.audiences], section: .audiences, status: typed.status) { html in
      html.element("div", [.class("head")]) { html in
        html.element("h1", texts[.audiences])
        html.element("div", [.class("actions")]) { html in
          html.element("a", [.class("button"), .href(Link("tags"))], texts[.tags])
          if visitor.may(.devices) {
            html.element("a", [.class("button"), .href(Link("import"))], texts[.importDevices])
          }
        }
      }
      done(typed, &html)
      errors(typed, &html)
      html.section("try", texts[.tryExpression]) { html in
        tryForm(tried, &html)
        if let count { AudienceReach.show(count, of: tried, texts, &html) }
      }
      html.section("list", texts[.namedAudiences]) { html in
        names(all, &html)
      }
      if visitor.may(.admin) {
        html.section("new", texts[.nameAudience]) { form(typed, replaces: nil, &$0) }
      }
    }
  }

  private func names(_ all: [JSONValue], _ html: inout HTML) {
    guard !all.isEmpty else {
      html.element("p", [.class("empty")], texts[.audiencesNone])
      return
    }
    html.table(labelledBy: "list-heading", [(texts[.name], false), (texts[.expression], false)]) { html in
      for audience in all {
        let name = audience["name"]?.string ?? ""
        html.element("tr") { html in
          html.element("th", [.set(.scope, "row")]) { $0.element("a", [.href(Link("audiences", name))], name) }
          html.element("td") { $0.element("code", Self.shortened(audience["audience"]?.string ?? "")) }
        }
      }
    }
    if visitor.may(.export) {
      html.element("p", [.class("actions")]) { html in
        html.element(
          "a", [.class("button"), .href(Link("audiences", query: [("format", "csv")]))], texts[.downloadCSV])
      }
    }
  }

  private static func shortened(_ text: String) -> String {
    text.utf8.count > 400 ? String(text.prefix(300)) + "…" : text
  }

  private func tryForm(_ tried: String, _ html: inout HTML) {
    html.element("form", [.set(.method, "get"), .action(Link("audiences"))]) { html in
      html.element("p", [.class("field")]) { html in
        html.element("label", [.set(.for, "try-expression")], texts[.expression])
        html.element("span", [.class("hint"), .id("try-hint")], texts[.expressionHint])
        html.element(
          "textarea",
          [
            .id("try-expression"), .set(.name, "expression"), .set(.rows, "2"), .set(.maxLength, "4000"),
            .set(.spellcheck, "false"), .set(.ariaDescribedBy, "try-hint"), .flag(.required),
          ], tried)
      }
      html.element("p", [.class("actions")]) { $0.element("button", [.class("primary")], texts[.countButton]) }
    }
  }

  // MARK: One

  func audience(_ name: String, _ typed: Typed? = nil) async -> HTTPServerResponse {
    let expression: String
    switch await visitor.get("v1", "audiences", name) {
    case .failure(let problem): return console.refusal(problem, visitor, section: .audiences)
    case .success(let found): expression = found["audience"]?.string ?? ""
    }
    let count = await AudienceReach.ask(expression, visitor)
    var shown = typed ?? Typed(name: name, expression: expression)
    shown.name = name
    if typed == nil, visit.query("saved") == "1" { shown.done = texts[.audienceSaved] }
    let isWrong = visit.query(Confirmation.field) == Confirmation.wrong
    return Frame.page(visitor, title: name, section: .audiences, status: shown.status) { html in
      html.crumbs([(texts[.audiences], Link("audiences"))], name, texts)
      html.element("div", [.class("head")]) { html in
        html.element("h1", name)
        html.element("div", [.class("actions")]) { html in
          html.element(
            "a", [.class("button"), .href(Link("campaigns", query: [("audience", "audience:" + name)]))],
            texts[.campaignsOfAudience])
        }
      }
      done(shown, &html)
      errors(shown, &html)
      if isWrong { html.wrongName(texts[.audienceDeleteWrong]) }
      html.section("reach", texts[.whoIsInIt]) { html in
        html.element("p") { $0.element("code", expression) }
        AudienceReach.show(count, of: expression, texts, &html)
      }
      if visitor.may(.admin) {
        html.section("change", texts[.audienceChange]) { form(shown, replaces: name, &$0) }
        html.section("remove", texts[.whatYouCanDo]) { deletion(of: name, isWrong, &$0) }
      }
    }
  }

  private func deletion(of name: String, _ isWrong: Bool, _ html: inout HTML) {
    html.destroy(
      visitor, "confirm", Link("audiences", name, "delete"), texts[.audienceDelete], lead: texts[.audienceDeleteLead],
      name: name, button: texts[.audienceDeleteButton], isWrong: isWrong)
  }

  // MARK: Acts

  /// Creates, or replaces the one that the form was made for: a name that is taken meanwhile is not overwritten.
  private func save() async -> HTTPServerResponse {
    let replaced = visit.field("replaces")
    var typed = Typed(
      name: replaced.isEmpty ? visit.field("name") : replaced,
      expression: visit.field("expression"))
    func again() async -> HTTPServerResponse {
      typed.status = 422
      return replaced.isEmpty ? await list(typed) : await audience(replaced, typed)
    }
    guard !typed.name.isEmpty else {
      typed.faults = [Fault(field: "name", detail: texts[.audienceNameHint])]
      return await again()
    }
    if case .success(let present) = await visitor.get("v1", "audiences", typed.name) {
      guard !replaced.isEmpty else {
        typed.faults = [Fault(field: "name", detail: texts(.audienceTaken, typed.name))]
        return await again()
      }
      typed.before = present["audience"]?.string
    }
    let body = JSONValue.object([JSONMember("audience", .string(typed.expression))])
    switch await visitor.ask("PUT", ["v1", "audiences", typed.name], body: body) {
    case .failure(let problem):
      guard problem.isAbsence else { return console.refusal(problem, visitor, section: .audiences) }
      typed.faults = Self.faults(of: problem)
      return await again()
    case .success(let answer):
      let notices = (answer["warnings"]?.array ?? []).compactMap { $0["detail"]?.string }
      // A browser sends each line end as two.
      if typed.before == typed.expression.replacing("\r\n", with: "\n") { typed.before = nil }
      guard !notices.isEmpty || typed.before != nil else {
        return console.redirect(Link(parts: ["audiences", typed.name], query: [("saved", "1")]))
      }
      (typed.notices, typed.done) = (notices, texts[.audienceSaved])
      return await audience(typed.name, typed)
    }
  }

  private static func faults(of problem: ToldProblem) -> [Fault] {
    let violations = problem.document?["violations"]?.array ?? []
    guard !violations.isEmpty else { return [Fault(field: "name", detail: problem.detail)] }
    return violations.prefix(20).map { violation in
      Fault(
        field: "expression", detail: violation["detail"]?.string ?? problem.detail,
        column: violation["column"]?.integer.map { Int(clamping: $0) })
    }
  }

  private func delete(_ name: String) async -> HTTPServerResponse {
    guard Confirmation.holds(visit.field(Confirmation.field), name) else {
      return console.redirect(Link(parts: ["audiences", name], query: [(Confirmation.field, Confirmation.wrong)]))
    }
    switch await visitor.ask("DELETE", ["v1", "audiences", name]) {
    case .failure(let problem): return console.refusal(problem, visitor, section: .audiences)
    case .success(let answer):
      let notices = (answer["warnings"]?.array ?? []).compactMap { $0["detail"]?.string }
      guard !notices.isEmpty else { return console.redirect(Link("audiences")) }
      return await list(Typed(notices: notices, done: texts(.audienceDeleted, name)))
    }
  }

  // MARK: Parts

  private func form(_ typed: Typed, replaces name: String?, _ html: inout HTML) {
    Frame.form(visitor, Link("audiences"), &html) { html in
      if let name {
        html.void("input", [.set(.type, "hidden"), .set(.name, "replaces"), .set(.value, name)])
      } else {
        let faults = typed.faults.filter { $0.field.description == "name" }
        html.element("p", [.class("field")]) { html in
          html.element("label", [.set(.for, "name")], texts[.name])
          html.element(
            "span", [.class(faults.isEmpty ? "hint" : "error"), .id("name-hint")],
            faults.first?.detail ?? texts[.audienceNameHint])
          html.void(
            "input",
            [
              .id("name"), .set(.name, "name"), .set(.value, typed.name), .set(.maxLength, "64"),
              .set(.autocomplete, "off"), .set(.spellcheck, "false"), .flag(.required),
              .set(.ariaDescribedBy, "name-hint"), .set(.ariaInvalid, faults.isEmpty ? "false" : "true"),
            ])
        }
      }
      let faults = typed.faults.filter { $0.field.description == "expression" }
      html.element("p", [.class("field")]) { html in
        html.element("label", [.set(.for, "expression")], texts[.expression])
        html.element(
          "span", [.class(faults.isEmpty ? "hint" : "error"), .id("expression-hint")],
          faults.first?.detail ?? texts[.expressionHint])
        html.element(
          "textarea",
          [
            .id("expression"), .set(.name, "expression"), .set(.rows, "3"), .set(.maxLength, "65536"),
            .set(.spellcheck, "false"), .flag(.required), .set(.ariaDescribedBy, "expression-hint"),
            .set(.ariaInvalid, faults.isEmpty ? "false" : "true"),
          ], typed.expression)
      }
      html.element("p", [.class("actions")]) { $0.element("button", [.class("primary")], texts[.save]) }
    }
  }

  private func done(_ typed: Typed, _ html: inout HTML) {
    guard let done = typed.done else { return }
    html.element("div", [.class("notice"), .data(.state, "done"), .set(.role, "status")]) { html in
      html.element("p", done)
      for notice in typed.notices { html.element("p", notice) }
      guard let before = typed.before else { return }
      html.element("p") { html in
        html.text(texts[.audienceBefore] + " ")
        html.element("code", Self.shortened(before))
      }
      Frame.form(visitor, Link("audiences"), &html) { html in
        html.hidden("replaces", typed.name)
        html.hidden("expression", before)
        html.element("button", texts[.audienceUndo])
      }
    }
  }

  private func errors(_ typed: Typed, _ html: inout HTML) {
    guard !typed.faults.isEmpty else { return }
    html.element(
      "section",
      [.class("errors"), .set(.tabIndex, "-1"), .flag(.autofocus), .set(.ariaLabelledBy, "errors-heading")]
    ) { html in
      html.element("h2", [.id("errors-heading")], texts[.notSaved])
      html.element("ul") { html in
        for fault in typed.faults {
          html.element("li") { html in
            let link = fault.field.description == "name" ? Link(fragment: "name") : Link(fragment: "expression")
            html.element("a", [.href(link)]) { $0.told(fault.detail) }
            if let column = fault.column { ExpressionFault.show(typed.expression, column, &html) }
          }
        }
      }
    }
  }
}
