import API
import Domain
import HTTPServer
import JSON

extension Console {
  /// A user or a device, and what became of each message: "why did she not get it?" in one view.
  func people(_ visitor: Visitor) async -> HTTPServerResponse {
    let (texts, wanted) = (visitor.texts, visitor.visit.query("q"))
    guard !wanted.isEmpty else {
      return Frame.page(visitor, title: texts[.people], section: .people) { html in
        html.element("h1", texts[.people])
        html.element("p", texts[.peopleLead])
      }
    }
    // What the API means something else by is nobody's id.
    guard !Router.words.contains(wanted) else { return nobody(wanted, visitor) }
    if wanted.hasPrefix("msg_") { return redirect(Link("campaigns", wanted)) }
    switch await visitor.get("v1", "users", wanted) {
    case .success(let user): return person(user, visitor)
    case .failure(let problem) where !problem.isAbsence: return refusal(problem, visitor, section: .people)
    case .failure: break
    }
    switch await visitor.get("v1", "devices", wanted) {
    case .success: return redirect(Link("devices", wanted))
    case .failure(let problem) where !problem.isAbsence: return refusal(problem, visitor, section: .people)
    case .failure: return nobody(wanted, visitor)
    }
  }

  private func nobody(_ wanted: String, _ visitor: Visitor) -> HTTPServerResponse {
    let texts = visitor.texts
    return Frame.page(visitor, title: texts[.people], section: .people, status: 404) { html in
      html.element("h1", texts(.nobody, wanted))
      html.element("p", [.class("empty")], texts[.nobodyFix])
    }
  }

  private func person(_ user: JSONValue, _ visitor: Visitor) -> HTTPServerResponse {
    let texts = visitor.texts
    let name = user["user"]?.string ?? ""
    return Frame.page(visitor, title: texts(.personTitle, name), section: .people) { html in
      html.crumbs([(texts[.people], Link("people"))], name, texts)
      html.element("h1", texts(.personTitle, name))
      html.section("devices", texts[.devices]) { html in
        html.table(
          labelledBy: "devices-heading",
          [
            (texts[.device], false), (texts[.state], false), (texts[.provider], false), (texts[.platform], false),
            (texts[.language], false), (texts[.registered], false),
          ]
        ) { html in
          for device in user["devices"]?.array ?? [] {
            let id = device["id"]?.string ?? ""
            html.element("tr") { html in
              html.element("th", [.set(.scope, "row")]) { $0.element("a", [.href(Link("devices", id))], id) }
              html.element("td") { $0.state(device["status"]?.string ?? "", texts) }
              html.element("td", device["provider"]?.string ?? "")
              html.element("td", device["platform"]?.string ?? "–")
              html.element("td", device["language"]?.string ?? "–")
              html.element("td") { $0.time(device["registered_at"]?.string) }
            }
          }
        }
      }
      html.section("tags", texts[.userTags]) { $0.tags(Self.texts(user["tags"]), texts) }
    }
  }

  /// A device: what is known of it, and each message that was aimed at it.
  func device(_ id: String, _ visitor: Visitor) async -> HTTPServerResponse {
    guard !Router.words.contains(id) else { return nobody(id, visitor) }
    let texts = visitor.texts
    let (device, timeline): (JSONValue, JSONValue)
    switch await visitor.get("v1", "devices", id) {
    case .failure(let problem): return refusal(problem, visitor, section: .people)
    case .success(let found): device = found
    }
    switch await visitor.get(
      "v1", "devices", id, "timeline", query: [("limit", "50"), ("cursor", visitor.visit.query("cursor"))])
    {
    case .failure(let problem): return refusal(problem, visitor, section: .people)
    case .success(let found): timeline = found
    }
    let user = device["user"]?.string
    return Frame.page(visitor, title: id, section: .people) { html in
      let above: [(String, Link)] = user.map { name in [(name, Link(parts: ["people"], query: [("q", name)]))] } ?? []
      html.crumbs([(texts[.people], Link("people"))] + above, id, texts)
      html.head(id, texts, isLive: false) { $0.state(device["status"]?.string ?? "", texts) }
      if let reason = device["tombstone"]?["reason"]?.string {
        html.element("p", [.class("notice"), .data(.state, "failed")], texts(.deviceGone, reason))
      }
      html.element("div", [.class("columns")]) { html in
        html.element("div") { html in
          events(timeline["items"]?.array ?? [], texts, &html)
          if let cursor = timeline["next_cursor"]?.string {
            html.element("nav", [.class("pages"), .set(.ariaLabel, texts[.timeline])]) { html in
              let next = Link(parts: ["devices", id], query: [("cursor", cursor)])
              html.element("a", [.class("button"), .set(.rel, "next"), .href(next)], texts[.older])
            }
          }
        }
        html.element("div") { html in facts(of: device, texts, &html) }
      }
    }
  }

  private func events(_ events: [JSONValue], _ texts: Texts, _ html: inout HTML) {
    html.section("timeline", texts[.timeline]) { html in
      guard !events.isEmpty else { return html.element("p", [.class("empty")], texts[.timelineEmpty]) }
      html.element("ol", [.class("timeline")]) { html in
        for event in events {
          html.element("li") { html in
            html.time(event["accepted_at"]?.string)
            html.element("div") { html in
              html.element("p") { html in
                html.state(event["state"]?.string ?? "", texts)
                html.text(" · ")
                let name = event["name"]?.string ?? ""
                html.element(
                  "a", [.href(Link("campaigns", event["message"]?.string ?? ""))],
                  name.isEmpty ? texts[.untitled] : name)
                html.text(" · " + (event["provider"]?.string ?? ""))
              }
              if let reason = event["reason"]?.string {
                html.element("p") { html in
                  html.text(texts[.whyNot] + ": ")
                  html.element("q", [.class("answer")], reason)
                }
              }
              attempts(event["attempts"]?.array ?? [], texts, &html)
            }
          }
        }
      }
    }
  }

  private func attempts(_ attempts: [JSONValue], _ texts: Texts, _ html: inout HTML) {
    guard !attempts.isEmpty else { return }
    html.element("details") { html in
      html.element("summary", texts[.attempts] + ": " + texts.number(attempts.count))
      html.element("ol") { html in
        for attempt in attempts {
          html.element("li") { html in
            html.time(attempt["attempted_at"]?.string)
            html.text(" ")
            let words = [
              attempt["verdict"]?.string, attempt["http_status"]?.integer.map { String($0) }, attempt["reason"]?.string,
            ]
            html.element("q", [.class("answer")], words.compactMap { $0 }.joined(separator: " "))
          }
        }
      }
    }
  }

  private func facts(of device: JSONValue, _ texts: Texts, _ html: inout HTML) {
    html.section("facts", texts[.details]) { html in
      html.element("dl", [.class("facts")]) { html in
        for (word, name) in [
          (Word.provider, "provider"), (.platform, "platform"), (.language, "language"), (.token, "token"),
        ] {
          html.fact(texts[word], device[name]?.string)
        }
        html.fact(texts[.registered]) { $0.time(device["registered_at"]?.string) }
        if let seen = device["last_seen_at"]?.string { html.fact(texts[.lastSeen]) { $0.time(seen) } }
      }
    }
    html.section("tags", texts[.tags]) { $0.tags(Self.texts(device["tags"]), texts) }
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

  private static func texts(_ list: JSONValue?) -> [String] { (list?.array ?? []).compactMap(\.string) }
}
