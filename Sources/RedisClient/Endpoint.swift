/// Where Redis is, and as whom and in which database to speak to it. `AUTH` goes out on each connect where there is a
/// password; a user without one is not told.
package struct RedisEndpoint: Hashable, Sendable {
  /// A unix socket (a path of at most 107 bytes), or TCP with or without TLS.
  package enum Place: Hashable, Sendable {
    case unix(path: String)
    /// `caFile` nil with `tls`: the system's store.
    case tcp(host: String, port: Int, tls: Bool, caFile: String?)

    /// As an operator would write it: a path, or `host:port`.
    package var text: String {
      switch self {
      case .unix(let path): path
      case .tcp(let host, let port, _, _): "\(host.contains(":") ? "[\(host)]" : host):\(port)"
      }
    }
  }
  package var place: Place
  package var username: String?
  package var password: String?
  package var database: Int = 0
  /// The default user, no password, database 0: the others are set one by one.
  package init(_ place: Place) { self.place = place }
}
