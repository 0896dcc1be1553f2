/// Whom a request was for. `channels` is the management of APNs' broadcast channels; `oauth` is what gives out access
/// tokens for FCM: token endpoint, STS, metadata server.
package enum SandboxProvider: Int, CaseIterable, Hashable, Sendable {
  case apns, fcm, oneSignal, oauth, channels, webPush

  /// As written in rules, log and statistics.
  package var word: String {
    switch self {
    case .apns: "apns"
    case .fcm: "fcm"
    case .oneSignal: "onesignal"
    case .oauth: "oauth"
    case .channels: "channels"
    case .webPush: "webpush"
    }
  }
  package init?(word: String) {
    guard let match = Self.allCases.first(where: { $0.word == word }) else { return nil }
    self = match
  }
  /// Clients show a credential that a vendor can let expire.
  var hasExpiringCredentials: Bool { self == .apns || self == .fcm || self == .channels }
}
