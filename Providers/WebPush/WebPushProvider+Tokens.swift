package import Domain

extension WebPushProvider {
  /// A token is a subscription, as `PushSubscription.toJSON` makes it in a browser. It is bound to its push service.
  package var tokens: TokenRules {
    TokenRules(kinds: [.device], form: .document) { text, _ throws(TokenRules.Fault) in
      let subscription = try Subscription(reading: text)
      return TokenRules.Token(subscription.kept, bundleID: subscription.endpoint.service.name)
    }
  }
}
