import Domain

/// The words of protocols/apns.md section 9.4: answers to messages for a broadcast channel. A table of its own, as some
/// words mean something else here and none speaks of a device.
enum BroadcastReasons {
  static let verdicts: [String: @Sendable (APNsRefusal) -> Verdict] = [
    // The feature or the topic is at fault for one bundle id: its devices' pushes go on.
    "FeatureNotEnabled": rejected,
    "BroadcastFeatureNotEnabled": rejected,
    "TopicDisallowed": rejected,
    "TopicMismatch": rejected,
    "MissingChannelId": rejected,
    "BadChannelId": gone,
    "ChannelNotRegistered": gone,
    "BadRequestParams": rejected,
    "BadRequestPayload": rejected,
    "PayloadEmpty": rejected,
    "BadMessageId": rejected,
    "MissingPushType": rejected,
    "InvalidPushType": rejected,
    "CannotCreateChannelConfig": rejected,
    "MissingChannelQueueSize": rejected,
    "BadExpirationDate": rejected,
    "BadPriority": rejected,
    "BadCertificate": blocked,
    "BadCertificateEnvironment": blocked,
    "MissingProviderToken": blocked,
    "ExpiredProviderToken": retry(.authorizationExpired),
    "InvalidProviderToken": blocked,
    "UnrelatedKeyIdInToken": retry(.wrongConnection),
    "BadEnvironmentKeyIdInToken": blocked,
    "BadEnvironmentKeyInToken": blocked,
    "BadPath": rejected,
    "MethodNotAllowed": rejected,
    "PayloadTooLarge": rejected,
    "TooManyRequests": retry(.tokenBusy),
    "TooManyProviderTokenUpdates": retry(.authorizationTooNew),
    "InternalServerError": retry(.serverFault),
    "ServiceUnavailable": retry(.serverFault),
    "Shutdown": retry(.closing),
    "IdleTimeout": retry(.closing),
  ]

  /// What the operator should do about a word that no message and no retry will change.
  static let notes: [String: String] = [
    "FeatureNotEnabled": "broadcast push is not enabled for this bundle id: enable it in the developer account",
    "BroadcastFeatureNotEnabled":
      "broadcast push is not enabled for this bundle id: enable it in the developer account",
    "TopicMismatch": "the channel belongs to another bundle id than the credential's",
    "CannotCreateChannelConfig": "this app has reached the limit of 10,000 channels: delete some",
    "BadExpirationDate": "a channel that stores no message accepts only ttl 0",
  ]

  private static let rejected: @Sendable (APNsRefusal) -> Verdict = { .rejected(reason: $0.reason) }
  private static let blocked: @Sendable (APNsRefusal) -> Verdict = { .blocked(reason: $0.reason) }
  private static func retry(_ cause: Retry.Cause) -> @Sendable (APNsRefusal) -> Verdict {
    { .retry(Retry(cause, reason: $0.reason, retryAfter: $0.retryAfter)) }
  }
  /// Ids are never used again: the channel is to be forgotten.
  private static let gone: @Sendable (APNsRefusal) -> Verdict = {
    $0.status == 400 ? .dead(Death(reason: $0.reason)) : .rejected(reason: $0.reason)
  }
}
