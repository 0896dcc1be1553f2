package struct RedisEndpoint: Hashable, Sendable {
  package enum Place: Hashable, Sendable {
    case unix(path: String)
    /// `caFile` nil with `tls`: the system's store.
    case tcp(host: String, port: Int, tls: Bool, caFile: String?)
  }
  package var place: Place
  package var username: String?
  package var password: String?
  package var database: Int = 0
  package init(_ place: Place) { self.place = place }
}
