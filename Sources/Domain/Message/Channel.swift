/// What can be asked of a provider about the broadcast channels of one app.
package enum ChannelCall: Hashable, Sendable {
  /// `keepsNewest`: a device that comes later gets the newest message. Cannot be changed afterwards.
  case create(keepsNewest: Bool)
  case read(String)
  case delete(String)
  case list
}

/// What the answer means.
package enum ChannelReply: Hashable, Sendable {
  case created(String)
  case found(keepsNewest: Bool)
  case listed([String])
  /// Now, or before.
  case deleted
  case unknown
  case refused(ChannelRefusal)
}

/// Why the vendor did not do what was asked of its channels.
package struct ChannelRefusal: Hashable, Sendable {
  /// Whose fault a refusal is, and so what the API answers.
  package enum Cause: Hashable, Sendable {
    /// There are as many channels as there may be.
    case full
    /// The request was at fault; the vendor will refuse it again.
    case request
    /// The authorization was too old: renew it, and ask once more on a new connection.
    case authorizationExpired
    /// The credential may not speak for the bundle id.
    case bundle
    /// The operator's fault.
    case credential
    /// It may work later.
    case passing
  }
  package var cause: Cause
  /// The vendor's own word.
  package var reason: String
  /// What to do about it.
  package var advice: String?
  /// `advice`: a sentence for the caller, where the vendor's word does not explain itself.
  package init(_ cause: Cause, reason: String, advice: String? = nil) {
    self.cause = cause
    self.reason = reason
    self.advice = advice
  }
}

/// An account whose provider has channels to manage. Pure, as all of a provider is.
package protocol ChannelAccount: ProviderAccount {
  /// Where channels are managed. Nil: `origin` replaces the vendor's host, and nothing is said of this one; the vendor is not asked.
  var channelOrigin: Origin? { get }
  /// `bundleID`: nil means the account's own.
  func request(_ call: ChannelCall, bundleID: String?, id: UUIDBytes, authorization: String) -> ProviderRequest
  func read(_ answer: ProviderAnswer, to call: ChannelCall) -> ChannelReply
}
