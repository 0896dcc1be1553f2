/// Who aims an audience's share at OneSignal.
package enum OneSignalTargeting: String, Hashable, Sendable, CaseIterable {
  /// Fanfare, at the subscriptions that are registered with it.
  case fanfare
  /// OneSignal, at all its subscribers: the expression goes as filters.
  case provider
}
