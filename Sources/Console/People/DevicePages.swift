import API
import Domain
import HTTPServer
import JSON
import Store

/// A device: what is known of it, and each message that was aimed at it.
struct DevicePages: PageSet {
  let console: Console
  let visitor: Visitor

  private var texts: Texts { visitor.texts }
  private var visit: Visit { visitor.visit }

  func page(_ id: String, refused: ToldProblem? = nil) async -> HTTPServerResponse {
    guard !Router.words.contains(id) else { return PeoplePages(console: console, visitor: visitor).nobody(id) }
    let (device, timeline): (JSONValue, JSONValue)
    switch await visitor.get("v1", "devices", id) {
    case .failure(let problem): return console.refusal(problem, visitor, section: .people)
    case .success(let found): device = found
    }
    switch await visitor.get(
      "v1", "devices", id, "timeline", query: [("limit", "50"), ("cursor", visit.query("cursor"))])
    {
    case .failure(let problem): return console.refusal(problem, visitor, section: .people)
    case .success(let found): timeline = found
    }
    let user = device["user"]?.string
    let page = Frame.page(visitor, title: id, section: .people, status: refused?.status ?? 200) { html in
      let above = user.map { [($0, PeoplePages.person($0))] } ?? []
      html.crumbs([(texts[.people], Link("people"))] + above, id, texts)
      html.head(id, texts, isLive: false) { $0.state(device["status"]?.string ?? "", texts) }
      if let refused { html.refused(refused) }
      if visit.query(Confirmation.field) == Confirmation.wrong { html.wrongName(texts[.notTheName]) }
      let tags = PeoplePages.texts(device["tags"])
      let forms = TagForms(visitor: visitor, action: Link("devices", id, "tags"))
      forms.undo(tags, &html)
      if let reason = device["tombstone"]?["reason"]?.string {
        html.element("p", [.class("notice"), .data(.state, "failed")]) { html in
          html.text(texts(.deviceGone, reason))
          if let known = ReasonTexts.of(reason) { html.text(" " + texts[known.word]) }
        }
      }
      html.element("div", [.class("columns")]) { html in
        html.element("div") { html in
          events(timeline["items"]?.array ?? [], isPartial: timeline["next_cursor"]?.string != nil, &html)
          html.pages(
            ["devices", id], [], timeline["next_cursor"]?.string, isFirst: visit.query("cursor").isEmpty, texts)
        }
        html.element("div") { html in
          facts(of: device, &html)
          html.section("tags", texts[.tags]) { forms.list(tags, &$0) }
          more(of: device, &html)
          if visitor.may(.devices) { control(id, &html) }
        }
      }
    }
    return page.adding(refused?.again ?? [])
  }

  // MARK: Parts

  private func events(_ events: [JSONValue], isPartial: Bool, _ html: inout HTML) {
    html.section("timeline", texts[.timeline]) { html in
      guard !events.isEmpty else {
        return html.element("p", [.class("empty")], texts[isPartial ? .deliveriesGoOn : .timelineEmpty])
      }
      DeviceEvents(texts: texts).list(events.map { DeviceEvents.Event(value: $0) }, &html)
    }
  }

  private func facts(of device: JSONValue, _ html: inout HTML) {
    html.section("facts", texts[.details]) { html in
      html.element("dl", [.class("facts")]) { html in
        if let user = device["user"]?.string {
          html.fact(texts[.user]) { $0.element("a", [.href(PeoplePages.person(user))], user) }
        }
        let isOff = device["enabled"] == .bool(false)
        html.fact(texts[.notifications], texts[isOff ? .notificationsOff : .notificationsOn])
        let allowed = PeoplePages.texts(device["authorization"])
        html.fact(texts[.allowed], allowed.joined(separator: ", "))
        for (word, name) in [
          (Word.provider, "provider"), (.platform, "platform"), (.appVersion, "app_version"),
          (.language, "language"), (.deviceZone, "tz"), (.tokenKind, "token_kind"),
          (.tokenEnvironment, "environment"), (.bundleID, "bundle_id"), (.liveActivity, "activity_id"),
        ] {
          html.fact(texts[word], device[name]?.string)
        }
        for (word, name) in [(Word.token, "token"), (.activityToken, "live_activity_token")] {
          if let token = device[name]?.string, !token.isEmpty { html.fact(texts[word]) { $0.secret(token, texts) } }
        }
        html.fact(texts[.registered]) { $0.time(device["registered_at"]?.string) }
        if let seen = device["last_seen_at"]?.string { html.fact(texts[.lastSeen]) { $0.time(seen) } }
        guard let tombstone = device["tombstone"] else { return }
        html.fact(texts[.goneSince]) { $0.time(tombstone["dead_at"]?.string) }
        if let message = tombstone["message"]?.string {
          html.fact(texts[.goneBy]) { $0.element("a", [.href(Link("campaigns", message))], message) }
        }
      }
    }
  }

  private func more(of device: JSONValue, _ html: inout HTML) {
    let userTags = PeoplePages.texts(device["user_tags"])
    if !userTags.isEmpty { html.section("user-tags", texts[.userTags]) { $0.tags(userTags, texts) } }
    let attributes = device["attributes"]?.object ?? []
    guard !attributes.isEmpty else { return }
    html.section("attributes", texts[.attributes]) { html in
      html.element("dl", [.class("facts")]) { html in
        for attribute in attributes {
          html.fact(attribute.key, attribute.value.string ?? String(decoding: attribute.value.encoded, as: UTF8.self))
        }
      }
    }
  }

  private func control(_ id: String, _ html: inout HTML) {
    html.section("control", texts[.whatYouCanDo]) { html in
      html.destroy(
        visitor, "confirm", Link("devices", id, "delete"), texts[.deviceDelete], lead: texts[.deviceDeleteLead],
        name: id, button: texts[.deleteButton], isWrong: visit.query(Confirmation.field) == Confirmation.wrong)
    }
  }

  // MARK: Acts

  func changeTags(_ id: String) async -> HTTPServerResponse {
    guard let act = TagAct(visit) else { return console.refusal(400, .badAddress, visit) }
    switch await visitor.ask("PATCH", ["v1", "devices", id, "tags"], body: act.edit) {
    case .failure(let problem): return await page(id, refused: problem)
    case .success: return console.redirect(Link(parts: ["devices", id], query: act.query))
    }
  }

  func delete(_ id: String) async -> HTTPServerResponse {
    guard Confirmation.holds(visit.field(Confirmation.field), id) else {
      return console.redirect(Link(parts: ["devices", id], query: [(Confirmation.field, Confirmation.wrong)]))
    }
    switch await visitor.ask("DELETE", ["v1", "devices", id]) {
    case .failure(let problem): return await page(id, refused: problem)
    case .success: return console.redirect(Link(parts: ["people"], query: [("deleted", "1")]))
    }
  }
}

extension HTML {
  /// A token, which is as good as a key to one device: its ends, and the whole for whoever asks.
  mutating func secret(_ token: String, _ texts: Texts) {
    element("code", ShortToken.of(token))
    element("details") { html in
      html.element("summary", texts[.wholeToken])
      html.element("p") { $0.element("code", token) }
    }
  }
}

/// Enough of a token to tell it from others, and too little to use it.
enum ShortToken {
  private static let (first, last) = (8, 4)

  /// Of a short one nothing: its ends would be half of it.
  static func of(_ token: String) -> String {
    let scalars = token.unicodeScalars
    guard scalars.count >= 2 * (first + last) else { return "…" }
    return String(scalars.prefix(first)) + "…" + String(scalars.suffix(last))
  }
}
