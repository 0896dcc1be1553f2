import Domain
import HTTPServer
import Loop
import Store

/// Forms of keys, and what is done by them.
extension KeyPages {
  private static let longestName = "128"
  private static let longestAddresses = "2000"

  func newForm(_ refused: ToldProblem?, _ html: inout HTML) {
    Frame.form(visitor, Link("keys"), &html) { html in
      html.mark()
      html.field(
        "name", texts[.name], [.set(.maxLength, Self.longestName), .set(.autocomplete, "off"), .flag(.required)],
        value: visit.field("name"), hint: texts[.keyNameHint], fault: refused?.fault(at: "/name"))
      let fault = refused?.fault(at: "/scopes")
      let described = fault == nil ? [] : [Attribute.set(.ariaDescribedBy, "scopes-error")]
      html.element("fieldset", [.class("scopes")] + described) { html in
        html.element("legend", texts[.scopes])
        html.fault(of: "scopes", fault)
        let chosen = Set(visit.form.filter { $0.name == "scope" }.map(\.value))
        for scope in Scope.allCases.map(\.rawValue).sorted() {
          html.element("p") { html in
            html.element("label") { html in
              html.void(
                "input",
                [
                  .set(.type, "checkbox"), .set(.name, "scope"), .set(.value, scope),
                  .flag(.checked, chosen.contains(scope)),
                ])
              html.text(" " + texts.word(ScopeWords.all, scope) + " ")
              html.element("code", scope)
            }
          }
        }
      }
      endFields(isNew: true, refused, &html)
      html.field(
        "addresses", texts[.keyAddresses], [.set(.maxLength, Self.longestAddresses), .set(.autocomplete, "off")],
        value: visit.field("addresses"), hint: texts[.keyAddressesHint], fault: refused?.fault(at: "/addresses"))
      html.element("p", [.class("actions")]) { $0.element("button", [.class("primary")], texts[.keyCreate]) }
    }
  }

  func changeForm(_ key: ListedKey, _ refused: ToldProblem?, _ html: inout HTML) {
    html.section("change", texts[.keyChange]) { html in
      Frame.form(visitor, Link("keys", key.id, "change"), &html) { html in
        html.field(
          "name", texts[.name], [.set(.maxLength, Self.longestName), .set(.autocomplete, "off")],
          value: refused == nil ? key.name : visit.field("name"), fault: refused?.fault(at: "/name"))
        endFields(isNew: false, refused, &html)
        html.element("p", [.class("actions")]) { $0.element("button", [.class("primary")], texts[.keySave]) }
      }
    }
  }

  private func endFields(isNew: Bool, _ refused: ToldProblem?, _ html: inout HTML) {
    let chosen = visit.field("span")
    html.element("p", [.class("field")]) { html in
      html.element("label", [.set(.for, "span")], texts[.keyValidFor])
      html.element("select", [.id("span"), .set(.name, "span")]) { html in
        for span in KeyEnd.spans where isNew ? span.value != KeyEnd.kept : true {
          html.element(
            "option",
            [.set(.value, span.value), .flag(.selected, chosen == span.value)], texts[span.word])
        }
      }
    }
    html.field(
      "until", texts[.keyUntil], [.set(.type, "date")], value: visit.field("until"), hint: texts[.keyUntilHint],
      fault: refused?.fault(at: "/expires_at"))
  }

  func rotateForm(_ key: ListedKey, _ html: inout HTML) {
    html.element("details", [.id("rotate")]) { html in
      html.element("summary", texts[.keyRotate])
      Frame.form(visitor, Link("keys", key.id, "rotate"), &html) { html in
        html.mark()
        html.element("p", texts[.keyRotateLead])
        html.element("p", [.class("field")]) { html in
          html.element("label", [.set(.for, "keep")], texts[.keyKeep])
          html.element("select", [.id("keep"), .set(.name, "keep")]) { html in
            for (seconds, word) in [
              ("86400", Word.spanDay), ("3600", .spanHour), ("604800", .spanWeek), ("0", .spanNow),
            ] { html.element("option", [.set(.value, seconds)], texts[word]) }
          }
        }
        html.element("p", [.class("actions")]) { $0.element("button", texts[.keyRotateButton]) }
      }
    }
  }

  // MARK: Acts

