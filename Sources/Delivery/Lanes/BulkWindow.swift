import Domain

package struct BulkWindowSettings: Sendable {
  /// Milliseconds that bulk may add to a peer's quickest answers, or as long as these take, if that is more: more of them make
  /// larger groups of everything, which cost less each.
  package var wait = 5.0
  /// The same while urgent requests come, and so many milliseconds after the last of them.
  package var waitBesideUrgent = 2.0
  package var besideUrgent: Int64 = 2_000
  /// Requests of bulk that may always be at work.
  package var minimum = 100
  /// Answers looked at together, and milliseconds in which they come at least.
  package var window = 100
  package var span: Int64 = 40
  /// Milliseconds in which a peer is believed whose answers do not get quicker by fewer requests: at first, and at most.
  package var trust: Int64 = 1_000
  package var longestTrust: Int64 = 60_000
  package init() {}
}

/// How many requests bulk keeps at work, so that an urgent one does not wait long behind them, wherever they queue: here, on the
/// way, or at the peer. Requests beyond what keeps the peer busy only wait for each other: their answers take longer, and no
/// more of them come. So it is halved while answers take longer than the quickest have shown to be possible. Where fewer requests
/// bring fewer answers, and none sooner, the peer is slow or far away: it gets back what it had, and is believed for a while.
struct BulkWindow {
  private let settings: BulkWindowSettings
  /// Nil: as many as the peer takes.
  private(set) var bound: Int?
  /// The peer's quickest answer, in milliseconds.
  private(set) var quickest: Double?
  private struct Sum {
    var count = 0
    var time = 0.0
    var most = 0
    var quickest = Double.infinity
    var since = Instant(nanoseconds: 0)
  }
  private struct Found {
    /// Milliseconds an answer took in the mean, and answers in a millisecond.
    var time: Double
    var rate: Double
  }
  private var sum = Sum()
  /// It was halved from `before`: the next answers tell whether that helps.
  private var trial: (before: Int?, found: Found)?
  /// Requests begun before it say nothing of the bound as it is.
  private var changed = Instant(nanoseconds: 0)
  private var trusted = Instant(nanoseconds: 0)
  private var trust: Int64
  private var urgentUntil = Instant(nanoseconds: 0)

  init(_ settings: BulkWindowSettings) {
    self.settings = settings
    trust = settings.trust
  }

  /// An urgent request has come.
  mutating func urgentCame(now: Instant) { urgentUntil = now + settings.besideUrgent }

  /// How many more of bulk may begin.
  func room(atWork: Int) -> Int { bound.map { $0 - atWork } ?? .max }

  /// A request was answered; `atWork`: how many were at work, it among them; `capacity`: how many the peer allows.
  mutating func answered(
    took milliseconds: Double, began: Instant, atWork: Int, capacity: @autoclosure () -> Int, now: Instant
  ) {
    guard began >= changed else { return }
    if sum.count == 0 { sum.since = now }
    sum.count += 1
    sum.time += milliseconds
    sum.most = max(sum.most, atWork)
    sum.quickest = min(sum.quickest, milliseconds)
    if sum.count >= settings.window, now - sum.since >= settings.span { judge(capacity: capacity(), now: now) }
  }

  private mutating func judge(capacity: Int, now: Instant) {
    let sum = sum
    self.sum = Sum()
    let found = Found(
      time: sum.time / Double(sum.count),
      rate: Double(sum.count) * 1e6 / Double(now.nanoseconds - sum.since.nanoseconds))
    if let trial, let bound {
      // Bulk was held up elsewhere: this tells nothing.
      guard sum.most * 10 >= bound * 9 else { return }
      self.trial = nil
      if found.rate < Self.same * trial.found.rate, found.time > Self.same * trial.found.time {
        self.bound = trial.before
        (changed, trusted) = (now, now + trust)
        trust = min(2 * trust, settings.longestTrust)
        return
      }
      trust = settings.trust
    }
    let quickest = min(quickest ?? sum.quickest, sum.quickest)
    self.quickest = quickest
    let wait = now < urgentUntil ? settings.waitBesideUrgent : settings.wait
    if found.time > Self.slack * max(2 * quickest, quickest + wait) {
      halve(sum.most, found, now)
    } else if let bound, sum.most * 10 >= bound * 9 {
      let raised = bound + max(1, bound / 16)
      self.bound = raised >= capacity ? nil : raised
    }
  }
  /// Half the requests bring half the answers, or all of them in half the time: this lies between.
  private static let same = 0.75
  /// Answers are never all alike. With more than 2, half of the requests still keep the peer busy.
  private static let slack = 1.25

  private mutating func halve(_ most: Int, _ found: Found, _ now: Instant) {
    let halved = max(settings.minimum, min(bound ?? most, most) / 2)
    guard halved < bound ?? most, now >= trusted else { return }
    trial = (bound, found)
    bound = halved
    changed = now
  }
}
