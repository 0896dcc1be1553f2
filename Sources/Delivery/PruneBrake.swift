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
  package var falseAlarm = 1e6
  /// Weight in verdicts of the share that is believed of a credential that has no history, and that share.
  package var priorWeight = 1_000.0
  package var priorShare = 0.01
  package init() {}
}

/// Whether one credential's prunes are carried out or put aside (design D13). A cumulative sum of log-likelihood ratios compares the
/// share of verdicts that say dead with the highest that is normal: it falls to 0 with normal traffic and passes its bound within
/// some ten verdicts when all tokens are called dead, whatever went before. Verdicts on deliveries that were neither accepted nor
/// dead tell nothing about tokens and do not enter.
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
  /// Falls a little below 0: a dead token right behind some that live is believed.
  private var score = 0.0
  /// Since the score last was 0 or less.
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

  var trust: Trust { score <= 0 ? .doubtful : .certain }

  /// The token took a push. True: more is believed now than before.
  mutating func alive() -> Bool {
    unreported.seen += 1
    guard score > -weights.dead else { return false }
    let before = trust
    run.seen += 1
    score = max(score + weights.alive, -weights.dead)
    if score <= 0 { run = (0, 0) }
    return state == .off && trust > before
  }

  /// The token was called dead. `outstanding`: deliveries at work; as dead ones may be answered first, they
  /// are taken for alive. True: the brake has just gone on.
  mutating func dead(outstanding: Int) -> Bool {
    unreported.seen += 1
    unreported.dead += 1
    run.seen += 1
    run.dead += 1
    score += weights.dead
    guard state == .off, run.seen >= settings.minimumSample, score + weights.alive * Double(outstanding) >= bound else {
      return false
    }
    state = .tripped
    return true
  }

  /// The credential has other settings: that its tokens were reached with those before proves nothing now.
  mutating func renewed() { score = max(0, score) }

  /// What put it on.
  func braked(at now: WallTime) -> Braked { Braked(since: now, seen: run.seen, dead: run.dead, norm: norm) }

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
    score = 0
    run = (0, 0)
  }
}
