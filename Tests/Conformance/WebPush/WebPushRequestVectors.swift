import Domain
import JSON
import TLS
import Testing
import WebPush

@Suite("What Web Push sends")
struct WebPushRequestVectors {
  private let subject = ProviderUnderTest.webPush

  @Test("an alert, as a service worker gets it and as a browser shows it by itself")
  func alert() throws {
    let (headers, request) = try subject.request(
      """
      {"to":{"everyone":true},"ttl":600,"priority":"high","collapse_key":"order-881","data":{"id":7},
       "notification":{"title":"Order shipped","body":"Arrives Tuesday","link":"https://shop.example/881","badge":3,
        "image":"https://shop.example/i.png","web":{"icon":"https://shop.example/icon.png","require_interaction":true},
        "buttons":[{"id":"track","text":"Track","url":"https://shop.example/t"}]}}
      """)
    #expect(request.path == "/fcm/send/dXk:APA91bExample")
    #expect(
      headers == [
        "content-type": "application/octet-stream", "content-encoding": "aes128gcm", "ttl": "600", "urgency": "high",
        "topic": "order-881", "authorization": "bearer jwt",
      ])
    try expectJSON(
      request.content,
      """
      {"web_push":8030,"app_badge":3,"notification":{"title":"Order shipped","body":"Arrives Tuesday",
       "navigate":"https://shop.example/881","image":"https://shop.example/i.png","icon":"https://shop.example/icon.png",
       "tag":"order-881","requireInteraction":true,"data":{"id":7},
       "actions":[{"action":"track","title":"Track","navigate":"https://shop.example/t"}]}}
      """)
  }

  @Test("a message without what declarative push requires is the service worker's alone")
  func undeclared() throws {
    func members(_ change: (inout Notification) -> Void) throws -> JSONValue {
      try JSON.parse(try subject.account().render(.alert { change(&$1) }, startedAt: started).head)
    }
    let whole = try members { $0.link = "https://shop.example/1" }
    #expect(whole["web_push"]?.integer == 8_030)
    let unlinked = try members { _ in }
    #expect(unlinked["web_push"] == nil)
    let untitled = try members {
      $0.title = nil
      $0.link = "https://shop.example/1"
    }
    #expect(untitled["web_push"] == nil)
    let buttons = try members {
      $0.link = "https://shop.example/1"
      $0.buttons = [Button(id: "a", text: "A")]
    }
    #expect(
      buttons["notification"]?["actions"]?.array?.first?["navigate"]?.string == "https://shop.example/1",
      "each action needs one")
  }

  @Test("a stored subscription that is damaged is sent to nobody; the sample fits the account")
  func damaged() throws {
    let account = try subject.account()
    let rendering = try account.render(.alert(), startedAt: started)
    var address = subject.address
    address.token.removeLast(20)
    let fault = account.request(rendering, to: [address], id: someID, authorization: "vapid").fault
    #expect(fault == "the subscription is damaged")
    for service in ["localhost:8451", "notify.windows.com", "web.push.apple.com"] {
      var credential = subject.credential
      credential.texts["services"] = service
      let own = try WebPushProvider().open(credential)
      let token = try WebPushProvider().tokens.read(own.sampleToken(.device, for: .alert()), .device)
      let address = Address(provider: .webPush, token: token.text, bundleID: token.bundleID)
      #expect(own.coverage.serves(address) == (service != "notify.windows.com" || token.bundleID == service))
      #expect(own.coverage.serves(address), "\(service)")
      #expect(own.request(rendering, to: [address], id: someID, authorization: "vapid").fault == nil)
    }
  }

  @Test("a background push carries its data alone; a collapse key that is no topic goes by its digest")
  func background() throws {
    let (headers, request) = try subject.request(
      #"{"to":{"everyone":true},"kind":"background","collapse_key":"orders/8 8 1","data":{"sync":"inbox"}}"#)
    try expectJSON(request.content, #"{"data":{"sync":"inbox"}}"#)
    let topic = try #require(headers["topic"])
    #expect(topic.utf8.count == 32 && Base64URL.decode(topic) != nil)
    #expect(headers["urgency"] == "normal" || headers["urgency"] == "low")
  }

  @Test("who sends is said by a token for the service, which ends within a day and is renewed before")
  func vapid() throws {
    var authorization = try subject.account().makeAuthorization()
    func header(_ now: WallTime) throws -> String {
      guard case .use(let header, nil) = authorization.need(now: now) else { throw Missing() }
      return header
    }
    let first = try header(started)
    let parts = first.split(separator: " ")
    #expect(parts[0] == "vapid")
    #expect(String(parts[2]) == "k=\(Base64URL.encode(TestKeys.vapid.key.publicPoint))")
    let token = parts[1].dropFirst(2).dropLast().split(separator: ".").map(String.init)
    let claims = try JSON.parse(try #require(Base64URL.decode(token[1])))
    #expect(claims["aud"]?.string == "https://fcm.googleapis.com")
    #expect(claims["sub"]?.string == "mailto:push@example.com")
    let life = try #require(claims["exp"]?.integer) - started.seconds
    #expect((3_600...86_400).contains(life))
    let verifying = try VerifyingKey(pem: TestKeys.vapid.key.publicKeyPEM, for: .es256)
    let signature = try #require(Base64URL.decode(token[2]))
    #expect(verifying.verifies(signature, of: Array("\(token[0]).\(token[1])".utf8)))
    #expect(try header(started + (life - 3_600) * 1_000 / 2) == first)
    #expect(try header(started + (life - 3_600) * 1_000) != first)
    #expect(try header(started + -86_400_000) != first, "a clock that was ahead")
  }
  private struct Missing: Error {}

  @Test("Edge's service has a host for each region: each is asked for itself, with a token of its own")
  func windows() throws {
    var credential = subject.credential
    credential.texts["services"] = "notify.windows.com"
    let account = try WebPushProvider().open(credential)
    let endpoint = "https://wns2-par02p.notify.windows.com/w/?token=BQYAAAD"
    let kept = subject.address.token.replacing(ProviderUnderTest.endpoint, with: endpoint)
    let token = try WebPushProvider().tokens.read(kept, .device)
    #expect(token.bundleID == "notify.windows.com")
    let address = Address(provider: .webPush, token: token.text, bundleID: token.bundleID)
    #expect(account.coverage.serves(address) && !account.coverage.serves(subject.address))
    var authorization = account.makeAuthorization()
    guard case .use(let header, nil) = authorization.need(now: started) else { return }
    let request = account.request(
      try account.render(.alert(), startedAt: started), to: [address], id: someID, authorization: header)
    #expect(request.origin == Origin(host: "wns2-par02p.notify.windows.com", port: 443))
    #expect(request.path == "/w/?token=BQYAAAD")
    let sent = try #require(request.headers.first { $0.name == "authorization" }?.value)
    let claims = try JSON.parse(
      try #require(Base64URL.decode(String(sent.dropFirst("vapid t=".count).split(separator: ".")[1]))))
    #expect(claims["aud"]?.string == "https://wns2-par02p.notify.windows.com")
    guard case .http1 = account.wire else {
      Issue.record("HTTP/2 goes to one host")
      return
    }
  }

  @Test("a key may be a PEM or the private number that other libraries print; a subject must be reachable")
  func credentials() throws {
    var credential = subject.credential
    credential.files["key_file"] = Array((Base64URL.encode(Array(1...32)) + "\n").utf8)
    let facts = try WebPushProvider().open(credential).facts
    let point = try #require(P256.publicPoint(of: Array(1...32)))
    #expect(facts.name.contains(Base64URL.encode(point)))
    #expect(facts.topics == ["fcm.googleapis.com"])
    for wrong in [
      "", "push@example.com", "mailto:", "mailto:root@localhost", "https://localhost/x", "http://a.example",
      "https://",
      "https://LOCALHOST/", "https://a.LocalHost/", "https://localhost./", "https://me@localhost/",
      "https://127.0.0.1/", "https://[::1]/", "mailto:a@127.0.0.1", "mailto:a@x.localhost", "mailto:a@localhost.",
      "https://a@b.example@localhost/",
    ] {
      var other = subject.credential
      other.texts["subject"] = wrong
      #expect(throws: CredentialFault.self, "\(wrong)") { try WebPushProvider().open(other) }
    }
    for wrong in ["", "https://a.example", "10.0.0.1", "[::1]", "a.example:0", "a.example:x", "-a.example"] {
      var other = subject.credential
      other.texts["services"] = wrong
      #expect(throws: CredentialFault.self, "\(wrong)") { try WebPushProvider().open(other) }
    }
  }

  static let answers: [(Int, String, String, String)] = [
    (201, "", "accepted", ""), (200, "", "accepted", ""), (202, "", "accepted", ""), (204, "", "rejected", "HTTP 204"),
    (400, #"{"reason":"BadWebPushTopic"}"#, "rejected", "BadWebPushTopic"), (401, "", "rejected", "HTTP 401"),
    (403, #"{"reason":"VapidPkHashMismatch"}"#, "rejected", "VapidPkHashMismatch"),
    (403, #"{"reason":"ExpiredJwtToken"}"#, "blocked", "ExpiredJwtToken"),
    (404, "", "dead", "HTTP 404"), (410, #"{"error":"Gone","errno":103}"#, "dead", "Gone"),
    (413, "", "rejected", "HTTP 413"), (429, "", "retry", "HTTP 429"), (406, "", "retry", "HTTP 406"),
    (502, "", "retry", "HTTP 502"),
    (503, "", "retry", "HTTP 503"), (307, "", "rejected", "HTTP 307"),
  ]

  @Test("each answer has its verdict", arguments: answers)
  func verdicts(_ status: Int, _ body: String, _ word: String, _ reason: String) throws {
    let verdict = try subject.verdict(of: ProviderAnswer(status, body))
    #expect(verdict.word == word)
    #expect((verdict.reason ?? "") == reason)
  }

  @Test("a 404 prunes only while others are reached: a proxy or a wrong service says the same of all")
  func doubt() throws {
    guard case .dead(let gone) = try subject.verdict(of: ProviderAnswer(410, "")),
      case .dead(let unknown) = try subject.verdict(of: ProviderAnswer(404, ""))
    else { throw Missing() }
    #expect(!gone.isDoubtful && unknown.isDoubtful)
  }
}
