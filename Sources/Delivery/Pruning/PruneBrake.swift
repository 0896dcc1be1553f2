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

/// Whether one credential's prunes are carried out, wait, or are put aside for the operator (decision 0019). It compares the share of
/// verdicts that say dead with the highest that is normal, twice: among the requests that are at work, which is soon seen and makes
/// prunes wait in memory (`isSuspicious`), and among all deliveries in memory, as those to dead tokens may stand next to each other:
/// that puts the brake on. Verdicts on deliveries that were neither accepted nor dead tell nothing about tokens and do not enter.
struct PruneBrake {
  enum State: Hashable {
    /// Exits: `tripped` by a jump, `held` when another worker has put it on.
    case off
    /// On by this worker's own judgement, not yet known to the others. Exit: `held` when they are told.
    case tripped
    /// On for all workers. Exit: `off` when an operator has released it.
    case held
  }

  /// What may still be answered beside the verdict at hand.
  struct Ahead: Hashable {
    /// By requests at work.
    var atWork: Int
    /// Of all deliveries in memory.
    var inMemory: Int
  }

  private(set) var state = State.off
  private let settings: PruneBrakeSettings
  private var weights = JumpSum.Weights()
  private(set) var norm = 0.0
  /// The highest share of dead tokens that is normal.
  private(set) var normal = 0.0
  private var jump = JumpSum()
  private var suspicion = JumpSum()
  /// Verdicts since prunes began to wait, those that made them wait among them; nil: they do not wait.
  private var suspected: (seen: Int, dead: Int)?
  private var doubt: Doubt?
  /// Tokens reached since doubtful words wait, or since nothing was ahead; and when the last request that reached one
  /// began. Requests of an earlier account do not count.
  private var reached: (count: Int, last: Instant)?
  private var accountSince = Instant(nanoseconds: 0)
  /// No verdict came since `conclude`.
  private(set) var isConcluded = true
  /// The verdicts that put the brake on.
  private var trippedBy: (seen: Int, dead: Int)?
  private var unreported = (seen: 0, dead: 0)

  /// Doubtful prunes that are being judged: what a wrong setting brings to one token it brings to all, and so only requests that began
  /// behind the last of these words tell whether the credential still reaches any.
  private struct Doubt {
    var since: Instant
    var sum: Double
  }

  init(_ settings: PruneBrakeSettings) {
    self.settings = settings
    learned(PruneNorm())
  }

  /// Prunes are put aside.
  var isOn: Bool { state != .off }
  /// Prunes wait: it may be a jump, or dead tokens that stand next to each other.
  var isSuspicious: Bool { suspected != nil }
  /// Doubtful prunes that were to be judged are not yet believed.
  var isJudging: Bool { doubt.map { $0.sum > 0 } ?? false }

  /// The token took a push whose request began then. True: more is believed now than before. `proves`: this speaks for the
  /// doubtful prunes that are being judged.
  mutating func alive(began: Instant, ahead: Ahead, proves: Bool = true) -> Bool {
    unreported.seen += 1
    isConcluded = false
    jump.alive(weights, ahead: ahead.inMemory)
    suspicion.alive(weights, ahead: ahead.atWork)
    if began >= accountSince { reached = ((reached?.count ?? 0) + 1, max(reached?.last ?? began, began)) }
    var isMore = false
    if proves, let known = doubt, known.sum > 0, began >= known.since {
      doubt?.sum += weights.alive
      isMore = !isJudging
    }
    if let known = suspected {
      let now = (seen: known.seen + 1, dead: known.dead)
      let isNormal = Double(now.dead) <= normal * Double(now.seen)
      suspected = isNormal ? nil : now
      isMore = isMore || isNormal
    }
    return state == .off && isMore
  }

