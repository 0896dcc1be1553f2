/// A machine that keeps one credential's authorization header fresh. The shell asks `need`, carries out what it answers,
/// and reports back. Single flight: while a fetch is under way `need` answers `.wait`, or `.use` of a still valid one.
package protocol Authorization: Sendable {
  /// `renewAhead` in the result of `.use` is honoured by calling `need` again with each request; no timer is needed.
  mutating func need(now: WallTime) -> AuthorizationNeed
  /// The answer to a fetch that `need` asked for; nil when the token endpoint gave none.
  mutating func fetched(_ answer: ProviderAnswer?, now: WallTime)
  /// The provider refused the header as expired or invalid: the next `need` renews it where the rules allow.
  mutating func refused(_ cause: Retry.Cause, now: WallTime)
  /// An operator may have mended what was refused: the next `need` does not wait for the end of a rest.
  mutating func retry()
  /// For how many milliseconds a connection must have carried one header before it may carry the next. When the header
  /// changes, connections that have not are left.
  var headerInterval: Int64 { get }
  /// Why the last fetch brought nothing, where it may soon; fit for a log.
  var difficulty: String? { get }
}

extension Authorization {
  package var headerInterval: Int64 { 0 }
  package var difficulty: String? { nil }
  /// By default nothing: for a machine that never rests after a refusal.
  package mutating func retry() {}
}

/// What the shell has to do before the next request.
package enum AuthorizationNeed: Sendable {
  /// The value of the `authorization` header; empty where the account needs none. `fetch` asks for an early renewal in the background.
  case use(String, fetch: TokenFetch?)
  case fetch(TokenFetch)
  case wait
  /// No header can be had before that time; `blocked` tells the operator's fault, nil a passing one.
  case unavailable(until: WallTime, blocked: String?)
}

/// A request on the way to an access token, carried by libcurl. A `file:` URL is the content of a file that its owner
/// renews: 200, or 404 if it cannot be read.
package struct TokenFetch: Hashable, Sendable {
  package var method: String
  package var url: String
  package var headers: [Header]
  package var body: [UInt8]
  /// The scheme of `url` is https, http for a metadata server, or `file:`.
  package init(method: String = "POST", url: String, headers: [Header] = [], body: [UInt8] = []) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }
}

/// Of accounts whose connections prove who they are: nothing goes with the requests.
package struct NoAuthorization: Authorization {
  package init() {}
  /// Always an empty header, at once.
  package mutating func need(now: WallTime) -> AuthorizationNeed { .use("", fetch: nil) }
  /// Never called, as nothing is fetched.
  package mutating func fetched(_ answer: ProviderAnswer?, now: WallTime) {}
  /// Changes nothing: another certificate needs a new configuration.
  package mutating func refused(_ cause: Retry.Cause, now: WallTime) {}
}
