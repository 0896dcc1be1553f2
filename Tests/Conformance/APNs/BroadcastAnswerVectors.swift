import Domain
import Testing

/// protocols/apns.md section 9.4: every status and reason of a broadcast channel.
@Suite("APNs answers to broadcasts")
struct BroadcastAnswerVectors {
  private func judgement(_ status: Int, _ reason: String, headers: [Header] = []) throws -> Judgement {
    let channel = Address(provider: .apns, token: "dGVzdC1jaGFubmVs", tokenKind: .channel)
    let body = reason.isEmpty ? "" : #"{"reason":"\#(reason)","timestamp":1767200000000}"#
    return try ProviderUnderTest.apns.account().judge(
      ProviderAnswer(status: status, headers: headers, body: Array(body.utf8)), recipients: [channel])
  }

  @Test("accepted: the request's id is recorded")
  func accepted() throws {
    #expect(
      try judgement(200, "", headers: [Header("apns-request-id", someID.description)]).common
        == .accepted(id: someID.description))
  }

  @Test("a channel that is gone is forgotten", arguments: ["ChannelNotRegistered", "BadChannelId"])
  func gone(_ reason: String) throws {
    #expect(try judgement(400, reason).common == .dead(Death(reason: reason)))
    #expect(try !judgement(403, reason).common.isDead)
  }

  @Test(
    "the message's faults, and those of one bundle id, reject it",
    arguments: [
      (400, "FeatureNotEnabled"), (400, "BroadcastFeatureNotEnabled"), (400, "MissingChannelId"),
      (400, "BadRequestParams"), (400, "BadRequestPayload"), (400, "PayloadEmpty"), (400, "BadMessageId"),
      (400, "MissingPushType"), (400, "InvalidPushType"), (400, "CannotCreateChannelConfig"),
      (400, "BadExpirationDate"), (400, "TopicDisallowed"), (400, "BadPriority"), (400, "MissingChannelQueueSize"),
      (403, "TopicMismatch"), (404, "BadPath"), (405, "MethodNotAllowed"), (413, "PayloadTooLarge"),
    ])
  func rejected(_ status: Int, _ reason: String) throws {
    #expect(try judgement(status, reason).common == .rejected(reason: reason))
  }

  @Test(
    "the operator's faults block the credential",
    arguments: ["BadCertificate", "BadCertificateEnvironment", "MissingProviderToken", "InvalidProviderToken"])
  func blocked(_ reason: String) throws {
    #expect(try judgement(403, reason).common == .blocked(reason: reason))
  }

  @Test(
    "all else is tried again",
    arguments: [
      (403, "ExpiredProviderToken", Retry.Cause.authorizationExpired), (429, "TooManyRequests", .tokenBusy),
      (429, "TooManyProviderTokenUpdates", .authorizationTooNew), (500, "InternalServerError", .serverFault),
      (503, "ServiceUnavailable", .serverFault), (503, "Service Unavailable", .serverFault),
      (503, "Shutdown", .closing),
    ])
  func retries(_ status: Int, _ reason: String, _ cause: Retry.Cause) throws {
    #expect(try judgement(status, reason).common == .retry(Retry(cause, reason: reason.filter { $0 != " " })))
  }

  @Test("words of devices and words that nobody knows never prune a channel", arguments: JudgingTests.statuses)
  func unknown(_ status: Int) throws {
    for word in ["BadDeviceToken", "Unregistered", "ExpiredToken", "DeviceTokenNotForTopic", "ChannelRetired", ""] {
      #expect(try !judgement(status, word).common.isDead, "\(status) \(word)")
    }
  }

  @Test("what only the operator can change is said in the log", arguments: ["FeatureNotEnabled", "TopicMismatch"])
  func notes(_ reason: String) throws {
    #expect(try judgement(400, reason).note?.isEmpty == false)
  }
}
