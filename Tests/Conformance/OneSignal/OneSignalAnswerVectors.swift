import Domain
import Testing

/// protocols/onesignal.md sections 3, 4 and 12.
@Suite("OneSignal answers")
struct OneSignalAnswerVectors {
  private static let first = "1dd608f2-c6a1-11e3-851d-000c2940e62c"
  private static let second = "2ee608f2-c6a1-11e3-851d-000c2940e62c"
  private static let id = "b98881cc-1e94-4366-bbd9-db8f3429292b"

  private func judge(_ answer: ProviderAnswer, to tokens: [String] = [first, second]) throws -> Judgement {
    try ProviderUnderTest.oneSignal.account().judge(
      answer, recipients: tokens.map { Address(provider: .oneSignal, token: $0) })
  }
  private func judge(_ status: Int, _ body: String, to tokens: [String] = [first, second], retryAfter: Int? = nil)
    throws -> Judgement
  {
    try judge(ProviderAnswer(status, body, retryAfter: retryAfter), to: tokens)
  }

  @Test(
    "A1, A3, A15 sent: in the current and the old form, with warnings",
    arguments: [
      #"{"id":"\#(id)","external_id":"0f8a1f0e"}"#, #"{"id":"\#(id)","recipients":2,"external_id":null}"#,
      #"{"id":"\#(id)","warnings":["old field"]}"#, #"{"id":"\#(id)","warnings":{"invalid_external_user_ids":"x"}}"#,
      #"{"id":"\#(id)","errors":null}"#,
    ])
  func sent(_ body: String) throws {
    let judgement = try judge(200, body)
    #expect(judgement.common == .accepted(id: Self.id))
    #expect(judgement.exceptions.isEmpty)
    #expect((judgement.note != nil) == body.contains("warnings"))
  }

