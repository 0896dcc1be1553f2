import Domain
import Support
import Testing

@Suite("Every provider judges answers with care")
struct JudgingTests {
  @Test("what the vendor accepted is accepted under the vendor's id", arguments: registeredProviders)
  func accepted(_ subject: ProviderUnderTest) throws {
    #expect(try subject.verdict(of: subject.answers.accepted) == .accepted(id: subject.answers.acceptedID))
  }

  @Test("a dead token reads as dead, never as retry", arguments: registeredProviders)
  func dead(_ subject: ProviderUnderTest) throws {
    #expect(try subject.verdict(of: subject.answers.dead).isDead)
  }

  @Test("a throttled request is tried again, not before the vendor's time", arguments: registeredProviders)
  func throttled(_ subject: ProviderUnderTest) throws {
    guard case .retry(let retry) = try subject.verdict(of: subject.answers.throttled) else {
      Issue.record("no retry")
      return
    }
    #expect(retry.retryAfter == 7)
    #expect(retry.cause == .tokenBusy || retry.cause == .quota)
  }

  @Test("the message's, the operator's and the server's faults are told apart", arguments: registeredProviders)
  func faults(_ subject: ProviderUnderTest) throws {
    #expect(try subject.verdict(of: subject.answers.rejected).word == "rejected")
    #expect(try subject.verdict(of: subject.answers.blocked).word == "blocked")
    guard case .retry(let retry) = try subject.verdict(of: subject.answers.serverFault) else {
      Issue.record("no retry")
      return
    }
    #expect(retry.cause == .serverFault)
  }

  static let statuses = [
    0, -1, 100, 101, 199, 200, 204, 301, 302, 304, 400, 401, 403, 404, 405, 408, 409, 410, 413, 418, 422, 429, 499, 500,
    501, 502, 503, 504, 520, 524, 599, 600, 999, Int.max,
  ]

  @Test("words that nobody knows never prune, whatever the status", arguments: registeredProviders)
  func unknownWords(_ subject: ProviderUnderTest) throws {
    for status in Self.statuses where !subject.deadStatuses.contains(status) {
      for word in ["TokenRetired", "UNREGISTERED_SOON", "unregistered", "baddevicetoken", "", "Gone", "🙂"] {
        #expect(try !subject.verdict(of: subject.answers.wording(status, word)).isDead, "\(status) \(word)")
      }
    }
  }

  @Test(
    "HTML, empty and broken bodies never prune and never count as accepted by chance", arguments: registeredProviders)
  func foreignBodies(_ subject: ProviderUnderTest) throws {
    let bodies = [
      "", " ", "null", "[]", "{}", "0", "\"id\"", "{\"reason\":", "{\"reason\":{}}", "{\"error\":[]}", "{\"errors\":7}",
      "<html><body><h1>404 Not Found: registration token is not a valid</h1></body></html>", "\u{FEFF}{}",
      String(repeating: "[", count: 100_000), #"{"error":{"details":[7,{"@type":7},null]}}"#,
      #"{"error":{"message":"registration token is not a valid FCM registration token"}}"#,
      #"{"errors":{"invalid_player_ids":7}}"#, #"{"reason":7,"timestamp":"now"}"#,
    ]
    for status in Self.statuses {
      for body in bodies {
        let verdict = try subject.verdict(of: ProviderAnswer(status, body))
        #expect(!verdict.isDead || subject.deadStatuses.contains(status), "\(status) \(body.prefix(60))")
        if status != 200 { #expect(verdict.word != "accepted", "\(status) \(body.prefix(60))") }
      }
    }
  }

  @Test("random bytes never prune; known answers with bytes changed never crash", arguments: registeredProviders)
  func randomBytes(_ subject: ProviderUnderTest) throws {
    var random = Seeded()
    let account = try subject.account()
    let known = [
      subject.answers.accepted, subject.answers.dead, subject.answers.throttled, subject.answers.rejected,
      subject.answers.blocked, subject.answers.serverFault,
    ]
    for _ in 0..<2_000 {
      let length = Int.random(in: 0...200, using: &random)
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      let status = Self.statuses.randomElement(using: &random)!
      let verdict = account.judge(ProviderAnswer(status: status, body: bytes), recipients: [subject.address]).common
      #expect(!verdict.isDead || subject.deadStatuses.contains(status), "seed \(random.seed)")

      var changed = known.randomElement(using: &random)!
      for _ in 0..<3 where !changed.body.isEmpty {
        changed.body[Int.random(in: 0..<changed.body.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      _ = account.judge(changed, recipients: [subject.address])
    }
  }

  @Test("a reason is one short printable line", arguments: registeredProviders)
  func reasons(_ subject: ProviderUnderTest) throws {
    let long = String(repeating: "x", count: 5_000)
    for status in Self.statuses {
      for word in [long, "two\\nlines", "\\u0000", "\\u001b[2J", "a b"] {
        let reason = try subject.verdict(of: subject.answers.wording(status, word)).reason ?? ""
        #expect(reason.utf8.count <= 80 && reason.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f })
      }
    }
  }
}
