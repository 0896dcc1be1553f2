import Domain
import Store
import Telemetry

/// Upper bounds in seconds, from a quick answer on loopback to a provider's time-out.
private let latencyBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/// What one loop's worker counts. Loops share the families: their counts add up.
struct WorkerMetrics {
  let pruned: Counter
  let held: Counter
  let waitingPrunes: Gauge
  let braked: Counter
  let flushes: Counter
  let flushSize: Histogram
  let flushRepeats: Counter
  let claimedJobs: Counter
  let startedAudiences: Counter
  let leases: Gauge
  let workers: Gauge
  let lanes: Gauge
  let unflushed: Gauge
  let errorBrakes: Counter
  let forgotten: Counter
  let rateLost: Counter
  private let metrics: Metrics

  init(_ metrics: Metrics) {
    self.metrics = metrics
    pruned = metrics.counter("fanfare_pruned_total", "Devices pruned because their provider called them dead.")
    held = metrics.counter(
      "fanfare_prunes_held_total", "Prunes held for the operator because their credential's prune brake was on.")
    waitingPrunes = metrics.gauge(
      "fanfare_prunes_waiting",
      "Prunes in memory that wait for more evidence, at most until their credential has nothing more to send.")
    braked = metrics.counter(
      "fanfare_prune_brakes_total", "Times a jump in the share of dead tokens put a prune brake on.")
    flushes = metrics.counter("fanfare_flushes_total", "Groups of outcomes written.")
    flushSize = metrics.histogram(
      "fanfare_flush_outcomes", "Outcomes in a flush.", bounds: [1, 4, 16, 64, 128, 256, 512, 1024, 2048])
    flushRepeats = metrics.counter("fanfare_flush_repeats_total", "Flushes repeated because their reply was lost.")
    claimedJobs = metrics.counter("fanfare_claimed_jobs_total", "Jobs taken from the queue.")
    startedAudiences = metrics.counter(
      "fanfare_audiences_started_total", "Audience parts whose members were decided.")
    leases = metrics.gauge("fanfare_partitions_owned", "Partitions whose lease this process holds.")
    workers = metrics.gauge("fanfare_workers", "Live worker loops in all processes of the store.")
    lanes = metrics.gauge("fanfare_lanes", "Tokens with deliveries that wait, back off or are in flight.")
    unflushed = metrics.gauge("fanfare_outcomes_unflushed", "Outcomes not yet written.")
    errorBrakes = metrics.counter(
      "fanfare_error_brakes_total", "Messages paused because too many of their deliveries failed.")
    rateLost = metrics.counter(
      "fanfare_rate_lost_total",
      "Permissions of a rate_per_second that expired unused because this machine, Redis or a connection was slow.")
    forgotten = metrics.counter(
      "fanfare_outcomes_forgotten_total", "Answers dropped because another worker had taken over the partition.")
  }

  /// Deliveries that became final, as the store counted them when it wrote their outcomes: by whatever they ended, each once.
  func ended(_ tally: Tally) {
    Self.deliveries(metrics, tally.provider, tally.outcome).add(UInt64(max(0, tally.count)))
  }

  fileprivate static func deliveries(_ metrics: Metrics, _ provider: ProviderName?, _ outcome: Outcome) -> Counter {
    metrics.counter(
      "fanfare_deliveries_total", "Ended deliveries by outcome, as in the reports of messages.",
      [("provider", provider?.rawValue ?? "unknown"), ("outcome", outcome.rawValue)])
  }
}

/// What one credential's sender counts, by provider.
final class SenderMetrics {
  private let accepted: Counter
  private let retry: Counter
  private let dead: Counter
  private let rejected: Counter
  private let blocked: Counter
  private let unreachable: Counter
  private let untilFirst: Histogram
  private let answer: Histogram
  private let atWork: Gauge
  private let connections: Gauge
  private let limit: Gauge
  private let retries: Counter
  private let blockedGauge: Gauge
  private let earlyTokens: Counter
  private let timelyTokens: Counter
  private var tokenSince: Instant?
  private var isBlocked = false
  private var open = 0
  private var bound = 0

