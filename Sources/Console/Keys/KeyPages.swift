import Domain
import HTTPServer
import Loop
import Store

/// The API keys of the app: what each may do, and how long. A secret is shown once, by the answer to the form that made it.
struct KeyPages: PageSet {
  let console: Console
  let visitor: Visitor

  /// `path`: behind `keys`. Nil: there is no such page.
  func view(_ path: ArraySlice<String>) async -> HTTPServerResponse? {
    switch path.count {
    case 0: await list()
    case 1: await key(path.first ?? "")
    default: nil
    }
  }

  /// Nil: there is no such act.
  func act(_ path: ArraySlice<String>) async -> HTTPServerResponse? {
    guard let id = path.first else { return await create() }
    guard path.count == 2 else { return nil }
    return switch path.last {
    case "change": await change(id)
    case "rotate": await rotate(id)
    case "revoke": await revoke(id)
    default: nil
    }
  }

  // MARK: Pages

  /// `refused`: what was asked for and not done; what was typed stays.
  func list(refused: ToldProblem? = nil) async -> HTTPServerResponse {
    let keys: [JSONValue]
    switch await visitor.get("v1", "keys") {
    case .failure(let problem): return console.refusal(problem, visitor, section: .operations)
    case .success(let answer): keys = answer["items"]?.array ?? []
    }
    let page = Frame.page(
      visitor, title: texts[.keys], section: .operations, status: refused?.status ?? 200
    ) { html in
      html.crumbs([(texts[.operations], Link("operations"))], texts[.keys], texts)
      html.element("h1", texts[.keys])
      if let refused { html.refused(refused) }
      if visit.query("revoked") == "1" {
        html.element("p", [.class("notice"), .data(.state, "done"), .set(.role, "status")], texts[.keyRevoked])
      }
      html.section("all", texts[.keysOfApp]) { html in
        html.element("p", [.class("quiet")], texts[.keysLead])
        table(keys, &html)
      }
      html.section("new", texts[.keyNew]) { html in newForm(refused, &html) }
    }
    return page.adding(refused?.again ?? [])
  }

  private func table(_ keys: [JSONValue], _ html: inout HTML) {
    let now = console.loop.wallNow
    html.table(
      labelledBy: "all-heading",
      [
        (texts[.name], false), (texts[.state], false), (texts[.scopes], false), (texts[.lastUsed], false),
        (texts[.keyEnds], false), (texts[.keyAddresses], false), (texts[.keyCreated], false),
      ]
    ) { html in
      for key in keys.map(ListedKey.init) {
        html.element("tr") { html in
          html.element("th", [.set(.scope, "row")]) { html in
            html.element("a", [.href(Link("keys", key.id))], key.title)
            if key.id == visitor.key.id { html.element("p", texts[.keyYours]) }
          }
          html.element("td") { key.state(now, texts, &$0) }
          html.element("td", key.rights(texts))
          html.element("td") { html in
            if key.lastUsed == nil { html.text(texts[.never]) } else { html.time(key.lastUsed) }
          }
          html.element("td") { html in if key.ends == nil { html.text(texts[.never]) } else { html.time(key.ends) } }
          html.element("td", key.addresses.isEmpty ? texts[.everywhere] : key.addresses.joined(separator: ", "))
          html.element("td") { $0.time(key.created) }
        }
      }
    }
  }

  func key(_ id: String, refused: ToldProblem? = nil) async -> HTTPServerResponse {
    let key: ListedKey
    switch await visitor.get("v1", "keys", id) {
    case .failure(let problem): return console.refusal(problem, visitor, section: .operations)
    case .success(let document): key = ListedKey(document)
    }
    let isWrong = visit.query(Confirmation.field) == Confirmation.wrong
    let page = Frame.page(visitor, title: key.title, section: .operations, status: refused?.status ?? 200) { html in
      html.crumbs([(texts[.operations], Link("operations")), (texts[.keys], Link("keys"))], key.title, texts)
      html.head(key.title, texts, isLive: false) { key.state(console.loop.wallNow, texts, &$0) }
      if let refused { html.refused(refused) }
      if isWrong { html.wrongName(texts[.notTheName]) }
      html.element("div", [.class("columns")]) { html in
        html.element("div") { html in changeForm(key, refused, &html) }
        html.element("div") { html in
          facts(key, &html)
          html.section("control", texts[.whatYouCanDo]) { html in
            rotateForm(key, &html)
            let isOwn = key.id == visitor.key.id
            html.destroy(
              visitor, "confirm", Link("keys", key.id, "revoke"), texts[.keyRevoke],
              lead: texts[isOwn ? .keyRevokeOwn : .keyRevokeLead], name: key.title, or: key.id,
              button: texts[.keyRevokeButton],
              isWrong: isWrong)
          }
        }
      }
    }
    return page.adding(refused?.again ?? [])
  }

