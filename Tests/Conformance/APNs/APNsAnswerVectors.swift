import Domain
import Testing

/// protocols/apns.md sections 11 and 15: every status and reason.
@Suite("APNs answers")
struct APNsAnswerVectors {
  private func verdict(_ status: Int, _ body: String, retryAfter: Int? = nil) throws -> Verdict {
    try ProviderUnderTest.apns.verdict(of: ProviderAnswer(status, body, retryAfter: retryAfter))
  }
  private func verdict(_ status: Int, reason: String) throws -> Verdict {
    try verdict(status, #"{"reason":"\#(reason)"}"#)
  }

  @Test("A1 accepted: the id is recorded")
  func accepted() throws {
    #expect(
      try ProviderUnderTest.apns.verdict(of: ProviderUnderTest.apns.answers.accepted)
        == .accepted(id: someID.description))
    #expect(try verdict(200, "") == .accepted(id: nil))
  }

  @Test(
    "A2, A3 a token of another app, kind or environment dies at once",
    arguments: ["BadDeviceToken", "DeviceTokenNotForTopic"])
  func deadTokens(_ reason: String) throws {
    #expect(try verdict(400, reason: reason) == .dead(Death(reason: reason, isDoubtful: true)))
    #expect(try !verdict(403, reason: reason).isDead)
  }

  @Test(
    "A4, A5, A12 and the message's other faults reject it and keep the token",
    arguments: [
      (400, "BadCollapseId"), (400, "BadExpirationDate"), (400, "BadMessageId"), (400, "BadPriority"),
      (400, "BadTopic"), (400, "DuplicateHeaders"), (400, "InvalidPushType"), (400, "MissingDeviceToken"),
      (400, "MissingTopic"), (400, "PayloadEmpty"), (400, "TopicDisallowed"), (403, "Forbidden"), (404, "BadPath"),
      (405, "MethodNotAllowed"), (413, "PayloadTooLarge"),
    ])
  func rejected(_ status: Int, _ reason: String) throws {
    #expect(try verdict(status, reason: reason) == .rejected(reason: reason))
  }

  @Test(
    "A7, A8 and the operator's other faults block the credential",
    arguments: [
      "InvalidProviderToken", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken", "MissingProviderToken",
      "BadCertificate", "BadCertificateEnvironment",
    ])
  func blocked(_ reason: String) throws {
    #expect(try verdict(403, reason: reason) == .blocked(reason: reason))
  }

  @Test(
    "A6, A13, A14, A15 and all else that may be tried again says who waits",
    arguments: [
      (403, "ExpiredProviderToken", Retry.Cause.authorizationExpired), (429, "TooManyRequests", .tokenBusy),
      (429, "TooManyProviderTokenUpdates", .authorizationTooNew), (503, "Shutdown", .closing),
      (400, "IdleTimeout", .wrongConnection), (403, "UnrelatedKeyIdInToken", .wrongConnection),
      (500, "InternalServerError", .serverFault), (503, "ServiceUnavailable", .serverFault),
    ])
  func retries(_ status: Int, _ reason: String, _ cause: Retry.Cause) throws {
    #expect(try verdict(status, reason: reason) == .retry(Retry(cause, reason: reason)))
    #expect(
      try verdict(status, #"{"reason":"\#(reason)"}"#, retryAfter: 9)
        == .retry(Retry(cause, reason: reason, retryAfter: 9)))
  }

  @Test("a word printed with a space is the same word")
  func spaced() throws {
    #expect(
      try verdict(503, reason: "Service Unavailable") == .retry(Retry(.serverFault, reason: "ServiceUnavailable")))
  }

  @Test(
    "A9, A10, A11 a 410 carries the instant that the registration is compared with",
    arguments: ["Unregistered", "ExpiredToken"])
  func gone(_ reason: String) throws {
    let verdict = try verdict(410, #"{"reason":"\#(reason)","timestamp":1767200000000}"#)
    #expect(verdict == .dead(Death(reason: reason, since: WallTime(seconds: 1_767_200_000))))
    guard case .dead(let death) = verdict, let since = death.since else { return }
    #expect(WallTime(seconds: 1_767_100_000) < since, "A9: pruned")
    #expect(WallTime(seconds: 1_767_300_000) > since, "A10: kept")
  }

  @Test("a 410 without a usable instant keeps the token")
  func goneWithoutInstant() throws {
    for timestamp in ["", #","timestamp":null"#, #","timestamp":"now""#, #","timestamp":-5"#, #","timestamp":0"#] {
      #expect(
        try verdict(410, #"{"reason":"Unregistered"\#(timestamp)}"#) == .rejected(reason: "Unregistered"))
    }
    #expect(try !verdict(400, #"{"reason":"Unregistered","timestamp":1767200000000}"#).isDead)
  }

  @Test("unknown words and no words go by status")
  func unknown() throws {
    #expect(try verdict(400, reason: "NewFault") == .rejected(reason: "NewFault"))
    #expect(try verdict(599, reason: "NewFault") == .retry(Retry(.serverFault, reason: "NewFault")))
    #expect(try verdict(502, "<html>") == .retry(Retry(.serverFault, reason: "HTTP 502")))
    #expect(try verdict(429, "") == .retry(Retry(.tokenBusy, reason: "HTTP 429")))
    #expect(try verdict(301, "") == .rejected(reason: "HTTP 301"))
    #expect(try verdict(999, "") == .rejected(reason: "HTTP 999"))
  }
}
