package import Domain
import RedisClient

/// Whose bucket it is. The names are those of keys, apps and uses, and stay the same whatever the limits are.
package struct LimitBucketName: Hashable, Sendable {
  fileprivate let owner: String
  fileprivate let text: String

  package init(key: String, _ use: LimitedUse) { (owner, text) = (key, "k:\(key):\(use.rawValue)") }
  package init(app: AppID, _ use: LimitedUse) { (owner, text) = (app.rawValue, "a:\(app.rawValue):\(use.rawValue)") }
}

/// What came of asking a bucket for tokens.
package struct TokenLease: Hashable, Sendable {
  /// 0: there were fewer than the least.
  package var granted: Int
  /// That stay in the bucket.
  package var left: Int
  /// Milliseconds until it has the least; 0 where tokens were granted.
  package var wait: Int64
  package init(granted: Int, left: Int, wait: Int64) {
    (self.granted, self.left, self.wait) = (granted, left, wait)
  }
}

/// Token buckets of keys and apps, shared by all processes (decision 0068). Holds nothing but its session, on whose loop it is
/// used. Tokens that were granted cannot be given back: they lapse.
package struct LimitBuckets: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// `least`…`wanted` tokens, or none. `least` is at most the quota.
  package func lease(
    _ name: LimitBucketName, _ limit: RateLimit, least: Int, wanted: Int
  ) async throws(StoreError) -> TokenLease {
    precondition(least > 0 && least <= limit.quota && least <= wanted)
    let reply =
      try await ask(
        Scripts.leaseTokens, keys: [key(name)],
        [
          .number(Int64(limit.quota)), .number(limit.window * 1_000), .number(Int64(least)), .number(Int64(wanted)),
        ]
      ).array ?? []
    guard reply.count == 3, let granted = reply[0].integer, let left = reply[1].integer, let wait = reply[2].integer
    else { throw .unavailable("a rate limit was answered in an unknown form", retryAfter: 1) }
    return TokenLease(granted: Int(granted), left: Int(left), wait: wait)
  }

  /// Tokens that are in these buckets now, those aside that processes have leased.
  package func left(in buckets: [(name: LimitBucketName, limit: RateLimit)]) async throws(StoreError) -> [Int] {
    guard !buckets.isEmpty else { return [] }
    let replies = try await ask([RedisCommand("TIME")] + buckets.map { RedisCommand("GET", key($0.name)) })
    let time = (replies[0].array ?? []).compactMap { $0.text.flatMap { Double($0) } }
    guard time.count == 2 else { throw .unavailable("the time was answered in an unknown form", retryAfter: 1) }
    let now = time[0] * 1_000_000 + time[1]
    return zip(buckets, replies.dropFirst()).map { bucket, reply in
      let full = reply.text.flatMap { Double($0) } ?? 0
      let one = Double(bucket.limit.window) * 1_000 / Double(bucket.limit.quota)
      return max(0, bucket.limit.quota - Int((max(0, full - now) / one).rounded(.up)))
    }
  }

  private func key(_ name: LimitBucketName) -> String { keys.limitBucket(keys.partition((name.owner, "")), name.text) }
}
