package import Domain

extension FCMProvider {
  /// By protocols/fcm.md section 5: at least 10 seconds before any retry, 60 for a quota, doubling; after about 60 minutes
  /// senders are to give up, or risk being denied.
  package var retry: RetryRules {
    RetryRules(base: 10_000, floors: [.quota: 60_000, .tokenBusy: 60_000], giveUpAfter: 3_600_000)
  }

  /// Of a project; bulk grows to it over a minute.
  package var quota: Quota { Quota(perMinute: 600_000, rampUp: 60_000) }
}
