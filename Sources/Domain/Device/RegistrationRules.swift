/// How phones and browsers register themselves with a key of scope `register`, as an app has configured it.
package struct RegistrationRules: Sendable {
  /// By which a phone shows whose it is; nil: the app has no keys for that, and a `register` key names no user.
  package var identity: (any IdentityVerifying)?
  /// From `iat` to `exp` of an identity token, at most; milliseconds.
  package var tokenLifetime: Int64 = 3_600_000
  /// False: each registration with a `register` key needs an identity token.
  package var allowsAnonymous = true
  /// The configuration says whether anonymous registration is allowed, so that somebody has decided it.
  package var decidesAnonymous = false
  /// What a registration without an identity token may set.
  package var anonymousTags = 20
  package var anonymousAttributes = 20
  /// New devices of one address, registered without an identity token: so many at once, and as many more each hour.
  package var anonymousDevices = 1_000
  /// Web pages that may register their browsers, as browsers write them: `https://www.example.com`.
  package var origins: Set<String> = []
  /// The defaults of the configuration.
  package init() {}
}
