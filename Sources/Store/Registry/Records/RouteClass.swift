package import Domain

/// What decides by which credential a device is reached: every device of an app is in exactly one.
package struct RouteClass: Hashable, Sendable {
  package var provider: ProviderName
  package var environment: Environment
  package var tokenKind: TokenKind
  package var bundleID: String?

  /// `bundleID` nil and "" are the same class when stored.
  package init(provider: ProviderName, environment: Environment, tokenKind: TokenKind, bundleID: String? = nil) {
    self.provider = provider
    self.environment = environment
    self.tokenKind = tokenKind
    self.bundleID = bundleID
  }

  /// With an empty token.
  package var address: Address {
    Address(provider: provider, token: "", tokenKind: tokenKind, environment: environment, bundleID: bundleID)
  }
}

extension RouteClass {
  init(of address: Address) {
    self.init(
      provider: address.provider, environment: address.environment, tokenKind: address.tokenKind,
      bundleID: address.bundleID)
  }

  /// `provider:environment:kind:bundle`, the last maybe empty.
  var name: String { "\(provider.rawValue):\(environment.rawValue):\(tokenKind.rawValue):\(bundleID ?? "")" }

  init?(name: String) {
    let parts = name.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 4, let environment = Environment(rawValue: parts[1]), let kind = TokenKind(rawValue: parts[2])
    else { return nil }
    self.init(
      provider: ProviderName(rawValue: parts[0]), environment: environment, tokenKind: kind,
      bundleID: parts[3].isEmpty ? nil : parts[3])
  }
}
