import Domain
import HTTPServer
import JSON
import Store

/// The lists that a message can be tried on.
struct TestListNames {
  var names: [String] = []
}

/// Writing a message: the form, what it would come to, and what its buttons do.
struct ComposePages: PageSet {
  let console: Console
  let visitor: Visitor

  /// `path`: with `compose`, `drafts` or `test-lists` first. Nil: there is no such page.
  func view(_ path: [String]) async -> HTTPServerResponse? {
    switch (path[0], path.count) {
    case ("compose", 1): await compose()
    case ("compose", 2) where path[1] == "tags": await suggestedTags()
    case ("drafts", 1): await DraftPages(console: console, visitor: visitor).list()
    case ("drafts", 2): await draft(path[1])
    case ("drafts", 3) where path[2] == "send": await SendPage(console: console, visitor: visitor).page(path[1])
    case ("test-lists", 1): await TestListPages(console: console, visitor: visitor).list()
    default: nil
    }
  }

  /// Nil: there is no such act.
  func act(_ path: [String]) async -> HTTPServerResponse? {
    switch (path[0], path.count) {
    case ("compose", 1): await composed()
    case ("compose", 2) where path[1] == "check": await checked()
    case ("drafts", 3): await DraftPages(console: console, visitor: visitor).act(path[1], path[2])
    case ("test-lists", 1): await TestListPages(console: console, visitor: visitor).keep()
    case ("test-lists", 2) where path[1] == "delete": await TestListPages(console: console, visitor: visitor).delete()
    default: nil
    }
  }

  /// An empty form. `?audience=` fills in whom it is for.
  func compose() async -> HTTPServerResponse {
    guard visitor.mayWrite else { return console.refusal(403, .noAuthor, visitor) }
    var form = ComposeForm()
    form.audience = visit.query("audience")
    return await page(form)
  }

  /// A draft, to go on with.
  func draft(_ id: String) async -> HTTPServerResponse {
    switch await visitor.get("v1", "drafts", id) {
    case .failure(let problem):
      return SendPage(console: console, visitor: visitor).sent(problem)
        ?? console.refusal(problem, visitor, section: .compose)
    case .success(let document):
      // Who may not write sees what it is, and what would be sent.
      guard visitor.mayWrite else { return await SendPage(console: console, visitor: visitor).page(id) }
      let form = ComposeForm(draft: document)
      let faults = visit.query("done") == "missing" ? form.faults(of: document["missing"]?.array ?? []) : []
      return await page(form, faults, check: await MessageCheckup(of: form, visitor))
    }
  }

  /// What somebody wrote before their session ended.
  func resumed() async -> HTTPServerResponse {
    guard visitor.mayWrite else { return console.refusal(403, .noAuthor, visitor) }
    return await page(
      ComposeForm(visit), [FieldFault(field: "", text: texts[.pressAgain])], isUnsaved: true)
  }

  /// What the buttons of the composer do. Whatever is refused, what was written stays in the form.
  func composed() async -> HTTPServerResponse {
    guard visitor.mayWrite else { return console.refusal(403, .noAuthor, visitor) }
    var form = ComposeForm(visit)
    let act = visit.field("act")
    guard act != "check" else {
      let check = await MessageCheckup(of: form, visitor)
      return await page(form, check.faults, isUnsaved: true, check: check)
    }
    let (body, faults) = form.draft(texts)
    guard faults.isEmpty else { return await page(form, faults, status: 422, isUnsaved: true) }
    if form.draft.isEmpty, let mark = Mark.given(visit), let token = visit.token {
      // A double click, or a page that was sent again, made its draft the first time.
      if case .success(false) = await spent(mark, token) { return console.redirect(Link("drafts")) }
    }
    let kept: JSONValue
    switch await keep(body, form) {
    case .failure(let problem):
      var faults = form.faults(of: problem)
      if problem.status == 404 || problem.code == "draft_sent", !form.draft.isEmpty {
        (form.draft, form.version) = ("", "")
        faults = [FieldFault(field: "", text: texts[.draftGone])]
      }
      if problem.status == 412, case .success(let there) = await visitor.get("v1", "drafts", form.draft) {
        // Who saves again has read this.
        form.version = there["version"]?.integer.map { String($0) } ?? form.version
        faults = [FieldFault(field: "", text: texts[.draftChanged])]
      }
      return await page(form, faults, status: problem.status, isUnsaved: true)
    case .success(let document): kept = document
    }
    form.draft = kept["id"]?.string ?? ""
    form.version = kept["version"]?.integer.map { String($0) } ?? ""
    switch act {
    case "continue":
      guard kept["missing"]?.array?.isEmpty != false else {
        return console.redirect(Link(parts: ["drafts", form.draft], query: [("done", "missing")]))
      }
      return console.redirect(Link("drafts", form.draft, "send"))
    case "test": return await test(form)
    default: return console.redirect(Link(parts: ["drafts", form.draft], query: [("done", "saved")]))
    }
  }

