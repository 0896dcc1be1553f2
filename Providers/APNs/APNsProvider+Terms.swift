package import Domain

extension APNsProvider {
  /// By protocols/apns.md section 11: a 5xx may go again after 15 minutes, `Shutdown` and a lost connection once at once; a
  /// token that is busy waits 30 to 60 seconds, doubling; a provider token renewed too often, or a quota, 60 seconds.
  package var retry: RetryRules {
    RetryRules(
      maximum: 14_400_000,
      floors: [
        .serverFault: 900_000, .closing: 900_000, .tokenBusy: 30_000, .quota: 60_000, .authorizationTooNew: 60_000,
      ],
      resendsAtOnce: [.closing: 1, .unknownOutcome: 1])
  }

  /// It names none.
  package var quota: Quota { Quota() }
}
