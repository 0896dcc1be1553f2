package import Domain

extension OneSignalProvider {
  /// By protocols/onesignal.md section 7: 2, 4, 8 … seconds. The API answers within 100 seconds at most: until then a request
  /// without an answer may be at work.
  package var retry: RetryRules { RetryRules(base: 2_000, floors: [.unknownOutcome: 100_000]) }

  /// Requests of an app in a paid plan.
  package var quota: Quota { Quota(perMinute: 360_000, timesSubscribers: 10) }
}
