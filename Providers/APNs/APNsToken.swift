import Domain

/// The provider token of protocols/apns.md section 6: signed here, shared by all connections of a key, cached 50
/// minutes, never renewed sooner than 20 minutes after the last time. There is nothing to fetch, so `need` never
/// answers `.wait`.
///
/// Only wall time is known: after a jump of the clock the ages computed here may be wrong, then APNs' own word
/// (`refused`) puts them right.
struct APNsToken: Authorization {
  private struct Issue {
    var header: String
    var at: WallTime
  }

  static let lifetime: Int64 = 50 * 60_000
  static let renewalFloor: Int64 = 20 * 60_000
  /// APNs refuses an older one.
  static let oldest: Int64 = 60 * 60_000
  /// An issue time this far ahead of now still counts as a small correction of the clock.
  static let clockTolerance: Int64 = 10 * 60_000
  /// Answers to requests that carried the replaced token arrive within this time.
  static let inFlight: Int64 = 5_000
  /// What waits while no other token may be made; then the present one is tried again.
  static let restTime: Int64 = 60_000
  static let expired = "ExpiredProviderToken: APNs refuses a fresh token; is this machine's clock right?"
  static let tooMany = "TooManyProviderTokenUpdates: another process signs with this key?"

  private let sign: @Sendable (WallTime) -> String
  private var current: Issue?
  private var earlier: Issue?
  /// Refused as too new, while the one before serves.
  private var later: Issue?
  private var renewedAt: WallTime?
  /// The last change from one token to another, by renewal or by falling back.
  private var changedAt: WallTime?
  private var isRefused = false
  /// Refused although too young to be replaced: it gets another try, as the connection may have been at fault.
  private var doubtedAt: WallTime?
  private var rest: (until: WallTime, reason: String)?

  /// APNs counts the tokens of each connection: one opened late in a token's life would see the next too soon. A minute
  /// more, as APNs counts from the arrival of a request, by its own clock.
  var headerInterval: Int64 { Self.renewalFloor + 60_000 }

  /// `sign` makes a token whose `iat` is the given time.
  init(sign: @escaping @Sendable (WallTime) -> String) { self.sign = sign }

  mutating func need(now: WallTime) -> AuthorizationNeed {
    if let rest {
      if now < rest.until, rest.until - now <= Self.restTime {
        return .unavailable(until: rest.until, blocked: rest.reason)
      }
      self.rest = nil
    }
    guard let issue = current else { return renew(now) }
    let age = now - issue.at
    if !isRefused, age >= -Self.clockTolerance, age < Self.lifetime { return .use(issue.header, fetch: nil) }
    guard let last = renewedAt, !mayRenew(now) else { return renew(now) }
    // Too early for another: the present one serves on unless it is surely too old.
    if age >= 0, age < Self.oldest { return .use(issue.header, fetch: nil) }
    // The one that was refused: connections that must not see it yet are left.
    if let newer = later, (0..<Self.oldest).contains(now - newer.at) {
      current = newer
      later = nil
      changedAt = now
      return .use(newer.header, fetch: nil)
    }
    return .unavailable(until: last + Self.renewalFloor, blocked: isRefused ? Self.expired : nil)
  }

  mutating func fetched(_ answer: ProviderAnswer?, now: WallTime) {}

  mutating func refused(_ cause: Retry.Cause, now: WallTime) {
    let isOfLast = changedAt.map { (0..<Self.inFlight).contains(now - $0) } ?? false
    switch cause {
    case .authorizationExpired:
      guard current != nil, !isOfLast else { return }
      if mayRenew(now) {
        isRefused = true
      } else if let doubt = doubtedAt, now >= doubt {
        // What was in flight beside the first refused request is refused with it: that says nothing new.
        if now - doubt >= Self.inFlight { rest = (now + Self.restTime, Self.expired) }
      } else {
        doubtedAt = now
      }
    case .authorizationTooNew:
      // Requests with the former token are never refused for this. Those with the newer one are refused at about the
      // same time, and one refusal is enough.
      if isOfLast, earlier == nil { return }
      if let fallback = earlier, (0..<Self.oldest).contains(now - fallback.at) {
        later = current
        current = fallback
        earlier = nil
        changedAt = now
      } else {
        rest = (now + Self.restTime, Self.tooMany)
      }
    default: break
    }
  }

  mutating func retry() { rest = nil }

  private func mayRenew(_ now: WallTime) -> Bool {
    guard let last = renewedAt else { return true }
    return now - last < -Self.clockTolerance || now - last >= Self.renewalFloor
  }

  private mutating func renew(_ now: WallTime) -> AuthorizationNeed {
    if current != nil { changedAt = now }
    earlier = isRefused ? nil : current
    later = nil
    isRefused = false
    doubtedAt = nil
    renewedAt = now
    let issue = Issue(header: "bearer " + sign(now), at: now)
    current = issue
    return .use(issue.header, fetch: nil)
  }
}
