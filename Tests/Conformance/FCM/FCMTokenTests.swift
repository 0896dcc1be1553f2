import Domain
import JSON
import TLS
import Testing

/// protocols/fcm.md section 2.1.
@Suite("The FCM access token")
struct FCMTokenTests {
  private func machine() throws -> any Authorization { try ProviderUnderTest.fcm.account().makeAuthorization() }
  private func seconds(_ count: Int64) -> WallTime { started + count * 1000 }

  private func fetch(_ need: AuthorizationNeed) throws -> TokenFetch {
    guard case .fetch(let fetch) = need else { throw Unexpected(need: need) }
    return fetch
  }
  private func header(_ need: AuthorizationNeed) throws -> String {
    guard case .use(let header, nil) = need else { throw Unexpected(need: need) }
    return header
  }
  private func blocked(_ need: AuthorizationNeed) throws -> String {
    guard case .unavailable(_, let reason?) = need else { throw Unexpected(need: need) }
    return reason
  }
  private struct Unexpected: Error { var need: AuthorizationNeed }

  private func token(_ value: String, life: String = "3599") -> ProviderAnswer {
    ProviderAnswer(200, #"{"access_token":"\#(value)","expires_in":\#(life),"token_type":"Bearer"}"#)
  }

  @Test("R11 is asked for with a signed assertion")
  func request() throws {
    var machine = try machine()
    let fetch = try fetch(machine.need(now: started))
    #expect(fetch.url == "https://oauth2.googleapis.com/token")
    #expect(fetch.headers == [Header("content-type", "application/x-www-form-urlencoded")])
    let form = String(decoding: fetch.body, as: UTF8.self)
    let prefix = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
    #expect(form.hasPrefix(prefix))
    let parts = form.dropFirst(prefix.count).split(separator: ".").map(String.init)
    #expect(parts.count == 3)
    try expectJSON(try #require(Base64URL.decode(parts[0])), #"{"alg":"RS256","typ":"JWT","kid":"k1"}"#)
    try expectJSON(
      try #require(Base64URL.decode(parts[1])),
      #"{"iss":"push@demo-app.iam.gserviceaccount.com","scope":"https://www.googleapis.com/auth/firebase.messaging","aud":"https://oauth2.googleapis.com/token","iat":\#(started.seconds),"exp":\#(started.seconds + 3600)}"#
    )
    let key = try VerifyingKey(pem: TestKeys.fcm.key.publicKeyPEM, for: .rs256)
    let signature = try #require(Base64URL.decode(parts[2]))
    #expect(key.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8)))
  }

  @Test("is renewed five minutes early, in the background and once", arguments: ["3599", #""3599""#])
  func renewal(_ life: String) throws {
    var machine = try machine()
    _ = try fetch(machine.need(now: started))
    machine.fetched(token("a", life: life), now: started)
    #expect(try header(machine.need(now: seconds(3298))) == "Bearer a")
    guard case .use("Bearer a", .some) = machine.need(now: seconds(3300)) else {
      Issue.record("no early renewal")
      return
    }
    #expect(try header(machine.need(now: seconds(3301))) == "Bearer a")
    machine.fetched(token("b"), now: seconds(3302))
    #expect(try header(machine.need(now: seconds(3303))) == "Bearer b")
  }

  @Test("past its life it is not used, even while the renewal is late")
  func expiry() throws {
    var machine = try machine()
    _ = try fetch(machine.need(now: started))
    machine.fetched(token("a"), now: started)
    _ = machine.need(now: seconds(3500))
    guard case .wait = machine.need(now: seconds(3598)) else {
      Issue.record("used in its last seconds")
      return
    }
    machine.fetched(nil, now: seconds(3599))
    guard case .unavailable(let until, nil) = machine.need(now: seconds(3599)) else {
      Issue.record("not resting")
      return
    }
    #expect(until == seconds(3600))
    _ = try fetch(machine.need(now: until))
  }

  @Test("passing faults rest one second, doubling, and as long as the endpoint asks")
  func passing() throws {
    var machine = try machine()
    var now = started
    for (answer, rest) in [
      (nil, 1), (ProviderAnswer(500, ""), 2), (ProviderAnswer(408, ""), 4),
      (ProviderAnswer(400, #"{"error":"internal_failure"}"#), 8),
      (ProviderAnswer(400, #"{"error":"server_error"}"#), 16),
      (ProviderAnswer(400, #"{"error":"temporarily_unavailable"}"#), 32), (ProviderAnswer(429, "", retryAfter: 90), 90),
      (ProviderAnswer(503, "<html>"), 64), (ProviderAnswer(200, "<html>"), 64),
    ] as [(ProviderAnswer?, Int64)] {
      _ = try fetch(machine.need(now: now))
      machine.fetched(answer, now: now)
      guard case .unavailable(let until, nil) = machine.need(now: now) else {
        Issue.record("not resting")
        return
      }
      #expect(until == now + rest * 1000)
      now = until
    }
  }

  @Test(
    "A15 invalid_grant blocks with the endpoint's words, and is tried again when a probe is due, or an operator asks")
  func invalidGrant() throws {
    var machine = try ProviderUnderTest.fcm.account().makeAuthorization(probeInterval: 30_000)
    _ = try fetch(machine.need(now: started))
    machine.fetched(
      ProviderAnswer(400, #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#), now: started)
    #expect(try blocked(machine.need(now: seconds(1))) == "token endpoint: invalid_grant: Invalid JWT Signature.")
    #expect(try blocked(machine.need(now: seconds(29))).contains("invalid_grant"))
    _ = try fetch(machine.need(now: seconds(30)))
    machine.fetched(ProviderAnswer(403, #"{"error":"access_denied"}"#), now: seconds(31))
    #expect(try blocked(machine.need(now: seconds(32))).contains("access_denied"))
    machine.retry()
    _ = try fetch(machine.need(now: seconds(32)))
  }

  @Test("a redirection is a passing fault, whatever stands in it", arguments: [301, 302, 303, 307, 308])
  func redirected(_ status: Int) throws {
    var machine = try machine()
    _ = try fetch(machine.need(now: started))
    machine.fetched(ProviderAnswer(status, #"{"error":"invalid_grant"}"#), now: started)
    guard case .unavailable(let until, nil) = machine.need(now: started) else {
      Issue.record("not resting, or blocked")
      return
    }
    #expect(until == seconds(1))
    #expect(machine.difficulty == "token endpoint: HTTP \(status)")
  }

  @Test("an endpoint that sends the assertion back puts nothing of it into the reason")
  func echo() throws {
    var machine = try machine()
    let assertion = String(decoding: try fetch(machine.need(now: started)).body, as: UTF8.self)
    machine.fetched(
      ProviderAnswer(400, #"{"error":"invalid_request","error_description":"bad \#(assertion) \u001b[2J"}"#),
      now: started)
    let reason = try blocked(machine.need(now: started))
    #expect(!reason.contains("eyJ") && reason.utf8.count < 200)
    #expect(reason.unicodeScalars.allSatisfy { $0.value >= 0x20 })
  }

  @Test("A7 refused by FCM: renewed once; refused again, the operator")
  func refused() throws {
    var machine = try machine()
    _ = try fetch(machine.need(now: started))
    machine.fetched(token("a"), now: started)
    machine.refused(.authorizationExpired, now: seconds(100))
    machine.refused(.authorizationExpired, now: seconds(100))
    _ = try fetch(machine.need(now: seconds(100)))
    machine.refused(.authorizationExpired, now: seconds(101))
    guard case .wait = machine.need(now: seconds(101)) else {
      Issue.record("a second fetch")
      return
    }
    machine.fetched(token("b"), now: seconds(102))
    // A late answer to the first token.
    machine.refused(.authorizationExpired, now: seconds(103))
    #expect(try header(machine.need(now: seconds(103))) == "Bearer b")
    machine.refused(.authorizationExpired, now: seconds(110))
    #expect(try blocked(machine.need(now: seconds(110))).contains("refuses fresh access tokens"))
  }

  @Test("a token with a line break is none")
  func injection() throws {
    var machine = try machine()
    _ = try fetch(machine.need(now: started))
    machine.fetched(token(#"a\r\nx: y"#), now: started)
    guard case .unavailable = machine.need(now: started) else {
      Issue.record("used")
      return
    }
  }

  @Test("a key file is checked field by field")
  func keyFile() throws {
    func fault(_ changes: [JSONMember]) -> CredentialFault? {
      var credential = ProviderUnderTest.fcm.credential
      credential.files["service_account_file"] = ProviderUnderTest.serviceAccount(changes)
      do {
        _ = try ProviderUnderTest.fcm.provider.open(credential)
        return nil
      } catch { return error }
    }
    for url in ["https://localhost:8444/token", "http://127.0.0.1:1/t", "http://localhost/t", "http://[::1]:9/t"] {
      #expect(fault([JSONMember("token_uri", .string(url))]) == nil)
    }
    for url in [
      "http://example.com/t", "http://127.0.0.1.evil.com/t", "http://127.0.0.1@evil.com/t", "ftp://x", "https://",
    ] {
      #expect(fault([JSONMember("token_uri", .string(url))])?.problem.contains("token_uri") == true)
    }
    #expect(fault([JSONMember("type", .string("authorized_user"))])?.problem.contains("type") == true)
    for name in ["project_id", "client_email", "private_key", "token_uri"] {
      #expect(fault([JSONMember(name, .null)])?.problem.contains(name) == true)
    }
    let wrong = String(decoding: TestKeys.apns.pem, as: UTF8.self)
    #expect(fault([JSONMember("private_key", .string(wrong))])?.problem.contains("RSA") == true)
  }
}
