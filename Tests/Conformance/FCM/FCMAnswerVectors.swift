import Domain
import Testing

/// protocols/fcm.md sections 5 and 11.
@Suite("FCM answers")
struct FCMAnswerVectors {
  private func verdict(_ status: Int, _ body: String, retryAfter: Int? = nil) throws -> Verdict {
    try ProviderUnderTest.fcm.verdict(of: ProviderAnswer(status, body, retryAfter: retryAfter))
  }
  private func error(
    _ http: Int, _ status: String, _ code: String?, message: String = "Sorry.", detail: String? = nil,
    retryAfter: Int? = nil
  ) throws -> Verdict {
    try verdict(
      http, ProviderUnderTest.fcmError(http, status, code: code, message: message, detail: detail),
      retryAfter: retryAfter)
  }
  private func apns(_ status: Int, _ reason: String) -> String {
    #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.ApnsError","statusCode":\#(status),"reason":"\#(reason)"}"#
  }

  @Test("A1 accepted under FCM's name")
  func accepted() throws {
    let name = "projects/demo-app/messages/0:1767220000000000%31bd1c9631bd1c96"
    #expect(try verdict(200, #"{"name":"\#(name)"}"#) == .accepted(id: name))
    #expect(try verdict(200, "<html>").word == "retry")
  }

