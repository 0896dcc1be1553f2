import API
import Domain
import HTTPServer
import Store

/// A user or a device, and what became of each message: "why did she not get it?" in one view.
struct PeoplePages: PageSet {
  let console: Console
  let visitor: Visitor

  /// Nil: there is no such page.
  func view(_ path: [String]) async -> HTTPServerResponse? {
    switch (path.first, path.count) {
    case ("people", 1): await people()
    case ("devices", 2): await DevicePages(console: console, visitor: visitor).page(path[1])
    default: nil
    }
  }

  /// Nil: there is no such act.
  func act(_ path: [String]) async -> HTTPServerResponse? {
    let devices = DevicePages(console: console, visitor: visitor)
    return switch (path.first, path.count, path.last) {
    case ("people", 1, _): await find()
    case ("people", 2, "tags"): await changeTags()
    case ("people", 2, "delete"): await delete()
    case ("devices", 3, "tags"): await devices.changeTags(path[1])
    case ("devices", 3, "delete"): await devices.delete(path[1])
    default: nil
    }
  }

  static func person(_ user: String, _ more: [(name: String, value: String)] = []) -> Link {
    Link(parts: ["people"], query: [("q", user)] + more)
  }

  // MARK: Search

  private func people() async -> HTTPServerResponse {
    let wanted = visit.query("q")
    guard !wanted.isEmpty else { return search() }
    // What the API means something else by is nobody's id.
    guard !Router.words.contains(wanted) else { return nobody(wanted) }
    if wanted.hasPrefix("msg_") { return console.redirect(Link("campaigns", wanted)) }
    switch await visitor.get("v1", "users", wanted) {
    case .success(let user): return await person(user)
    case .failure(let problem) where !problem.isAbsence:
      return console.refusal(problem, visitor, section: .people)
    case .failure: break
    }
    switch await visitor.get("v1", "devices", wanted) {
    case .success: return console.redirect(Link("devices", wanted))
    case .failure(let problem) where !problem.isAbsence:
      return console.refusal(problem, visitor, section: .people)
    case .failure: return nobody(wanted)
    }
  }

  private func search(refused: ToldProblem? = nil, none: Bool = false) -> HTTPServerResponse {
    let page = Frame.page(
      visitor, title: texts[.people], section: .people, status: refused?.status ?? (none ? 404 : 200)
    ) { html in
      html.element("h1", texts[.people])
      if let refused { html.refused(refused) }
      let deleted = visit.query("deleted")
      if let count = Whole.read(deleted, in: 0...1_000_000) {
        html.element("p", [.class("notice"), .data(.state, "done"), .set(.role, "status")]) { html in
          html.text(texts(.devicesDeleted, texts.number(count)))
        }
      }
      if none {
        html.element("p", [.class("notice"), .data(.state, "failed"), .set(.role, "status")], texts[.tokenUnknown])
      }
      html.section("by-id", texts[.searchByID]) { html in
        html.element("p", texts[.peopleLead])
        html.element("form", [.set(.method, "get"), .action(Link("people"))]) { html in
          html.field(
            "q", texts[.searchHint], [.set(.type, "search"), .set(.maxLength, "300"), .flag(.required)])
          html.element("p", [.class("actions")]) { $0.element("button", texts[.searchButton]) }
        }
      }
      html.section("by-token", texts[.searchByToken]) { html in tokenForm(refused, &html) }
    }
    return page.adding(refused?.again ?? [])
  }

  private static let providers = ["apns", "fcm", "onesignal", "webpush"]

  /// A POST, although it changes nothing: addresses are kept by browsers and proxies, and a token is as good as a key to
  /// one device.
  private func tokenForm(_ refused: ToldProblem?, _ html: inout HTML) {
    Frame.form(visitor, Link("people"), &html) { html in
      html.element("p", [.class("field")]) { html in
        html.element("label", [.set(.for, "provider")], texts[.provider])
        let fault = refused?.fault(at: "provider")
        html.fault(of: "provider", fault)
        html.element(
          "select", [.id("provider"), .set(.name, "provider")] + Attribute.faulty("provider", fault)
        ) { html in
          for name in Self.providers {
            html.element(
              "option", [.set(.value, name), .flag(.selected, visit.field("provider") == name)], name)
          }
        }
      }
      html.field(
        "token", texts[.token], [.set(.autocomplete, "off"), .set(.maxLength, "4096"), .flag(.required)],
        hint: texts[.tokenHint], fault: refused?.fault(at: "token"))
      html.element("p", [.class("actions")]) { $0.element("button", texts[.searchButton]) }
    }
  }

