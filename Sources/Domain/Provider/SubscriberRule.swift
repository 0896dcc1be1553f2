/// A vendor's rule that disables an app which reaches, within some time, many more recipients than it has subscribers. Who
/// keeps it holds back what would break it.
package struct SubscriberRule: Hashable, Sendable {
  /// Whom the vendor counts together: accounts of one group share it.
  package var group: String
  /// Milliseconds.
  package var within: Int64
  /// `within`: milliseconds over which the vendor counts.
  package init(group: String, within: Int64) {
    self.group = group
    self.within = within
  }

  /// Shown on what waits for it.
  package static let reason = "subscriber_limit"
}
