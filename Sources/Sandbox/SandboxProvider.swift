/// Whom a request was for. `oauth` is the token endpoint beside FCM.
package enum SandboxProvider: Int, CaseIterable, Hashable, Sendable {
  case apns, fcm, oneSignal, oauth

  /// As written in rules, log and statistics.
  package var word: String {
    switch self {
    case .apns: "apns"
    case .fcm: "fcm"
    case .oneSignal: "onesignal"
    case .oauth: "oauth"
    }
  }
  package init?(word: String) {
    guard let match = Self.allCases.first(where: { $0.word == word }) else { return nil }
    self = match
  }
  var speaksHTTP2: Bool { self == .apns || self == .fcm }
}
