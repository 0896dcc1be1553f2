import Domain
import HTTPServer
import Loop
import Store
import Telemetry

/// One token bucket as this process sees it: what it has leased, and how it gets more. Belongs to the loop.
final class LimitBucket {
  /// As headers and metrics name it: `key-requests`.
  let policy: String
  let limit: RateLimit
  let use: LimitedUse
  /// Of a key: its id; nil: it is the app's.
  let key: String?
  let app: AppID
  let isOfRegisterKey: Bool

  private let name: LimitBucketName
  private let store: Store
  private let meters: LimitMeters
  private var tokens: LeasedTokens
  private var isAsking = false
  private var waiting: [UnsafeContinuation<Void, Never>] = []

  init(
    _ limit: RateLimit, _ use: LimitedUse, key: String?, app: AppID, isOfRegisterKey: Bool, store: Store,
    meters: LimitMeters
  ) {
    self.limit = limit
    self.use = use
    self.key = key
    self.app = app
    self.isOfRegisterKey = isOfRegisterKey
    self.store = store
    self.meters = meters
    policy = "\(key == nil ? "app" : "key")-\(use.rawValue)"
    name = key.map { LimitBucketName(key: $0, use) } ?? LimitBucketName(app: app, use)
    tokens = LeasedTokens(limit)
    tellLeft()
  }

  private var loop: EventLoop { meters.loop }
  /// Less than half of the quota is left, as far as this process knows.
  var isLow: Bool { tokens.isLow }
  var left: Int { tokens.left }

  /// `count`: at most the quota. Asks nobody; where few are left, more are leased in the background.
  func takeNow(_ count: Int) -> LeasedTokens.Verdict {
    let now = loop.now
    let verdict = tokens.take(count, now: now)
    if !isAsking, verdict == .granted, tokens.isRunningOut(now) {
      let least = max(1, tokens.portion / 8)
      isAsking = true
      loop.spawn { [self] in _ = await ask(least: least, wanted: tokens.portion) }
    }
    return verdict
  }

  /// Asks the bucket where it must. Nil: granted; or the milliseconds until there are so many.
  func take(_ count: Int) async -> Int64? {
    while true {
      switch takeNow(count) {
      case .granted: return nil
      case .refused(let wait): return wait
      case .unknown: break
      }
      guard !isAsking else {
        await withUnsafeContinuation { waiting.append($0) }
        continue
      }
      isAsking = true
      // So that others do not spend meanwhile what is missing then.
      let reserved = tokens.reserve(count)
      let least = count - reserved
      let isGranted = await ask(least: least, wanted: max(least, tokens.portion))
      tokens.refund(reserved)
      if !isGranted { continue }
      // Nobody else has had a turn since the answer came.
      if case .granted = tokens.take(count, now: loop.now) { return nil }
    }
  }

  func refund(_ count: Int) { tokens.refund(count) }

  /// True: tokens were granted. Whoever waits looks again.
  private func ask(least: Int, wanted: Int) async -> Bool {
    var isGranted = false
    do throws(StoreError) {
      let lease = try await store.limitBuckets.lease(name, limit, least: least, wanted: wanted)
      tokens.answered(lease, least: least, now: loop.now)
      isGranted = lease.granted > 0
      tellLeft()
    } catch {
      tokens.unanswered(now: loop.now)
      meters.unanswered.add()
    }
    isAsking = false
    let all = waiting
    waiting = []
    for one in all { one.resume() }
    return isGranted
  }

  private func tellLeft() { if key == nil { meters.left(app, policy).set(Int64(tokens.left)) } }

  /// Draft `RateLimit` fields. `wait`: milliseconds until there is what was refused.
  func limitItem(refusedFor wait: Int64?) -> String {
    let time = wait ?? limit.time(for: limit.quota - tokens.left)
    let left = wait == nil ? min(limit.quota, tokens.left) : 0
    return "\"\(policy)\";r=\(left);t=\(LimitBucket.seconds(time))"
  }

  var policyItem: String {
    let unit =
      switch use {
      case .requests: ""
      case .bytes: ";qu=\"content-bytes\""
      case .deliveries, .registrations: ";fanfare-unit=\"\(use.rawValue)\""
      }
    return "\"\(policy)\";q=\(limit.quota);w=\(limit.window / 1_000)\(unit)"
  }

  /// Rounded up, and one at least.
  static func seconds(_ milliseconds: Int64) -> Int { Int(max(1, (milliseconds + 999) / 1_000)) }
}
