/// A machine that keeps one credential's authorization header fresh. The shell asks `need`, carries out what it answers,
/// and reports back. Single flight: while a fetch is under way `need` answers `.wait`, or `.use` of a still valid one.
package protocol Authorization: Sendable {
  /// `renewAhead` in the result of `.use` is honoured by calling `need` again with each request; no timer is needed.
  mutating func need(now: WallTime) -> AuthorizationNeed
  /// The answer to a fetch that `need` asked for; nil when the token endpoint gave none.
  mutating func fetched(_ answer: ProviderAnswer?, now: WallTime)
  /// The provider refused the header as expired or invalid: the next `need` renews it where the rules allow.
  mutating func refused(_ cause: Retry.Cause, now: WallTime)
}

package enum AuthorizationNeed: Sendable {
  /// The value of the `authorization` header. `fetch` asks for an early renewal in the background.
  case use(String, fetch: TokenFetch?)
  case fetch(TokenFetch)
  case wait
  /// No header can be had before that time; `blocked` tells the operator's fault, nil a passing one.
  case unavailable(until: WallTime, blocked: String?)
}

/// A request for an access token, carried by libcurl.
package struct TokenFetch: Hashable, Sendable {
  package var url: String
  package var headers: [Header]
  package var body: [UInt8]
  package init(url: String, headers: [Header], body: [UInt8]) {
    self.url = url
    self.headers = headers
    self.body = body
  }
}
