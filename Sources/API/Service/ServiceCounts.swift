import Domain
import Store
import Telemetry

/// What the API counts.
final class ServiceCounts {
  private static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
  private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

  private let metrics: Metrics
  private var requests: [RequestKey: Counter] = [:]
  private var durations: [String: Histogram] = [:]
  private var targets: [String: Counter] = [:]
  /// What was counted last: under load the next request is of the same kind.
  private var last: (key: RequestKey, counter: Counter, histogram: Histogram)?
  private let accepted: [Urgency: Counter]

  private struct RequestKey: Hashable {
    var path: String
    var method: String
    var status: Int
  }

  init(_ metrics: Metrics) {
    self.metrics = metrics
    accepted = Dictionary(
      uniqueKeysWithValues: Urgency.allCases.map {
        ($0, metrics.counter("fanfare_accepted_messages_total", "Messages accepted (202).", [("urgency", $0.rawValue)]))
      })
  }

  /// `path`: a template of the route table, so that paths cannot grow the metrics.
  func answered(_ path: String, _ method: String, _ status: Int, seconds: Double) {
    let method = method == last?.key.method || Self.methods.contains(method) ? method : "other"
    let key = RequestKey(path: path, method: method, status: status)
    if let last, last.key == key {
      last.counter.add()
      return last.histogram.observe(seconds: seconds)
    }
    let counter =
      requests[key]
      ?? metrics.counter(
        "fanfare_http_requests_total", "API requests by route and status.",
        [("route", path), ("method", method), ("status", String(status))])
    requests[key] = counter
    counter.add()
    let histogram =
      durations[path]
      ?? metrics.histogram(
        "fanfare_http_request_seconds", "Time to answer API requests.", bounds: Self.bounds, [("route", path)])
    durations[path] = histogram
    histogram.observe(seconds: seconds)
    last = (key, counter, histogram)
  }

  /// Members of an audience are queued, as far as is known at accept. How deliveries end is counted where they end.
  func accepted(_ message: PreparedMessage) {
    accepted[message.submission.urgency]?.add()
    if message.submission.targets.count == 1, case .queue = message.submission.targets[0].route {
      return queuedTargets.add()
    }
    var counts: [String: UInt64] = [:]
    if let audience = message.submission.audience { counts["queued"] = UInt64(audience.counts.values.reduce(0, +)) }
    for target in message.submission.targets {
      switch target.route {
      case .queue: counts["queued", default: 0] += 1
      case .ended: counts["ended", default: 0] += 1
      }
    }
    for (route, count) in counts { counter(of: route).add(count) }
  }

  /// Of what almost every message is.
  private lazy var queuedTargets = counter(of: "queued")

  private func counter(of route: String) -> Counter {
    if let known = targets[route] { return known }
    let counter = metrics.counter(
      "fanfare_accepted_targets_total", "Targets of accepted messages: queued, or ended at once.", [("state", route)])
    targets[route] = counter
    return counter
  }
}
