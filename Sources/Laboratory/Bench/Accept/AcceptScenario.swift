/// A way of accepting, and the figures it is to reach.
struct AcceptScenario: Sendable {
  enum Way: Sendable {
    /// A message to one token in each request.
    case single
    /// So many lines in each request.
    case bulk(lines: Int)
  }
  var name: String
  var about: String
  var way = Way.single
  /// Redis' appendfsync.
  var fsync = "everysec"
  /// Requests a second; nil: as many as go.
  var rate: Double?
  /// API and worker share the core, and what is accepted is sent.
  var dispatches = false
  var figures: [Metric: Double] = [:]

  static let all = [
    AcceptScenario(
      name: "accept", about: "direct sends by HTTP, one token each, API only, appendfsync everysec",
      figures: [.accepts: 25_000, .ratio: 8, .redisRatio: 2.5, .instructions: 100_000]),
    AcceptScenario(
      name: "accept-5000", about: "the same at 5,000 a second", rate: 5_000, figures: [.late: 5]),
    AcceptScenario(
      name: "accept-always", about: "the same as fast as it goes, appendfsync always", fsync: "always",
      figures: [.accepts: 10_000]),
    AcceptScenario(
      name: "accept-dispatch", about: "accepted and sent on one core", dispatches: true,
      figures: [.rate: 15_000, .ratio: 13, .redisRatio: 4]),
    AcceptScenario(
      name: "bulk", about: "the bulk endpoint, 10,000 lines a request", way: .bulk(lines: 10_000),
      figures: [.accepts: 60_000, .ratio: 4, .redisRatio: 1.2]),
  ]
  static func named(_ name: String) -> AcceptScenario? { all.first { $0.name == name } }
}