  private func facts(_ key: ListedKey, _ html: inout HTML) {
    html.section("details", texts[.details]) { html in
      html.element("dl", [.class("facts")]) { html in
        html.fact(texts[.scopes], key.rights(texts))
        html.fact(
          texts[.keyAddresses], key.addresses.isEmpty ? texts[.everywhere] : key.addresses.joined(separator: ", "))
        html.fact(texts[.keyCreated]) { $0.time(key.created) }
        html.fact(texts[.lastUsed]) { html in
          if key.lastUsed == nil { html.text(texts[.never]) } else { html.time(key.lastUsed) }
        }
        html.fact(texts[.keyEnds]) { html in
          if key.ends == nil { html.text(texts[.never]) } else { html.time(key.ends) }
        }
        if let former = key.formerEnds { html.fact(texts[.keyFormerEnds]) { $0.time(former) } }
        html.fact("Id") { $0.element("code", key.id) }
      }
    }
  }

  /// The one page that has a secret.
  func secret(_ answer: JSONValue, _ title: Word) -> HTTPServerResponse {
    let key = ListedKey(answer)
    return Frame.page(visitor, title: texts[title], section: .operations) { html in
      html.crumbs([(texts[.operations], Link("operations")), (texts[.keys], Link("keys"))], texts[title], texts)
      html.element("h1", texts[title])
      html.element("section", [.class("notice"), .data(.state, "done"), .set(.ariaLabel, texts[.keySecret])]) { html in
        html.element("p", texts(.keySecretLead, key.title))
        html.element("p") { $0.element("code", [.id("secret")], answer["secret"]?.string ?? "") }
      }
      html.element("p") { $0.element("a", [.class("button"), .href(Link("keys", key.id))], texts[.keySecretKept]) }
    }
  }
}

/// A key as the API tells of it.
struct ListedKey {
  var id: String
  var name: String
  var scopes: [String]
  var addresses: [String]
  var created: String?
  var ends: String?
  var lastUsed: String?
  /// When the former of two secrets ends; nil: it has one.
  var formerEnds: String?

  init(_ document: JSONValue) {
    func texts(_ name: String) -> [String] { (document[name]?.array ?? []).compactMap(\.string) }
    (id, name) = (document["id"]?.string ?? "", document["name"]?.string ?? "")
    (scopes, addresses) = (texts("scopes"), texts("addresses"))
    created = document["created_at"]?.string
    ends = document["expires_at"]?.string
    lastUsed = document["last_used_at"]?.string
    formerEnds = (document["secrets"]?.array ?? []).dropFirst().first?["expires_at"]?.string
  }

  var title: String { name.isEmpty ? id : name }
  func has(ended now: WallTime) -> Bool { ends.flatMap { WallTime(rfc3339: $0) }.map { $0 <= now } ?? false }
  func isRotating(_ now: WallTime) -> Bool { formerEnds.flatMap { WallTime(rfc3339: $0) }.map { $0 > now } ?? false }
}

/// What scopes let a key do.
enum ScopeWords {
  static let all: [String: Word] = [
    "send": .scopeSend, "devices": .scopeDevices, "read": .scopeRead, "admin": .scopeAdmin,
    "register": .scopeRegister, "export": .scopeExport, "channels": .scopeChannels, "test": .scopeTest,
    "drafts": .scopeDrafts,
    "keys": .scopeKeys,
  ]
}

extension ListedKey {
  /// What it may do. `admin` covers all else, so that nothing is said beside it.
  func rights(_ texts: Texts) -> String {
    let told = scopes.contains("admin") ? ["admin"] : scopes
    return told.map { texts.word(ScopeWords.all, $0) }.joined(separator: " · ")
  }

  func state(_ now: WallTime, _ texts: Texts, _ html: inout HTML) {
    let (style, word): (String, Word) =
      has(ended: now) ? ("cancelled", .keyEnded) : isRotating(now) ? ("waiting", .keyRotating) : ("done", .active)
    html.element("span", [.class("state"), .data(.state, style)], texts[word])
  }
}