  /// By a token: leads to the device that holds it.
  private func find() async -> HTTPServerResponse {
    let query = [
      (name: "provider", value: visit.field("provider")),
      ("token", visit.field("token").trimmed), ("limit", "10"),
    ]
    switch await visitor.ask("GET", ["v1", "devices"], query: query) {
    case .failure(let problem): return search(refused: problem)
    case .success(let page):
      guard let id = page["items"]?.array?.first?["id"]?.string else { return search(none: true) }
      return console.redirect(Link("devices", id))
    }
  }

  func nobody(_ wanted: String) -> HTTPServerResponse {
    Frame.page(visitor, title: texts[.people], section: .people, status: 404) { html in
      html.element("h1", texts(.nobody, wanted))
      html.element("p", [.class("empty")], texts[.nobodyFix])
      html.element("p") { $0.element("a", [.href(Link("people"))], texts[.searchByToken]) }
    }
  }

  // MARK: A user

  private func person(_ user: JSONValue, refused: ToldProblem? = nil) async -> HTTPServerResponse {
    let name = user["user"]?.string ?? ""
    let devices = user["devices"]?.array ?? []
    let timeline = await UserTimeline(of: devices, visitor)
    let isWrong = visit.query(Confirmation.field) == Confirmation.wrong
    let page = Frame.page(
      visitor, title: texts(.personTitle, name), section: .people, status: refused?.status ?? 200
    ) { html in
      html.crumbs([(texts[.people], Link("people"))], name, texts)
      html.element("h1", texts(.personTitle, name))
      if let refused { html.refused(refused) }
      if isWrong { html.wrongName(texts[.notTheName]) }
      let tags = Self.texts(user["tags"])
      let forms = TagForms(visitor: visitor, action: Link("people", "tags"), user: name)
      forms.undo(tags, &html)
      html.section("devices", texts[.devices]) { table(devices, &$0) }
      if !devices.isEmpty { timeline.write(texts, &html) }
      html.section("tags", texts[.userTags]) { html in
        html.element("p", [.class("quiet")], texts[.userTagsLead])
        forms.list(tags, &html)
      }
      guard visitor.may(.devices) else { return }
      html.section("control", texts[.whatYouCanDo]) { html in
        html.destroy(
          visitor, "confirm", Link("people", "delete"), texts[.userDelete],
          lead: texts(.userDeleteLead, texts.number(devices.count)), name: name, button: texts[.deleteButton],
          isWrong: isWrong, hidden: [("user", name)])
      }
    }
    return page.adding(refused?.again ?? [])
  }

  private func table(_ devices: [JSONValue], _ html: inout HTML) {
    guard !devices.isEmpty else { return html.element("p", [.class("empty")], texts[.userNoDevices]) }
    html.table(
      labelledBy: "devices-heading",
      [
        (texts[.device], false), (texts[.state], false), (texts[.provider], false), (texts[.platform], false),
        (texts[.language], false), (texts[.lastSeen], false), (texts[.registered], false),
      ]
    ) { html in
      for device in devices {
        let id = device["id"]?.string ?? ""
        html.element("tr") { html in
          html.element("th", [.set(.scope, "row")]) { $0.element("a", [.href(Link("devices", id))], id) }
          html.element("td") { $0.state(device["status"]?.string ?? "", texts) }
          html.element("td", device["provider"]?.string ?? "")
          html.element("td", device["platform"]?.string ?? "–")
          html.element("td", device["language"]?.string ?? "–")
          html.element("td") { $0.time(device["last_seen_at"]?.string) }
          html.element("td") { $0.time(device["registered_at"]?.string) }
        }
      }
    }
  }

  private func changeTags() async -> HTTPServerResponse {
    let name = visit.field("user")
    guard !name.isEmpty, let act = TagAct(visit) else { return console.refusal(400, .badAddress, visit) }
    switch await visitor.ask("PATCH", ["v1", "users", name, "tags"], body: act.edit) {
    case .success: return console.redirect(Self.person(name, act.query))
    case .failure(let refusal):
      switch await visitor.get("v1", "users", name) {
      case .failure(let problem): return console.refusal(problem, visitor, section: .people)
      case .success(let user): return await person(user, refused: refusal)
      }
    }
  }

  private func delete() async -> HTTPServerResponse {
    let name = visit.field("user")
    guard Confirmation.holds(visit.field(Confirmation.field), name) else {
      return console.redirect(Self.person(name, [(Confirmation.field, Confirmation.wrong)]))
    }
    switch await visitor.ask("DELETE", ["v1", "users", name]) {
    case .failure(let problem): return console.refusal(problem, visitor, section: .people)
    case .success(let answer):
      let count = Int(clamping: answer["devices_deleted"]?.integer ?? 0)
      return console.redirect(Link(parts: ["people"], query: [("deleted", String(count))]))
    }
  }

  static func texts(_ list: JSONValue?) -> [String] { (list?.array ?? []).compactMap(\.string) }
}