  @Test("A2 sent by an earlier attempt")
  func replayed() throws {
    var answer = ProviderAnswer(200, #"{"id":"\#(Self.id)"}"#)
    answer.headers = [Header("idempotent-replayed", "true")]
    let judgement = try judge(answer)
    #expect(judgement.common == .accepted(id: Self.id))
    #expect(judgement.note == "sent by an earlier attempt")
  }

  @Test(
    "A4 the ids named are unsubscribed, the others accepted",
    arguments: ["invalid_player_ids", "invalid_subscription_ids"])
  func partial(_ key: String) throws {
    let judgement = try judge(
      200, #"{"id":"b988","errors":{"\#(key)":["\#(Self.first.uppercased())","not-ours"]}}"#)
    #expect(judgement.common == .accepted(id: "b988"))
    // Others were reached with it: it is the right app.
    #expect(judgement.exceptions == [Self.first: .dead(Death(reason: "unsubscribed"))])
  }

  @Test("A5 users are never dropped for a subscription of theirs")
  func aliases() throws {
    let judgement = try judge(
      200, #"{"id":"b988","external_id":null,"errors":{"invalid_aliases":{"external_id":["u-18","u-18"]}}}"#,
      to: ["alias:external_id:u-17", "alias:external_id:u-18"])
    #expect(judgement == Judgement(.accepted(id: "b988"), note: "2 unsubscribed subscriptions behind aliases"))
  }

  @Test("A6 nobody reachable: explicit ids are unsubscribed, users are kept, other words prune nobody")
  func notSent() throws {
    let body = #"{"id":"","errors":["All included players are not subscribed"]}"#
    #expect(try judge(200, body) == Judgement(.dead(Death(reason: "unsubscribed", isDoubtful: true))))
    #expect(try judge(200, body, to: ["alias:external_id:u-17"]).common == .rejected(reason: "not_subscribed"))
    #expect(try judge(200, #"{"id":"","errors":["Out of credits"]}"#).common == .rejected(reason: "not_sent"))
    let listed = try judge(200, #"{"errors":{"invalid_player_ids":["\#(Self.first)"]}}"#)
    #expect(listed.common == .rejected(reason: "not_subscribed"))
    #expect(listed.exceptions == [Self.first: .dead(Death(reason: "unsubscribed", isDoubtful: true))])
  }

  @Test(
    "A7 a malformed request is the message's fault, in all four forms of errors",
    arguments: [
      #"{"errors":["Message Notifications must have English language content"]}"#,
      #"{"errors":"Message Notifications must have English language content","success":false}"#,
      #"{"errors":[{"title":"Message Notifications must have English language content"}]}"#,
    ])
  func malformed(_ body: String) throws {
    #expect(
      try judge(400, body) == Judgement(.rejected(reason: "Message Notifications must have English language content")))
  }

  @Test("the stable code is the reason where there is one")
  func code() throws {
    #expect(try judge(400, #"{"errors":[{"code":"push-7","title":"No"}]}"#).common == .rejected(reason: "push-7"))
    #expect(try judge(400, #"{"errors":{"contents":["is empty"]}}"#).common == .rejected(reason: "contents"))
    #expect(try judge(400, "<html>").common == .rejected(reason: "HTTP 400"))
  }

  @Test("A8 the id that is none is left out, the rest goes again")
  func revised() throws {
    let body =
      #"{"errors":["Incorrect subscription_id format in include_subscription_ids (not a valid UUID): abc"]}"#
    let judgement = try judge(400, body, to: [Self.first, "abc"])
    guard case .retry(let retry) = judgement.common else {
      Issue.record("\(judgement.common)")
      return
    }
    #expect(retry.cause == .revised)
    #expect(judgement.exceptions == ["abc": .rejected(reason: "invalid_subscription_id")])
    #expect(try judge(400, body, to: ["abc"]).common.word == "rejected")
    // Ids that are UUIDs are never left out for it: there is nobody to leave out, and no end to trying.
    #expect(try judge(400, body, to: [Self.first]).common.word == "rejected")
  }

  @Test("A9 a refused key, address or plan blocks the credential", arguments: [401, 403, 422])
  func blocked(_ status: Int) throws {
    #expect(try judge(status, #"{"errors":[{"code":"auth-1","title":"No"}]}"#).common == .blocked(reason: "auth-1"))
    let judgement = try judge(
      status,
      #"{"errors":["Access denied.  Please include an 'Authorization: ...' header with a valid API key (https://documentation.onesignal.com/docs)"]}"#
    )
    #expect(judgement.common.word == "blocked")
    #expect(judgement.common.reason?.hasPrefix("Access denied.") == true)
  }

  @Test("A10 the app's rate holds the credential as long as asked")
  func rate() throws {
    let retry = Retry(.quota, reason: "API rate limit exceeded", retryAfter: 12)
    #expect(try judge(429, #"{"errors":["API rate limit exceeded"]}"#, retryAfter: 12).common == .retry(retry))
    #expect(
      try judge(429, #"{"errors":[{"code":"rate","title":"Too fast"}],"limit":"150"}"#, retryAfter: 12).common
        == .retry(Retry(.quota, reason: "rate", retryAfter: 12)))
  }

  @Test("A11 503 is a passing fault; A12 other 5xx may have been processed", arguments: [500, 502, 504, 520, 522, 524])
  func serverFaults(_ status: Int) throws {
    #expect(try judge(503, "").common == .retry(Retry(.serverFault, reason: "HTTP 503")))
    #expect(try judge(status, "<html>").common == .retry(Retry(.unknownOutcome, reason: "HTTP \(status)")))
  }

  @Test("an activity's calls answer 201 under names of their own; an unknown activity fails alone and prunes nothing")
  func activities() throws {
    let account = try ProviderUnderTest.oneSignal.account()
    let activity = [Address(provider: .oneSignal, token: "match-7", tokenKind: .activity)]
    #expect(try judge(201, #"{"notification_id":"\#(Self.id)"}"#).common == .accepted(id: Self.id))
    #expect(
      account.judge(ProviderAnswer(201, #"{"id":"\#(Self.id)"}"#), recipients: activity).common
        == .accepted(id: Self.id))
    #expect(
      account.judge(ProviderAnswer(404, #"{"errors":["Activity not found"]}"#), recipients: activity).common
        == .rejected(reason: "unknown_activity"))
    #expect(account.judge(ProviderAnswer(404, "<html>"), recipients: activity).common.word == "retry")
    let nobody = ProviderAnswer(200, #"{"id":"","errors":["All included players are not subscribed"]}"#)
    #expect(account.judge(nobody, recipients: activity).common == .rejected(reason: "not_subscribed"))
  }

  @Test("what filters found is never dropped, however few it were")
  func subscribers() throws {
    let account = try ProviderUnderTest.oneSignal.account()
    let all = [Address(provider: .oneSignal, token: "[]", tokenKind: .subscribers)]
    let nobody = ProviderAnswer(200, #"{"id":"","errors":["All included players are not subscribed"]}"#)
    #expect(account.judge(nobody, recipients: all).common == .rejected(reason: "not_subscribed"))
    #expect(account.judge(ProviderAnswer(200, #"{"id":"b988"}"#), recipients: all).common == .accepted(id: "b988"))
  }

  @Test("A13 what a create call does not find is the app; A14 a conflict is not tried again")
  func otherCalls() throws {
    #expect(
      try judge(404, #"{"errors":["Notification not found"]}"#).common == .blocked(reason: "Notification not found"))
    #expect(try judge(404, "<html>").common.word == "retry")
    #expect(
      try judge(
        409,
        #"{"errors":[{"code":"user-2","title":"Conflict","meta":{"conflicting_aliases":{"external_id":"u-17"}}}]}"#
      ).common == .rejected(reason: "user-2"))
  }
}
