/// What a provider tells the configuration: what its credentials take, and what its vendor asks for.
package struct ProviderTerms: Sendable {
  package var settings: [CredentialSetting]
  package var retry: RetryRules
  package var quota: Quota

  package init(settings: [CredentialSetting], retry: RetryRules, quota: Quota) {
    self.settings = settings
    self.retry = retry
    self.quota = quota
  }

  /// Read once, at start.
  package init(_ provider: any PushProvider) {
    self.init(settings: provider.settings, retry: provider.retry, quota: provider.quota)
  }
}
