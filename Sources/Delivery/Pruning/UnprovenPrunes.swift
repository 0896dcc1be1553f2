import Domain
import Store

/// Prunes of one credential that wait in memory until more is known. They are lost with the worker: the next send tells again.
struct UnprovenPrunes {
  struct Entry {
    var prune: Flush.Prune
    var partition: Partition
  }

  /// What only a dead token brings, called while so many were that it may be a jump.
  private var certain: [DeviceID: Entry] = [:]
  /// Of words that a wrong setting brings as well: those that are being judged, and those that came since.
  private var judged: [DeviceID: Entry] = [:]
  private var gathered: [DeviceID: Entry] = [:]

  /// Beyond it the next send tells again.
  private static let most = 10_000

  var count: Int { certain.count + judged.count + gathered.count }
  var isEmpty: Bool { certain.isEmpty && judged.isEmpty && gathered.isEmpty }

  /// Its token was reached.
  mutating func reached(_ device: DeviceID) {
    guard !isEmpty else { return }
    certain[device] = nil
    judged[device] = nil
    gathered[device] = nil
  }

  mutating func add(_ entry: Entry, isDoubtful: Bool) {
    guard count < Self.most else { return }
    if isDoubtful { gathered[entry.prune.device] = entry } else { certain[entry.prune.device] = entry }
  }

  /// Other settings may have been what was wrong, and not the tokens.
  mutating func forgetDoubtful() {
    judged = [:]
    gathered = [:]
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
      forgetDoubtful()
      brake.judge(0, from: now)
      return taken
    }
    guard !brake.isJudging, !brake.isSuspicious else { return taken }
    taken += judged.values
    judged = gathered
    gathered = [:]
    brake.judge(judged.count, from: now)
    return taken
  }
}