  init(_ metrics: Metrics, provider: ProviderName) {
    let label = ("provider", provider.rawValue)
    let attempts = { (verdict: String) in
      metrics.counter(
        "fanfare_attempts_total", "Requests by the verdict on their answer.", [label, ("verdict", verdict)])
    }
    accepted = attempts("accepted")
    retry = attempts("retry")
    dead = attempts("dead")
    rejected = attempts("rejected")
    blocked = attempts("blocked")
    unreachable = attempts("unreachable")
    // They are there from the start, at 0.
    for outcome in Outcome.allCases { _ = WorkerMetrics.deliveries(metrics, provider, outcome) }
    untilFirst = metrics.histogram(
      "fanfare_accept_to_attempt_seconds", "From acceptance to the first request.", bounds: latencyBounds, [label])
    answer = metrics.histogram(
      "fanfare_attempt_seconds", "From a request to its answer.", bounds: latencyBounds, [label])
    atWork = metrics.gauge("fanfare_requests_at_work", "Requests without an answer yet.", [label])
    connections = metrics.gauge("fanfare_connections", "Connections in use.", [label])
    limit = metrics.gauge(
      "fanfare_concurrency_limit",
      "Requests allowed in flight at a time, by the peers' SETTINGS and the learned limit.",
      [label])
    retries = metrics.counter("fanfare_retries_total", "Deliveries that were retried or wait for a retry.", [label])
    blockedGauge = metrics.gauge(
      "fanfare_credentials_blocked", "Credentials that wait for the operator.", [label])
    let tokens = { (change: String) in
      metrics.counter(
        "fanfare_provider_token_changes_total",
        "Provider or access tokens replaced by another one: early within 20 minutes of the change before, otherwise timely.",
        [label, ("change", change)])
    }
    earlyTokens = tokens("early")
    timelyTokens = tokens("timely")
  }

  /// Milliseconds. APNs wants no more than one new token in this time; access tokens of FCM live three times as long.
  static let earlyToken: Int64 = 20 * 60_000

  /// The next token is the first of another account: no change.
  func credentialReplaced() { tokenSince = nil }

  /// Requests go with another token from now on, the first one included.
  func tokenChanged(now: Instant) {
    defer { tokenSince = now }
    guard let tokenSince else { return }
    (now - tokenSince < Self.earlyToken ? earlyTokens : timelyTokens).add()
  }

  func firstAttempt(after milliseconds: Int64) { firstAttempts(1, after: milliseconds) }
  func firstAttempts(_ count: Int, after milliseconds: Int64) {
    untilFirst.observe(seconds: Double(max(0, milliseconds)) / 1000, times: UInt64(count))
  }
  func began() { atWork.add(1) }

  /// Requests of members of an audience, all of them first ones.
  func began(_ count: Int, firstAfter milliseconds: Int64) {
    atWork.add(Int64(count))
    firstAttempts(count, after: milliseconds)
  }
  func answered(seconds: Double) { answer.observe(seconds: seconds) }
  /// Deliveries that have ended with the requests of which `answered` was told.
  func accepted(_ count: Int) {
    atWork.add(-Int64(count))
    accepted.add(UInt64(count))
  }

  func retried() { retries.add() }

  func ended(_ verdict: Verdict, seconds: Double) {
    atWork.add(-1)
    answer.observe(seconds: seconds)
    let counter =
      switch verdict {
      case .accepted: accepted
      case .retry: retry
      case .dead: dead
      case .rejected: rejected
      case .blocked: blocked
      }
    counter.add()
  }

  /// The request never left, as the peer cannot be reached.
  func withdrawn() {
    atWork.add(-1)
    unreachable.add()
  }

  func blocked(_ now: Bool) {
    guard now != isBlocked else { return }
    isBlocked = now
    blockedGauge.add(now ? 1 : -1)
  }

  func connections(_ count: Int) {
    connections.add(Int64(count - open))
    open = count
  }

  func limit(_ count: Int) {
    limit.add(Int64(count - bound))
    bound = count
  }
}
