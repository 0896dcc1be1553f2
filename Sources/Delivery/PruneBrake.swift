import Domain
import Glibc
import Store

package struct PruneBrakeSettings: Sendable {
  /// No brake before so many verdicts in a row of suspicion.
  package var minimumSample = 20
  /// A share of dead tokens is normal up to this many times the norm…
  package var factor = 5.0
  /// … and always up to this.
  package var floorShare = 0.2
  /// Verdicts, on average, until a share that is just normal puts the brake on by chance: at least so many.
  package var falseAlarm = 1e9
  /// Weight in verdicts of the share that is believed of a credential that has no history, and that share.
  package var priorWeight = 1_000.0
  package var priorShare = 0.01
  package init() {}
}

/// Whether one credential's prunes are carried out or put aside (design D13). A cumulative sum of log-likelihood ratios compares the
/// share of verdicts that say dead with the highest that is normal: it falls with normal traffic and passes its bound within
/// some twenty verdicts when all tokens are called dead, whatever went before. Requests that are at work together are answered in any
/// order, the dead often first (they need no delivery) or last (their answers have a body): among them the sum keeps what the living
/// have earned, and counts those that are still at work as alive. Verdicts on deliveries that were neither accepted nor dead tell
/// nothing about tokens and do not enter.
struct PruneBrake {
  enum State: Hashable {
    /// Exits: `tripped` by a jump, `held` when another worker has put it on.
    case off
    /// On by this worker's own judgement, not yet known to the others. Exit: `held` when they are told.
    case tripped
    /// On for all workers. Exit: `off` when an operator has released it.
    case held
  }

  private(set) var state = State.off
  private let settings: PruneBrakeSettings
  private var weights: (dead: Double, alive: Double) = (0, 0)
  private(set) var norm = 0.0
  /// Of a jump: falls below 0 as far as what is at work together can bring it.
  private var sum = 0.0
  /// Of a doubt: falls a little below 0, so that a dead token right behind some that live is believed.
  private var doubt = 0.0
  private var flight = Flight()
  /// Since a living token last left the sum at 0 or less.
  private var run = (seen: 0, dead: 0)
  private var unreported = (seen: 0, dead: 0)

  init(_ settings: PruneBrakeSettings) {
    self.settings = settings
    learned(PruneNorm())
  }

  /// Prunes are put aside.
  var isOn: Bool { state != .off }

  /// What is believed of tokens called dead, while the brake is off.
  enum Trust: Hashable, Comparable {
    /// What only a dead token brings.
    case certain
    /// What a wrong setting of the credential would bring as well.
    case doubtful
  }

  var trust: Trust { doubt <= 0 ? .doubtful : .certain }

  /// The token took a push. `outstanding`: requests still at work. True: more is believed now than before.
  mutating func alive(outstanding: Int) -> Bool {
    unreported.seen += 1
    flight.saw(outstanding)
    let before = trust
    doubt = max(doubt + weights.alive, -weights.dead)
    run.seen += 1
    sum += weights.alive
    bottom(outstanding)
    if sum <= 0 { run = (0, 0) }
    return state == .off && trust > before
  }

  /// The token was called dead. True: the brake has just gone on.
  mutating func dead(outstanding: Int) -> Bool {
    unreported.seen += 1
    unreported.dead += 1
    flight.saw(outstanding)
    doubt += weights.dead
    run.seen += 1
    run.dead += 1
    sum += weights.dead
    let isJump = run.seen >= settings.minimumSample && sum + weights.alive * Double(outstanding) >= bound
    bottom(outstanding)
    guard state == .off, isJump else { return false }
    state = .tripped
    return true
  }

  /// What was earned by requests that ended before any now at work began counts no more.
  private mutating func bottom(_ outstanding: Int) {
    if outstanding == 0 { flight = Flight() }
    sum = max(sum, min(-weights.dead, weights.alive * Double(flight.width)))
  }

  /// How many requests were at work together, at most, while those that are now began.
  private struct Flight {
    private var before = 0
    private var now = 0
    private var verdicts = 0
    var width: Int { max(before, now) }

    mutating func saw(_ outstanding: Int) {
      now = max(now, outstanding + 1)
      verdicts += 1
      guard verdicts >= width else { return }
      (before, now, verdicts) = (now, outstanding + 1, 0)
    }
  }

  /// The credential has other settings: that its tokens were reached with those before proves nothing now.
  mutating func renewed() {
    doubt = max(0, doubt)
    sum = max(0, sum)
    flight = Flight()
  }

  /// What put it on. With the brake on, reports are added to this: the next one tells neither of it nor of what came before it, which
  /// the norm, no exact number, can miss.
  mutating func braked(at now: WallTime) -> Braked {
    unreported = (0, 0)
    return Braked(since: now, seen: run.seen, dead: run.dead, norm: norm)
  }

  /// All workers know of it.
  mutating func told() { if state == .tripped { state = .held } }

  /// What the store says of it. True: that is a change.
  mutating func heard(isOn: Bool) -> Bool {
    switch (state, isOn) {
    case (.off, true):
      state = .held
      return true
    case (.held, false):
      state = .off
      calm()
      return true
    case (.off, false), (.held, true), (.tripped, _): return false
    }
  }

  /// What the norms do not know yet.
  mutating func report() -> (seen: Int, dead: Int) {
    defer { unreported = (0, 0) }
    return unreported
  }

  /// The report did not arrive.
  mutating func unreported(_ report: (seen: Int, dead: Int)) {
    unreported.seen += report.seen
    unreported.dead += report.dead
  }

  mutating func learned(_ norm: PruneNorm) {
    let seen = norm.seen + settings.priorWeight
    self.norm = (norm.dead + settings.priorShare * settings.priorWeight) / seen
    let normal = min(Self.highestNormal, max(settings.floorShare, settings.factor * self.norm))
    let jump = min((1 + normal) / 2, 4 * normal)
    let new = (dead: log(jump / normal), alive: log((1 - jump) / (1 - normal)))
    weights = new
  }

  /// Where nearly all are dead as a rule there is no jump to be seen.
  private static let highestNormal = 0.9

  /// The sum's bound: from a share that is just normal it takes the exponential of it on average.
  private var bound: Double { log(settings.falseAlarm) }

  private mutating func calm() {
    (sum, doubt) = (0, 0)
    flight = Flight()
    run = (0, 0)
  }
}
