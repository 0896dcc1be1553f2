import Domain

/// Leases that others hold, as this process has seen them. One has run out when its owner did not renew it for its whole time by
/// this process' own clock: Redis' clock may jump, and an owner's own deadline comes earlier (`Lease.deadline`).
struct LeaseWatch {
  /// By partition: owner and number of renewals, and when this process first saw them together.
  private var seen: [Int: (stamp: [UInt8], since: Instant)] = [:]

  mutating func saw(_ stamp: [UInt8], of partition: Int, now: Instant) {
    guard seen[partition]?.stamp != stamp else { return }
    seen[partition] = (stamp, now)
  }

  mutating func forget(_ partition: Int) { seen[partition] = nil }

  /// What the store must still find to give the lease to somebody else; nil: it has not run out yet.
  func ended(_ partition: Int, now: Instant, after milliseconds: Int64) -> [UInt8]? {
    guard let (stamp, since) = seen[partition], since + milliseconds <= now else { return nil }
    return stamp
  }
}
