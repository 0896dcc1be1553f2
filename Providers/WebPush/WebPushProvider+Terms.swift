package import Domain

extension WebPushProvider {
  /// RFC 8030, section 8.4, asks to wait as `Retry-After` says, and leaves the rest to the sender.
  package var retry: RetryRules { RetryRules(floors: [.tokenBusy: 30_000, .serverFault: 5_000]) }

  /// No service names one.
  package var quota: Quota { Quota() }
}
