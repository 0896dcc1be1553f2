import Domain
import Store

/// The lease of one partition (design D5): when to ask for it, when to renew it, what its loss means.
struct LeasePlan {
  enum Change: Hashable {
    case none
    case acquired
    case renewed
    /// All that is known of the partition's work is void.
    case lost
    /// Void, and taken anew: its work starts from the beginning.
    case replaced
  }

  private(set) var lease: Lease?
  /// Declared lost: under it nothing is written any more, even if the store should grant it again.
  private var ended: Lease?
  private var asking = false
  private var next: Instant
  private let duration: Int64

  init(duration: Int64, now: Instant) {
    self.duration = duration
    next = now
  }

  /// A write to a socket for this partition is allowed.
  func permitsWrites(now: Instant) -> Bool { lease.map { now < $0.deadline } ?? false }
  var nextTry: Instant { next }

  /// True if the store has to be asked now; `hurry`: whatever the time.
  mutating func ask(now: Instant, hurry: Bool = false) -> Bool {
    guard !asking, hurry || next <= now else { return false }
    asking = true
    return true
  }

  /// The store's answer; nil: another owner holds it.
  mutating func answered(_ granted: Lease?, now: Instant) -> Change {
    asking = false
    let before = lease
    lease = granted
    guard let granted, !same(granted, ended) else {
      lease = nil
      next = now + max(1, duration / 5)
      return before == nil ? .none : .lost
    }
    next = now + max(1, duration / 3)
    guard let before else { return .acquired }
    return same(granted, before) ? .renewed : .replaced
  }

  private func same(_ lease: Lease, _ other: Lease?) -> Bool {
    lease.nonce == other?.nonce && lease.epoch == other?.epoch
  }

  /// No answer: the lease lasts until its own deadline, and may be renewed after it if nobody took it.
  mutating func failed(now: Instant) {
    asking = false
    next = now + max(1, duration / 20)
  }

  /// It was handed over: others ask first.
  mutating func released(now: Instant) {
    ended = lease
    lease = nil
    next = now + duration
  }
  /// Asked for, or held.
  var isWanted: Bool { asking || lease != nil }

  /// A write was refused: another owner holds it.
  mutating func taken(now: Instant) -> Change {
    guard lease != nil else { return .none }
    ended = lease
    lease = nil
    next = now + max(1, duration / 5)
    return .lost
  }
}
