import Domain
import JSON

/// The words of protocols/apns.md section 11. An open set: Apple adds some without notice.
enum APNsReasons {
  /// What each word means, row by row. Words marked "F" there need a fixed request or account: of these, faults of the
  /// message are `rejected`, faults of the credential `blocked`. A wrong topic is `rejected` too: it may belong to one
  /// device's bundle id, and must not hold up all others.
  static let verdicts: [String: @Sendable (APNsRefusal) -> Verdict] = [
    "BadCollapseId": rejected,
    "BadDeviceToken": foreign,
    "BadExpirationDate": rejected,
    "BadMessageId": rejected,
    "BadPriority": rejected,
    "BadTopic": rejected,
    "DeviceTokenNotForTopic": foreign,
    "DuplicateHeaders": rejected,
    "IdleTimeout": retry(.wrongConnection),
    "InvalidPushType": rejected,
    "MissingDeviceToken": rejected,
    "MissingTopic": rejected,
    "PayloadEmpty": rejected,
    "TopicDisallowed": rejected,
    "BadCertificate": blocked,
    "BadCertificateEnvironment": blocked,
    "ExpiredProviderToken": retry(.authorizationExpired),
    "Forbidden": rejected,
    "InvalidProviderToken": blocked,
    "MissingProviderToken": blocked,
    "UnrelatedKeyIdInToken": retry(.wrongConnection),
    "BadEnvironmentKeyIdInToken": blocked,
    "BadEnvironmentKeyInToken": blocked,
    "BadPath": rejected,
    "MethodNotAllowed": rejected,
    "Unregistered": gone,
    "ExpiredToken": gone,
    "PayloadTooLarge": rejected,
    "TooManyRequests": retry(.tokenBusy),
    "TooManyProviderTokenUpdates": retry(.authorizationTooNew),
    "InternalServerError": retry(.serverFault),
    "ServiceUnavailable": retry(.serverFault),
    "Shutdown": retry(.closing),
  ]

  private static let rejected: @Sendable (APNsRefusal) -> Verdict = { .rejected(reason: $0.reason) }
  private static let blocked: @Sendable (APNsRefusal) -> Verdict = { .blocked(reason: $0.reason) }
  private static func retry(_ cause: Retry.Cause) -> @Sendable (APNsRefusal) -> Verdict {
    { .retry(Retry(cause, reason: $0.reason, retryAfter: $0.retryAfter)) }
  }
  /// Of another environment or app; or else the credential is.
  private static let foreign: @Sendable (APNsRefusal) -> Verdict = {
    $0.status == 400 ? .dead(Death(reason: $0.reason, isDoubtful: true)) : .rejected(reason: $0.reason)
  }
  /// Without the instant since when, the timestamp rule cannot be kept: then the token stays.
  private static let gone: @Sendable (APNsRefusal) -> Verdict = {
    guard $0.status == 410, let since = $0.since else { return .rejected(reason: $0.reason) }
    return .dead(Death(reason: $0.reason, since: since))
  }
}

/// What APNs said when it did not accept.
struct APNsRefusal: Sendable {
  var status: Int
  /// Its word, or `HTTP <status>` where there is none.
  var reason: String
  var since: WallTime?
  var retryAfter: Int?

  static let longestReason = 64

  init(_ answer: ProviderAnswer) {
    status = answer.status
    retryAfter = answer.retryAfter
    reason = "HTTP \(answer.status)"
    guard let body = try? JSON.parse(answer.body, maximumDepth: 8) else { return }
    // One row of the vendor's table is printed with a space: words are compared without.
    if let word = body["reason"]?.string?.filter({ $0 != " " }), !word.isEmpty, word.utf8.count <= Self.longestReason,
      word.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    {
      reason = word
    }
    if let instant = body["timestamp"]?.integer, instant > 0 { since = WallTime(milliseconds: instant) }
  }

  /// What it means for a device, or for a broadcast channel. Unknown words go by status and never prune.
  func verdict(in table: [String: @Sendable (APNsRefusal) -> Verdict]) -> Verdict {
    if let rule = table[reason] { return rule(self) }
    switch status {
    case 429: return .retry(Retry(.tokenBusy, reason: reason, retryAfter: retryAfter))
    case 500...599: return .retry(Retry(.serverFault, reason: reason, retryAfter: retryAfter))
    default: return .rejected(reason: reason)
    }
  }
}

extension APNsAccount {
  func judge(_ answer: ProviderAnswer, recipients: [Address]) -> Judgement {
    if recipients.first?.tokenKind == .channel { return judgeBroadcast(answer) }
    if answer.status == 200 { return Judgement(.accepted(id: answer.header(APNsHeader.id))) }
    return Judgement(APNsRefusal(answer).verdict(in: APNsReasons.verdicts))
  }

  private func judgeBroadcast(_ answer: ProviderAnswer) -> Judgement {
    if answer.status == 200 { return Judgement(.accepted(id: answer.header(APNsHeader.requestID))) }
    let refusal = APNsRefusal(answer)
    return Judgement(
      refusal.verdict(in: BroadcastReasons.verdicts), note: BroadcastReasons.notes[refusal.reason])
  }
}
