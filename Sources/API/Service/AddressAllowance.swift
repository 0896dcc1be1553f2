import Domain

/// What each address may do of something that costs: `burst` times at once, and once more each `recovery`. What turns out to cost
/// nothing is given back. Values only.
struct AddressAllowance {
  let burst: Int
  /// Milliseconds.
  let recovery: Int64
  let capacity: Int

  private struct Bucket {
    var used: Int
    /// From when on the next one recovers.
    var since: Instant
  }
  private var buckets: [NetworkAddress: Bucket] = [:]
  /// Shared by addresses for which there is no room.
  private var others = Bucket(used: 0, since: Instant(nanoseconds: 0))
  private var sweptAt = Instant(nanoseconds: 0)

  init(burst: Int, recovery: Int64 = 1_000, capacity: Int = 10_000) {
    precondition(burst > 0 && recovery > 0 && capacity > 0)
    (self.burst, self.recovery, self.capacity) = (burst, recovery, capacity)
  }

  var count: Int { buckets.count }

  /// Takes one. If there is none left: the milliseconds until there is.
  mutating func take(_ address: NetworkAddress, now: Instant) -> Int64? {
    guard var bucket = bucket(of: address, now: now) else { return take(&others, now: now) }
    defer { buckets[address.owner] = bucket }
    return take(&bucket, now: now)
  }

  /// It has cost nothing.
  mutating func refund(_ address: NetworkAddress) {
    guard var bucket = buckets[address.owner] else {
      others.used = max(0, others.used - 1)
      return
    }
    bucket.used -= 1
    buckets[address.owner] = bucket.used > 0 ? bucket : nil
  }

  private func take(_ bucket: inout Bucket, now: Instant) -> Int64? {
    recover(&bucket, now: now)
    guard bucket.used < burst else { return max(1, recovery - (now - bucket.since)) }
    bucket.used += 1
    return nil
  }

  private func recover(_ bucket: inout Bucket, now: Instant) {
    // Rounded down, so that nothing recovers early.
    let passed = now <= bucket.since ? 0 : Int64((now.nanoseconds - bucket.since.nanoseconds) / 1_000_000)
    let recovered = passed / recovery
    guard recovered < Int64(bucket.used) else {
      bucket = Bucket(used: 0, since: now)
      return
    }
    bucket.used -= Int(recovered)
    bucket.since = bucket.since + recovered * recovery
  }

  /// Nil: there is no room.
  private mutating func bucket(of address: NetworkAddress, now: Instant) -> Bucket? {
    if let known = buckets[address.owner] { return known }
    if buckets.count >= capacity, now - sweptAt >= recovery {
      sweptAt = now
      for (address, var bucket) in buckets {
        recover(&bucket, now: now)
        buckets[address] = bucket.used > 0 ? bucket : nil
      }
    }
    return buckets.count < capacity ? Bucket(used: 0, since: now) : nil
  }
}
