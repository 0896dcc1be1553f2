/// Decides what becomes of the addresses of one message: by whom they are sent to, or why not.
package struct RouteResolver: Sendable {
  package let app: App
  package let message: Message
  package let providers: [ProviderName: any PushProvider]
  /// Accounts that are open: a route to any other leads nowhere.
  package let accounts: Set<CredentialID>

  /// `accounts`: those that were opened. A configured credential that is not among them serves nobody.
  package init(
    app: App, message: Message, providers: [ProviderName: any PushProvider], accounts: Set<CredentialID>
  ) {
    self.app = app
    self.message = message
    self.providers = providers
    self.accounts = accounts
  }

  /// Looks at the route only: an address without its token gets the same answer.
  package func route(of address: Address) -> Route {
    if let wanted = message.providers, !wanted.contains(address.provider) {
      return .skipped(.providerExcluded)
    }
    let pushType = message.pushType
    guard let provider = providers[address.provider] else { return .skipped(.kindUnsupported) }
    guard pushType.tokenKinds.contains(address.tokenKind), provider.carries(pushType, to: address) else {
      return .skipped(provider.carries(pushType, toAnyLike: address) ? .tokenKind : .kindUnsupported)
    }
    guard let credential = app.credential(for: address), accounts.contains(credential) else {
      return .skipped(.noCredential)
    }
    return .queue(credential)
  }

  /// The message can go there.
  package func carries(_ address: Address) -> Bool { route(of: address).isQueued }
}

extension PushProvider {
  /// The provider has such a push; it goes to a token of another kind than this one, where `address` has not the right
  /// one.
  fileprivate func carries(_ pushType: PushType, toAnyLike address: Address) -> Bool {
    pushType.tokenKinds.contains { kind in
      var other = address
      other.tokenKind = kind
      return carries(pushType, to: other)
    }
  }
}