  private func keep(_ body: JSONValue, _ form: ComposeForm) async -> Result<JSONValue, ToldProblem> {
    guard !form.draft.isEmpty else { return await visitor.ask("POST", ["v1", "drafts"], body: body) }
    return await visitor.ask(
      "PUT", ["v1", "drafts", form.draft], body: body, headers: [Header("if-match", "\"\(form.version)\"")])
  }

  private func spent(_ mark: String, _ token: String) async -> Result<Bool, StoreError> {
    do throws(StoreError) { return .success(try await console.sessions.spend(mark, of: token)) } catch {
      return .failure(error)
    }
  }

  private func test(_ form: ComposeForm) async -> HTTPServerResponse {
    let list = visit.field("test_list")
    let body = JSONValue.object([JSONMember("lists", .array([.string(list)]))])
    switch await visitor.ask("POST", ["v1", "drafts", form.draft, "test"], body: body) {
    case .failure(let problem):
      return await page(form, form.faults(of: problem), status: problem.status)
    case .success(let answer):
      let ids = (answer["items"]?.array ?? []).compactMap { $0["id"]?.string }.prefix(ComposeForm.mostVariants)
      return console.redirect(
        Link(parts: ["drafts", form.draft], query: [("done", "tested")] + ids.map { ("test", $0) }))
    }
  }

  /// Of the script: whom it would reach, what providers would get, what is wrong, each under the id that it has in the page.
  func checked() async -> HTTPServerResponse {
    guard visitor.mayWrite else { return console.refusal(403, .noAuthor, visitor) }
    let form = ComposeForm(visit)
    let check = await MessageCheckup(of: form, visitor)
    return Frame.part(visitor) { html in
      check.writeFaults(texts, &html)
      check.writeReach(texts, &html)
      check.writeSentence(form, texts, &html)
      html.element("p") { check.writeButton(texts, &$0) }
      check.writeRequests(texts, &html)
    }
  }

  /// Of the script: tags that begin so.
  func suggestedTags() async -> HTTPServerResponse {
    let query = [("prefix", visit.query("prefix")), ("limit", "20")]
    let items: [JSONValue]
    switch await visitor.get("v1", "tags", query: query) {
    case .failure: items = []
    case .success(let page):
      items = (page["items"]?.array ?? []).map { tag in
        .object([
          JSONMember("tag", tag["tag"] ?? .null), JSONMember("devices", tag["device_count"] ?? .integer(0)),
        ])
      }
    }
    let headers = SafeHeaders.page(visit).filter { $0.name != "content-type" }
    return HTTPServerResponse(
      status: 200, headers: headers + [Header("content-type", "application/json")],
      body: JSONValue.object([JSONMember("items", .array(items))]).encoded)
  }

  // MARK: The page

  private func page(
    _ form: ComposeForm, _ faults: [FieldFault] = [], status: Int = 200, isUnsaved: Bool = false,
    check: MessageCheckup = MessageCheckup()
  ) async -> HTTPServerResponse {
    var lists = TestListNames()
    if case .success(let answer) = await visitor.get("v1", "test_lists") {
      lists.names = (answer["items"]?.array ?? []).compactMap { $0["name"]?.string }
    }
    let title = form.draft.isEmpty ? texts[.newMessage] : form.name.isEmpty ? texts[.untitled] : form.name
    return Frame.page(visitor, title: title, section: .compose, status: status) { html in
      html.crumbs([(texts[.drafts], Link("drafts"))], title, texts)
      html.head(title, texts, isLive: false) { html in
        // The first button is what Enter does: it sends nothing.
        html.element("div", [.class("actions")]) { html in
          html.element(
            "button", [.set(.form, "compose"), .set(.name, "act"), .set(.value, "save")], texts[.saveDraft])
          html.element("a", [.class("button"), .href(Link("drafts"))], texts[.drafts])
        }
      }
      FormFields(texts, faults).summary(faults, &html)
      done(&html)
      ComposePage(form, visitor, faults, check, lists).write(isUnsaved: isUnsaved, &html)
    }
  }

  private func done(_ html: inout HTML) {
    switch visit.query("done") {
    case "saved": html.element("p", [.class("notice"), .data(.state, "done"), .set(.role, "status")], texts[.saved])
    case "tested":
      html.element("p", [.class("notice"), .data(.state, "done"), .set(.role, "status")]) { html in
        html.text(texts[.tested])
        for (place, id) in visit.queries("test").prefix(ComposeForm.mostVariants).enumerated() {
          html.text(" ")
          html.element("a", [.href(Link("campaigns", id))], texts(.testNumber, String(place + 1)))
        }
      }
    default: break
    }
  }
}

extension Visitor {
  /// An author, or somebody who may send.
  var mayWrite: Bool { may(.drafts) || may(.send) }
}