  /// The answer has the secret, and is no redirect: nothing keeps it. The mark of a form makes one key, so that a reload of
  /// the answer makes none silently.
  func create() async -> HTTPServerResponse {
    let scopes = visit.form.filter { $0.name == "scope" }.map { JSONValue.string($0.value) }
    var members = [JSONMember("name", .string(visit.field("name"))), JSONMember("scopes", .array(scopes))]
    if case .some(.some(let end)) = KeyEnd.chosen(visit, now: console.loop.wallNow) {
      members.append(JSONMember("expires_at", .string(end)))
    }
    let addresses = Self.addresses(visit.field("addresses"))
    if !addresses.isEmpty { members.append(JSONMember("addresses", .array(addresses.map { .string($0) }))) }
    if let refusal = await spend() { return refusal }
    switch await visitor.ask("POST", ["v1", "keys"], body: .object(members)) {
    case .failure(let problem): return await list(refused: problem)
    case .success(let answer): return secret(answer, .keyMade)
    }
  }

  func rotate(_ id: String) async -> HTTPServerResponse {
    if let refusal = await spend() { return refusal }
    let keep = Int64(Whole.read(visit.field("keep"), in: 0...2_592_000) ?? 86_400)
    switch await visitor.ask("POST", ["v1", "keys", id, "rotate"], body: .object([JSONMember("keep", .integer(keep))]))
    {
    case .failure(let problem): return await key(id, refused: problem)
    case .success(let answer): return secret(answer, .keyRotated)
    }
  }

  /// Nil: the form was not sent before.
  private func spend() async -> HTTPServerResponse? {
    guard let mark = Mark.given(visit), let token = visit.token else {
      return console.refusal(403, .forgedForm, visit)
    }
    do throws(StoreError) {
      return try await console.sessions.spend(mark, of: token) ? nil : console.refusal(409, .keyFormUsed, visit)
    } catch {
      return console.unavailable(error, visit)
    }
  }

  func change(_ id: String) async -> HTTPServerResponse {
    var members = [JSONMember("name", .string(visit.field("name")))]
    if let end = KeyEnd.chosen(visit, now: console.loop.wallNow) {
      members.append(JSONMember("expires_at", end.map { .string($0) } ?? .null))
    }
    switch await visitor.ask("PATCH", ["v1", "keys", id], body: .object(members)) {
    case .failure(let problem): return await key(id, refused: problem)
    case .success: return console.redirect(Link("keys", id))
    }
  }

  func revoke(_ id: String) async -> HTTPServerResponse {
    switch await visitor.get("v1", "keys", id) {
    case .failure(let problem): return console.refusal(problem, visitor, section: .operations)
    case .success(let document):
      guard Confirmation.holds(visit.field(Confirmation.field), ListedKey(document).title, id) else {
        return console.redirect(Link(parts: ["keys", id], query: [(Confirmation.field, Confirmation.wrong)]))
      }
    }
    switch await visitor.ask("DELETE", ["v1", "keys", id]) {
    case .failure(let problem): return await key(id, refused: problem)
    case .success: return console.redirect(Link(parts: ["keys"], query: [("revoked", "1")]))
    }
  }

  /// As they are typed: between spaces or commas.
  static func addresses(_ text: String) -> [String] {
    text.split { $0.isWhitespace || $0 == "," || $0 == ";" }.prefix(200).map(String.init)
  }
}

/// When a key ends, as a form says it.
enum KeyEnd {
  static let kept = "kept"
  private static let day: Int64 = 86_400_000
  static let spans: [(value: String, word: Word, days: Int64?)] = [
    (kept, .spanKept, nil), ("30", .spanMonth, 30), ("1", .spanDay, 1), ("7", .spanWeek, 7), ("90", .spanQuarter, 90),
    ("365", .spanYear, 365), ("never", .never, nil),
  ]

  /// The outer nil: it stays as it is. The inner nil: it does not end. A date is the end of that day, in UTC, and counts
  /// before the span; what is none is handed on, so that the API says what is wrong with it.
  static func chosen(_ visit: Visit, now: WallTime) -> String?? {
    chosen(span: visit.field("span"), until: visit.field("until"), now: now)
  }

  static func chosen(span: String, until: String, now: WallTime) -> String?? {
    if !until.isEmpty {
      guard until.utf8.count == 10, let start = WallTime(rfc3339: until + "T00:00:00Z") else { return .some(until) }
      return .some(WallTime(milliseconds: start.milliseconds &+ day).rfc3339)
    }
    guard span != kept, let found = spans.first(where: { $0.value == span }) else { return nil }
    return .some(found.days.map { WallTime(milliseconds: now.milliseconds &+ $0 &* day).rfc3339 })
  }
}