  @Test("A2 UNREGISTERED dies, with the status the docs print as with the real one")
  func unregistered() throws {
    #expect(
      try verdict(
        404,
        #"{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}]}}"#
      ) == .dead(Death(reason: "UNREGISTERED")))
    #expect(try error(404, "UNREGISTERED", "UNREGISTERED", detail: apns(410, "Unregistered")).isDead)
    #expect(try !error(500, "INTERNAL", "UNREGISTERED").isDead)
  }

  @Test("A3 a field at fault rejects the message, and its token stays even if the text talks about tokens")
  func field() throws {
    let violation =
      #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.data[0].value","description":"Invalid value"}]}"#
    #expect(try error(400, "INVALID_ARGUMENT", nil, detail: violation) == .rejected(reason: "INVALID_ARGUMENT"))
    #expect(
      try error(
        400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", message: "The registration token is not a valid one",
        detail: violation
      ).word == "rejected")
  }

  @Test("A4 a malformed token dies, only in FCM's own words about it")
  func malformedToken() throws {
    let sentence = "The registration token is not a valid FCM registration token"
    #expect(
      try error(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", message: sentence)
        == .dead(Death(reason: "INVALID_ARGUMENT", isDoubtful: true)))
    #expect(try error(400, "INVALID_ARGUMENT", nil, message: sentence).word == "rejected")
    #expect(try error(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", message: "Message too big").word == "rejected")
    #expect(try !error(500, "INVALID_ARGUMENT", "INVALID_ARGUMENT", message: sentence).isDead)
  }

  @Test(
    "A5 a token dead at APNs dies here",
    arguments: [(410, "Unregistered"), (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic")])
  func deadAtAPNs(_ status: Int, _ reason: String) throws {
    #expect(
      try error(
        400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", message: "APNs device token is disabled.",
        detail: apns(status, reason))
        == .dead(Death(reason: reason, isDoubtful: reason != "Unregistered")))
    #expect(try !error(400, "INVALID_ARGUMENT", nil, detail: apns(status, reason)).isDead)
  }

  @Test("A5 of a Live Activity: its token dies alone, unless FCM speaks of the registration")
  func deadActivity() throws {
    let account = try ProviderUnderTest.fcm.account()
    var address = ProviderUnderTest.fcm.address
    address.liveActivityToken = "80a1f0"
    func judge(_ http: Int, _ code: String, _ message: String, _ detail: String?) -> Verdict {
      let body = ProviderUnderTest.fcmError(http, "INVALID_ARGUMENT", code: code, message: message, detail: detail)
      return account.judge(ProviderAnswer(http, body), recipients: [address]).common
    }
    let disabled = "APNs device token is disabled."
    #expect(
      judge(400, "INVALID_ARGUMENT", disabled, apns(410, "Unregistered"))
        == .dead(Death(reason: "Unregistered", token: "80a1f0")))
    #expect(
      judge(404, "UNREGISTERED", "Gone.", apns(410, "Unregistered"))
        == .dead(Death(reason: "UNREGISTERED", token: "80a1f0")))
    #expect(judge(404, "UNREGISTERED", "Gone.", nil) == .dead(Death(reason: "UNREGISTERED")))
    #expect(judge(400, "INVALID_ARGUMENT", disabled, apns(400, "BadTopic")).word == "rejected")
  }

  @Test("other refusals of APNs reject the message", arguments: ["PayloadTooLarge", "BadTopic", "SomethingNew"])
  func refusedAtAPNs(_ reason: String) throws {
    #expect(
      try error(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", detail: apns(400, reason))
        == .rejected(reason: "APNs \(reason)"))
  }

  @Test(
    "A6 the project's credential for APNs is wrong: no renewal, no retry, the operator is told, Android goes on",
    arguments: ["THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR"])
  func thirdParty(_ code: String) throws {
    let body = ProviderUnderTest.fcmError(
      401, "UNAUTHENTICATED", code: code, detail: apns(403, "InvalidProviderToken"))
    let judgement = try ProviderUnderTest.fcm.account().judge(
      ProviderAnswer(401, body), recipients: [ProviderUnderTest.fcm.address])
    #expect(judgement.common.word == "rejected")
    #expect(judgement.common.reason?.hasPrefix("THIRD_PARTY_AUTH_ERROR") == true)
    #expect(judgement.note?.contains("console") == true)
  }

  @Test("A7 401 without details renews the access token")
  func unauthenticated() throws {
    let expected = Verdict.retry(Retry(.authorizationExpired, reason: "UNAUTHENTICATED"))
    #expect(
      try verdict(
        401,
        #"{"error":{"code":401,"message":"Request had invalid authentication credentials.","status":"UNAUTHENTICATED"}}"#
      ) == expected)
  }

  @Test("A8 a registration of another project is dropped from this one; A9 a missing permission blocks")
  func forbidden() throws {
    #expect(
      try error(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH", message: "SenderId mismatch")
        == .dead(Death(reason: "SENDER_ID_MISMATCH", isDoubtful: true)))
    #expect(try error(403, "PERMISSION_DENIED", nil) == .blocked(reason: "PERMISSION_DENIED"))
    #expect(try verdict(403, "<html>").word == "blocked")
  }

  @Test("A10 the project's quota holds the credential, A11 a device's only its token")
  func quotas() throws {
    let info =
      #"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","domain":"googleapis.com","metadata":{"quota_limit":"SendsPerMinutePerProject","service":"fcm.googleapis.com"}}"#
    #expect(
      try error(429, "RESOURCE_EXHAUSTED", nil, detail: info)
        == .retry(Retry(.quota, reason: "RESOURCE_EXHAUSTED")))
    func failure(_ subject: String) -> String {
      #"{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"\#(subject)","description":"rate"}]}"#
    }
    #expect(
      try error(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", detail: failure("device:x"), retryAfter: 61)
        == .retry(Retry(.tokenBusy, reason: "QUOTA_EXCEEDED", retryAfter: 61)))
    #expect(
      try error(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", detail: failure("project:x"))
        == .retry(Retry(.quota, reason: "QUOTA_EXCEEDED")))
    let ambiguous = "Quota exceeded for the messages of this device or project"
    #expect(
      try error(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", message: ambiguous)
        == .retry(Retry(.quota, reason: "QUOTA_EXCEEDED")))
    #expect(try verdict(429, "") == .retry(Retry(.quota, reason: "HTTP 429")))
  }

  @Test("A12, A13 the server's faults, with its own time to wait; 502 and 504 leave the outcome unknown")
  func serverFaults() throws {
    #expect(try error(500, "INTERNAL", "INTERNAL") == .retry(Retry(.serverFault, reason: "INTERNAL")))
    #expect(
      try error(503, "UNAVAILABLE", "UNAVAILABLE", retryAfter: 30)
        == .retry(Retry(.serverFault, reason: "UNAVAILABLE", retryAfter: 30)))
    #expect(try verdict(502, "<html>") == .retry(Retry(.unknownOutcome, reason: "HTTP 502")))
    #expect(try verdict(504, "") == .retry(Retry(.unknownOutcome, reason: "HTTP 504")))
    #expect(try error(500, "INTERNAL", "UNSPECIFIED_ERROR").word == "retry")
    #expect(try error(400, "INVALID_ARGUMENT", "UNSPECIFIED_ERROR").word == "rejected")
  }

  @Test("A14 a 404 from the edge is a passing fault; one in the service's words means the project")
  func notFound() throws {
    #expect(try verdict(404, "<html><body>Not Found</body></html>").word == "retry")
    #expect(try error(404, "NOT_FOUND", nil) == .blocked(reason: "NOT_FOUND"))
    #expect(try error(404, "NOT_FOUND", "SOMETHING_NEW").word == "blocked")
  }
}
