import Domain

/// A credential as `GET /v1/status` tells of it.
struct CredentialFigures {
  var name: String
  var state: String
  /// In the gateway's words.
  var reason: String?
  var nextTry: String?
  var kind: String?
  var expiresAt: String?
  /// In the gateway's words; nil: it does not end soon.
  var expiry: String?
  var connections: Int
  var atWork: Int
  var limit: Int
  var jobs: Int
  var oldest: String?
  var held: Int
  var hasBrake: Bool

  /// A page shows no more; the rest is in `fanfare status`.
  static let most = 200

  static func all(of status: JSONValue) -> [CredentialFigures] {
    (status["credentials"]?.array ?? []).prefix(most).map(CredentialFigures.init)
  }

  init(_ value: JSONValue) {
    func number(_ name: String) -> Int { max(0, Int(clamping: value[name]?.integer ?? 0)) }
    name = value["credential"]?.string ?? ""
    state = value["state"]?.string ?? ""
    reason = value["reason"]?.string
    nextTry = value["next_try_at"]?.string
    kind = value["kind"]?.string
    expiresAt = value["expires_at"]?.string
    expiry = value["expiry"]?.string
    (connections, atWork, limit, jobs) = (number("connections"), number("at_work"), number("limit"), number("jobs"))
    oldest = value["oldest_at"]?.string
    held = number("held_prunes")
    hasBrake = value["prune_brake"]?.object != nil
  }

  /// The style of its state, the word for it, and what is to be done; nil: nothing is.
  var condition: (style: String, word: Word, fix: Word?)? {
    switch state {
    case "idle": ("done", .credentialIdle, nil)
    case "open": ("running", .credentialOpen, nil)
    case "waiting": ("waiting", .credentialWaiting, .fixWaiting)
    case "probing": ("waiting", .credentialProbing, .fixWaiting)
    case "failing": ("failed", .credentialFailing, .fixFailing)
    case "unreachable": ("blocked", .credentialUnreachable, .fixUnreachable)
    case "blocked": ("blocked", .credentialBlocked, .fixBlocked)
    default: nil
    }
  }

  func writeState(_ texts: Texts, _ html: inout HTML) {
    let told = condition
    html.element(
      "span", [.class("state"), .data(.state, told?.style ?? "waiting")], told.map { texts[$0.word] } ?? state)
  }
}

extension HTML {
  /// What somebody has to look at, with the next step; empty: nothing is written.
  mutating func alarms(_ credentials: [CredentialFigures], _ texts: Texts) {
    for credential in credentials {
      var told: [String] = []
      if let fix = credential.condition?.fix { told.append(texts[fix]) }
      if credential.expiry != nil { told.append(texts[.fixExpiry]) }
      if credential.hasBrake { told.append(texts(.brakeOn, texts.number(credential.held))) }
      guard !told.isEmpty else { continue }
      element("li") { html in
        if credential.condition?.fix == nil {
          html.element("span", [.class("state"), .data(.state, "blocked")], texts[.attention])
        } else {
          credential.writeState(texts, &html)
        }
        html.element("p") { html in
          html.element("a", [.href(Link("operations"))], credential.name)
          html.text(" · " + told.joined(separator: " "))
        }
        for words in [credential.condition?.fix == nil ? nil : credential.reason, credential.expiry] {
          if let words, !words.isEmpty { html.element("p", [.class("quiet small")], words) }
        }
      }
    }
  }
}
