import Domain
import Store

/// Prunes of one credential that wait in memory until more is known: at the latest until nothing more is ahead of the
/// credential. They are lost with the worker: the next send tells again.
struct UnprovenPrunes {
  struct Entry {
    var prune: Flush.Prune
    var partition: Partition
    /// When the request began that was told so.
    var began: Instant
  }

  /// What only a dead token brings, called while so many were that it may be a jump.
  private var certain: [DeviceID: Entry] = [:]
  /// Of words that a wrong setting brings as well: those of one message that are being judged, and those that came since.
  private var judged: [DeviceID: Entry] = [:]
  private var judgedMessage: MessageID?
  private var judgedSince = Instant(nanoseconds: 0)
  private var gathered: [DeviceID: Entry] = [:]
  /// Doubtful ones that were not decided when nothing more was ahead. They wait for the next time it is so, as the next
  /// send may be about to reach the same tokens.
  private var undecided: [DeviceID: Entry] = [:]

  /// Beyond it the next send tells again.
  private static let most = 10_000
  /// Milliseconds in which only the message that brought a word may prove it: another one may be about to reach the same
  /// token. Behind it any does, as of a credential that is never quiet nothing would be decided.
  private static let ownOnly: Int64 = 60_000

  /// Whether a token that the message reached speaks for what is being judged.
  func mayBeProven(by message: MessageID, now: Instant) -> Bool {
    judgedMessage == message || now - judgedSince > Self.ownOnly
  }

  var count: Int { certain.count + judged.count + gathered.count + undecided.count }
  var isEmpty: Bool { certain.isEmpty && judged.isEmpty && gathered.isEmpty && undecided.isEmpty }

  /// How many wait, by the reason that the provider gave.
  var reasons: [String: Int] {
    var reasons: [String: Int] = [:]
    for entries in [certain, judged, gathered, undecided] {
      for entry in entries.values { reasons[entry.prune.reason, default: 0] += 1 }
    }
    return reasons
  }

  /// Its token was reached.
  mutating func reached(_ device: DeviceID) {
    guard !isEmpty else { return }
    certain[device] = nil
    judged[device] = nil
    gathered[device] = nil
    undecided[device] = nil
  }

  mutating func add(_ entry: Entry, isDoubtful: Bool) {
    guard count < Self.most else { return }
    undecided[entry.prune.device] = nil
    if isDoubtful { gathered[entry.prune.device] = entry } else { certain[entry.prune.device] = entry }
  }

  /// Another worker owns the partition, and hears whether its tokens are reached.
  mutating func forget(_ partition: Partition) {
    guard !isEmpty else { return }
    certain = certain.filter { $0.value.partition !== partition }
    judged = judged.filter { $0.value.partition !== partition }
    gathered = gathered.filter { $0.value.partition !== partition }
    undecided = undecided.filter { $0.value.partition !== partition }
  }

  /// Other settings may have been what was wrong, and not the tokens.
  mutating func forgetDoubtful() {
    judged = [:]
    gathered = [:]
    undecided = [:]
  }

  /// Nothing more is ahead: what is carried out, or put aside where the brake is on. True: it has just gone on.
  mutating func conclude(_ brake: inout PruneBrake) -> (entries: [Entry], hasBraked: Bool) {
    let wasOn = brake.isOn
    for entries in [judged, gathered] { undecided.merge(entries) { $1 } }
    (judged, gathered) = ([:], [:])
    let conclusion = brake.conclude(undecided.values.map(\.began))
    var taken = Array(certain.values)
    certain = [:]
    if conclusion != .undecided {
      taken += undecided.values
      undecided = [:]
    }
    return (taken, conclusion == .braked && !wasOn)
  }

  /// What may be carried out now, or put aside where the brake is on.
  mutating func take(_ brake: inout PruneBrake, now: Instant) -> [Entry] {
    var taken: [Entry] = []
    if brake.isOn || !brake.isSuspicious {
      taken += certain.values
      certain = [:]
    }
    if brake.isOn {
      taken += judged.values
      taken += gathered.values
      taken += undecided.values
      forgetDoubtful()
      brake.judge(0, from: now)
      return taken
    }
    guard !brake.isJudging, !brake.isSuspicious else { return taken }
    taken += judged.values
    let message = gathered.values.min { $0.began < $1.began }?.prune.message
    judged = gathered.filter { $0.value.prune.message == message }
    gathered = gathered.filter { $0.value.prune.message != message }
    judgedMessage = message
    judgedSince = judged.values.map(\.began).min() ?? now
    brake.judge(judged.count, from: now)
    return taken
  }
}
