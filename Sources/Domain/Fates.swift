/// Decides what becomes of the addresses of one message: by whom they are sent to, or why not.
package struct Fates: Sendable {
  package let app: App
  package let message: Message
  package let providers: [ProviderName: any PushProvider]
  /// Accounts that are open: a route to any other leads nowhere.
  package let accounts: Set<CredentialID>

  package init(
    app: App, message: Message, providers: [ProviderName: any PushProvider], accounts: Set<CredentialID>
  ) {
    self.app = app
    self.message = message
    self.providers = providers
    self.accounts = accounts
  }

  /// Looks at the route only: an address without its token gets the same answer.
  package func fate(of address: Address) -> Fate {
    if let wanted = message.providers, !wanted.contains(address.provider) {
      return .ended(.skipped, reason: "provider_excluded")
    }
    let errand = message.errand
    guard errand.tokenKinds.contains(address.tokenKind), let provider = providers[address.provider],
      provider.carries(errand, to: address)
    else {
      return .ended(.skipped, reason: "kind_unsupported")
    }
    guard let credential = app.credential(for: address), accounts.contains(credential) else {
      return .ended(.skipped, reason: "no_credential")
    }
    return .queue(credential)
  }

  /// The message can go there.
  package func carries(_ address: Address) -> Bool { fate(of: address).isQueued }
}