  /// The token was called dead. True: the brake has just gone on.
  mutating func dead(began: Instant, ahead: Ahead) -> Bool {
    unreported.seen += 1
    unreported.dead += 1
    isConcluded = false
    if let known = doubt, began >= known.since { doubt?.sum += weights.dead }
    if let known = suspected { suspected = (known.seen + 1, known.dead + 1) }
    let least = (
      jump: jump.dead(weights, ahead: ahead.inMemory), suspicion: suspicion.dead(weights, ahead: ahead.atWork)
    )
    if suspected == nil, suspicion.run.seen >= settings.minimumSample, least.suspicion >= bound {
      suspected = suspicion.run
    }
    guard state == .off, jump.run.seen >= settings.minimumSample, least.jump >= bound else { return false }
    trip(jump.run)
    return true
  }

  private mutating func trip(_ run: (seen: Int, dead: Int)) {
    state = .tripped
    trippedBy = run
  }

  /// What becomes of the prunes that wait when nothing more is ahead.
  enum Conclusion: Hashable {
    /// They are carried out.
    case believed
    /// The brake has just gone on, or is on: they are put aside.
    case braked
    /// Those of certain words are carried out. Too few tokens were reached beside the doubtful ones: they wait.
    case undecided
  }

  /// Nothing more is ahead: what is known decides. `doubtful`: when the requests began whose doubtful words wait.
  /// Answers come in any order, so the requests are compared by their begin: words of requests that began behind the
  /// last that reached a token are the mark of a setting that went wrong, and as many as make a jump put the brake on.
  mutating func conclude(_ doubtful: [Instant]) -> Conclusion {
    doubt = nil
    isConcluded = true
    guard state == .off else { return .braked }
    if jump.run.seen >= settings.minimumSample, jump.sum >= bound {
      trip(jump.run)
      return .braked
    }
    suspected = nil
    let behind = doubtful.count { began in reached.map { began > $0.last } ?? true }
    if behind >= settings.minimumSample, Double(behind) * weights.dead >= bound {
      trip((behind, behind))
      return .braked
    }
    guard Double(reached?.count ?? 0) * weights.alive + Double(doubtful.count) * weights.dead <= 0 else {
      return .undecided
    }
    reached = nil
    return .believed
  }

  /// So many doubtful prunes are judged by what is sent from now on.
  mutating func judge(_ count: Int, from now: Instant) {
    doubt = count == 0 ? nil : Doubt(since: now, sum: Double(count) * weights.dead)
  }

  /// The credential has other settings: that its tokens were reached with those before proves nothing now.
  mutating func renewed(at now: Instant) {
    doubt = nil
    reached = nil
    accountSince = now
    jump.forget()
    suspicion.forget()
  }

  /// What put it on. With the brake on, reports are added to this: the next one tells neither of it nor of what came before it, which
  /// the norm, no exact number, can miss.
  mutating func braked(at now: WallTime) -> Braked {
    unreported = (0, 0)
    let run = trippedBy ?? jump.run
    return Braked(since: now, seen: run.seen, dead: run.dead, norm: norm, normal: normal)
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
      (jump, suspicion, suspected, doubt) = (JumpSum(), JumpSum(), nil, nil)
      (reached, trippedBy) = (nil, nil)
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

  mutating func learned(_ history: PruneNorm) {
    let seen = history.seen + settings.priorWeight
    norm = (history.dead + settings.priorShare * settings.priorWeight) / seen
    normal = min(Self.highestNormal, max(settings.floorShare, settings.factor * norm))
    let jump = min((1 + normal) / 2, 4 * normal)
    weights = .init(dead: log(jump / normal), alive: log((1 - jump) / (1 - normal)))
  }

  /// Above it a jump could not be told from what is normal.
  private static let highestNormal = 0.9

  /// A sum that reaches it makes prunes wait, or puts the brake on. With a share that is just normal a cumulative sum
  /// gets there after the exponential of the bound on average, or later: `falseAlarm` verdicts.
  private var bound: Double { log(settings.falseAlarm) }
}
