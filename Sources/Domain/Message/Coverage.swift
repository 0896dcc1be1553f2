/// Which of its provider's addresses a credential serves. A key serves most; a certificate or a key with topics of its own
/// serves some.
package struct Coverage: Hashable, Sendable {
  /// The kinds of token by bundle id; nil: every bundle id.
  package var bundleIDs: [String: Set<TokenKind>]?
  /// Nil: every kind. Of no meaning beside `bundleIDs`.
  package var tokenKinds: Set<TokenKind>?
  /// What an address that names no bundle id means; nil: there are no bundle ids here.
  package var ownBundleID: String?

  /// Without arguments: everything.
  package init(
    bundleIDs: [String: Set<TokenKind>]? = nil, tokenKinds: Set<TokenKind>? = nil, ownBundleID: String? = nil
  ) {
    self.bundleIDs = bundleIDs
    self.tokenKinds = tokenKinds
    self.ownBundleID = ownBundleID
  }

  /// Of a credential without topics of its own.
  package static let everything = Coverage()

  /// A credential that is bound to bundle ids serves no address without one, unless it has a bundle id of its own.
  package func serves(_ address: Address) -> Bool {
    // Nearly all credentials serve everything: no look-up then.
    if bundleIDs == nil, tokenKinds == nil { return true }
    guard let bundleIDs else { return tokenKinds?.contains(address.tokenKind) != false }
    guard let name = address.bundleID ?? ownBundleID else { return false }
    return bundleIDs[name]?.contains(address.tokenKind) == true
  }

  /// Every address that `other` serves is served here too.
  package func includes(_ other: Coverage) -> Bool {
    let kinds = tokenKinds ?? Set(TokenKind.allCases)
    guard let bundleIDs else {
      if let theirs = other.bundleIDs { return theirs.values.allSatisfy(kinds.isSuperset(of:)) }
      return kinds.isSuperset(of: other.tokenKinds ?? Set(TokenKind.allCases))
    }
    guard let theirs = other.bundleIDs, !theirs.isEmpty else { return false }
    guard theirs.allSatisfy({ bundleIDs[$0]?.isSuperset(of: $1) == true }) else { return false }
    // Addresses without a bundle id go by each one's own.
    let nameless = other.ownBundleID.flatMap { theirs[$0] } ?? []
    return (ownBundleID.flatMap { bundleIDs[$0] } ?? []).isSuperset(of: nameless)
  }
}
