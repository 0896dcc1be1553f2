import Domain
import HTTPServer
import Store

/// What one key may use, with what its app may use as a whole. Both must have tokens for a use, or neither gives any.
/// Belongs to the loop.
final class Allowance {
  /// By `LimitedUse.index`; nil: not limited.
  private let own: [LimitBucket?]
  private let shared: [LimitBucket?]
  private let all: [LimitBucket]
  private let gates: [CountGate]
  private let meters: LimitMeters

  /// `gates`: of the key and of the app.
  init(own: [LimitBucket?], shared: [LimitBucket?], gates: [CountGate], meters: LimitMeters) {
    self.own = own
    self.shared = shared
    all = (own + shared).compactMap { $0 }
    self.gates = gates
    self.meters = meters
  }

  /// Does what counts an audience, or throws where as many are at work in this process already.
  func counting<Value>(_ work: () async throws(Problem) -> Value) async throws(Problem) -> Value {
    if let full = gates.first(where: \.isFull) {
      meters.refused(full.policy, full.app, key: full.key)
      throw full.problem
    }
    for gate in gates { gate.atWork += 1 }
    defer { for gate in gates { gate.atWork -= 1 } }
    return try await work()
  }

  /// Takes tokens for a use before it is done, without asking Redis, or throws what the client is told. False: nothing
  /// was taken, and Redis must be asked (`take`).
  func takeNow(_ use: LimitedUse, _ count: Int) throws(Problem) -> Bool {
    let (own, shared) = (own[use.index], shared[use.index])
    guard count > 0, own != nil || shared != nil else { return true }
    if let own { try check(own, count) }
    if let shared { try check(shared, count) }
    if let own {
      switch own.takeNow(count) {
      case .granted: break
      case .refused(let wait): throw problem(own, count, wait)
      case .unknown: return false
      }
    }
    guard let shared else { return true }
    switch shared.takeNow(count) {
    case .granted: return true
    case .refused(let wait):
      own?.refund(count)
      throw problem(shared, count, wait)
    case .unknown:
      own?.refund(count)
      return false
    }
  }

  /// As `takeNow`; asks Redis where it must.
  func take(_ use: LimitedUse, _ count: Int) async throws(Problem) {
    if try takeNow(use, count) { return }
    let (own, shared) = (own[use.index], shared[use.index])
    if let own, let wait = await own.take(count) { throw problem(own, count, wait) }
    guard let shared, let wait = await shared.take(count) else { return }
    own?.refund(count)
    throw problem(shared, count, wait)
  }

  /// Of a use that was not needed after all.
  func refund(_ use: LimitedUse, _ count: Int) {
    own[use.index]?.refund(count)
    shared[use.index]?.refund(count)
  }

  /// More than a full bucket has would never be granted.
  private func check(_ bucket: LimitBucket, _ count: Int) throws(Problem) {
    guard count > bucket.limit.quota else { return }
    meters.refused(bucket.policy, bucket.app, key: bucket.key)
    throw Problem(
      .beyondRateLimit,
      "The request takes \(count) \(bucket.use.rawValue) at once, and \(bucket.owner) may have \(bucket.quotaText): "
        + "send it in parts")
  }

  private func problem(_ bucket: LimitBucket, _ count: Int, _ wait: Int64) -> Problem {
    meters.refused(bucket.policy, bucket.app, key: bucket.key)
    let owner = bucket.owner.prefix(1).uppercased() + bucket.owner.dropFirst()
    var problem = Problem(
      .rateLimited,
      "\(owner) may have \(bucket.quotaText); \(max(0, min(bucket.left, count - 1))) are left, and the request takes "
        + "\(count): nothing was done. Repeat it after `Retry-After`",
      retryAfter: LimitBucket.seconds(wait),
      headers: [
        Header("ratelimit-policy", bucket.policyItem), Header("ratelimit", bucket.limitItem(refusedFor: wait)),
      ])
    problem.violatedPolicies = [bucket.policy]
    return problem
  }

  /// `RateLimit-Policy` and `RateLimit` of what is more than half used. Empty: nothing is.
  var fields: [Header] {
    var low: [LimitBucket] = []
    for bucket in all where bucket.isLow { low.append(bucket) }
    guard !low.isEmpty else { return [] }
    return [
      Header("ratelimit-policy", low.map(\.policyItem).joined(separator: ", ")),
      Header("ratelimit", low.map { $0.limitItem(refusedFor: nil) }.joined(separator: ", ")),
    ]
  }
}

extension LimitBucket {
  fileprivate var owner: String { key == nil ? "the app" : "this key" }
  /// `600 requests in 60 s (limits.keys.requests)`
  fileprivate var quotaText: String {
    let section = key == nil ? "apps" : isOfRegisterKey ? "register_keys" : "keys"
    return "\(limit.quota) \(use.rawValue) in \(limit.window / 1_000) s (limits.\(section).\(use.rawValue))"
  }
}
