import Domain
import Store

/// How many deliveries may go now under a rate that all loops and workers share: permissions are taken from the store in
/// short grants, as many as wait, spent at once, and void soon after. None goes back to the store, but one whose delivery
/// sent nothing lets the next one go. What nobody asks for costs nothing. One that is spent late is paid for again, as it
/// counts when it goes and not when it was granted.
struct RateGrant {
  enum Step: Hashable {
    /// One may go: tell it by `spend`.
    case go
    /// Ask the store for so many, and tell what came by `granted` or `failed`.
    case ask(Int)
    /// Not before that time.
    case wait(until: Instant)
    /// The store is being asked.
    case asking
    /// Nothing waits.
    case rest
  }

  private let most: Int
  private(set) var inHand = 0
  private var voidAt: Instant?
  private var askedAt: Instant?
  private var notBefore: Instant?
  /// What is in hand is late from then on.
  private(set) var lateAt = Instant(nanoseconds: 0)
  /// Spent late, and not yet paid for.
  private(set) var owed = 0
  /// Permissions that sent nothing: what is late takes two, and what is void was for nobody.
  private(set) var lost = 0

  /// A grant's worth of time: no more is asked for at once, and what is older is void.
  static let worth: Int64 = 250
  /// Between two questions, so that a fast rate is not asked for one by one.
  static let pause: Int64 = 20
  /// After a question without an answer. Nothing goes meanwhile: a limit that cannot be asked for is still one.
  static let repeatAfter: Int64 = 200

  init(perSecond: Double) {
    most = max(1, Int(perSecond * Double(Self.worth) / 1000))
  }

  mutating func next(waiting: Int, now: Instant) -> Step {
    guard waiting + owed > 0 else { return .rest }
    if waiting > 0, inHand > 0, let voidAt, now < voidAt { return .go }
    if askedAt != nil { return .asking }
    if let notBefore, now < notBefore { return .wait(until: notBefore) }
    lost += inHand
    inHand = 0
    askedAt = now
    return .ask(min(waiting + owed, most))
  }

  /// A permission that was in hand until `lateAt` was spent behind that.
  mutating func wasLate() {
    owed += 1
    lost += 1
  }

  mutating func spend(_ count: Int = 1) {
    precondition(inHand >= count, "spent without a grant")
    inHand -= count
  }

  /// A permission that is late behind `lateAt` sent nothing. Of an earlier grant it is lost.
  mutating func refund(_ lateAt: Instant) {
    if lateAt == self.lateAt { inHand += 1 } else { lost += 1 }
  }

  /// `wait`: milliseconds until there is another one.
  mutating func granted(_ count: Int, asked: Int, wait: Int64, now: Instant) {
    lateAt = (askedAt ?? now) + RateBucket.lateness
    askedAt = nil
    let paid = min(owed, count)
    owed -= paid
    // What was given back while the store was asked.
    lost += inHand
    inHand = count - paid
    voidAt = now + Self.worth
    notBefore = count < asked ? now + max(wait, Self.pause) : nil
  }

  mutating func failed(now: Instant) {
    askedAt = nil
    notBefore = now + Self.repeatAfter
  }
}
