import Domain
import Loop
import Telemetry

/// What rate limits refuse, counted and logged. Belongs to the loop.
final class LimitMeters {
  /// Uses passed unchecked, as Redis did not answer, are counted by the asking.
  let unanswered: Counter
  private let metrics: Metrics
  private let log: Log
  let loop: EventLoop
  private var refusals: [Policy: (counter: Counter, burst: Burst)] = [:]

  private struct Policy: Hashable {
    var app: AppID
    var name: String
  }

  init(_ metrics: Metrics, _ log: Log, _ loop: EventLoop) {
    (self.metrics, self.log, self.loop) = (metrics, log, loop)
    unanswered = metrics.counter(
      "fanfare_rate_limit_unanswered_total",
      "Times that Redis did not answer for a rate limit; no limit then applies for a quarter of a second.")
  }

  func left(_ app: AppID, _ policy: String) -> Gauge {
    metrics.gauge(
      "fanfare_rate_limit_left", "Tokens that were left of an app's rate limit when this process last asked for some.",
      [("app", app.rawValue), ("policy", policy)])
  }

  /// One line for each app and policy at most every ten seconds, with the key that was refused last.
  func refused(_ policy: String, _ app: AppID, key: String?) {
    var refusal = refusals[Policy(app: app, name: policy)] ?? (counter(app, policy), Burst())
    refusal.counter.add()
    let count = refusal.burst.add(now: loop.now)
    refusals[Policy(app: app, name: policy)] = refusal
    guard let count else { return }
    log(
      .warning, "rate_limited",
      ["app": app.rawValue, "policy": policy, "count": String(count), "last_key": key ?? ""])
  }

  private func counter(_ app: AppID, _ policy: String) -> Counter {
    metrics.counter(
      "fanfare_rate_limit_refused_total",
      "Requests, or lines of bulk calls, refused because a rate limit is reached (429) or too small for them (422).",
      [("app", app.rawValue), ("policy", policy)])
  }
}
