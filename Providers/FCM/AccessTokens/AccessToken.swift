import Domain
import JSON

/// The access token of protocols/fcm.md section 2: one per credential, fetched by one request at a time, renewed five
/// minutes early while the present one still serves.
struct AccessToken: Authorization {
  private struct Token {
    var header: String
    var from: WallTime
    var until: WallTime
    /// From here on a fresh one is fetched in the background.
    var renewFrom: WallTime
    /// It took the place of a token that FCM had refused.
    var replacesRefused: Bool
  }

  static let renewAhead: Int64 = 5 * 60_000
  /// A token is not used in its last seconds: the request has a way to go.
  static let margin: Int64 = 10_000
  static let defaultLife: Int64 = 3600
  static let longestLife: Int64 = 86_400
  static let firstDelay: Int64 = 1_000
  static let longestDelay: Int64 = 64_000
  /// Past this a fetch counts as lost without an answer.
  static let fetchLimit: Int64 = 120_000
  /// Answers to requests that carried the replaced token arrive within this time.
  static let inFlight: Int64 = 2_000
  /// A token refused this soon after one refused before it: renewing does not help.
  static let repeatedRefusal: Int64 = 5 * 60_000

  private let source: any TokenSource
  /// A fault that only the operator can mend is tried again after this time.
  private let blockedRest: Int64
  /// On the way to a token that takes several requests.
  private var step = 0
  private var brought = ""
  private var token: Token?
  private var fetchingSince: WallTime?
  private var failures = 0
  private var restingUntil: WallTime?
  private var blocked: String?
  private(set) var difficulty: String?
  private var isRefused = false

  init(source: any TokenSource, probeInterval: Int64) {
    self.source = source
    blockedRest = max(Self.firstDelay, probeInterval)
  }

  mutating func need(now: WallTime) -> AuthorizationNeed {
    let fetch = fetchIfDue(now)
    if let token, !isRefused, now < token.until, token.from - now <= Self.renewAhead {
      return .use(token.header, fetch: fetch)
    }
    if let fetch { return .fetch(fetch) }
    if fetchingSince != nil { return .wait }
    return .unavailable(until: restingUntil ?? now + Self.firstDelay, blocked: blocked)
  }

  private mutating func fetchIfDue(_ now: WallTime) -> TokenFetch? {
    if let token, !isRefused, now < token.renewFrom, now >= token.from { return nil }
    if let since = fetchingSince {
      if (0..<Self.fetchLimit).contains(now - since) { return nil }
      (step, brought) = (0, "")
    }
    if let until = restingUntil, now < until, until - now <= Self.longestRest { return nil }
    fetchingSince = now
    restingUntil = nil
    return source.request(step, brought: brought, now: now)
  }

  /// A wait further away than this comes from a clock that went back.
  private static let longestRest: Int64 = 3_600_000

  mutating func fetched(_ answer: ProviderAnswer?, now: WallTime) {
    fetchingSince = nil
    let read = source.read(answer, of: step, now: now)
    if case .next(let text) = read {
      step += 1
      brought = text
      return
    }
    (step, brought) = (0, "")
    switch read {
    case .next: break
    case .token(let value, let seconds):
      let life = min(max(seconds, 1), Self.longestLife) * 1000
      token = Token(
        header: "Bearer " + value, from: now, until: now + (life - min(Self.margin, life / 4)),
        renewFrom: now + (life - min(Self.renewAhead, life / 2)), replacesRefused: isRefused)
      isRefused = false
      failures = 0
      blocked = nil
      difficulty = nil
      restingUntil = nil
    case .passing(let reason, let retryAfter):
      difficulty = reason
      let delay = min(Self.firstDelay << Int64(min(failures, 6)), Self.longestDelay)
      failures += 1
      blocked = nil
      restingUntil = now + max(delay, Int64(min(retryAfter ?? 0, 3600)) * 1000)
    case .refused(let reason):
      failures = 0
      blocked = reason
      restingUntil = now + blockedRest
    }
  }

  mutating func retry() {
    restingUntil = nil
    failures = 0
  }

  mutating func refused(_ cause: Retry.Cause, now: WallTime) {
    guard cause == .authorizationExpired, let token, !isRefused else { return }
    let age = now - token.from
    if token.replacesRefused {
      if (0..<Self.inFlight).contains(age) { return }
      if (0..<Self.repeatedRefusal).contains(age) {
        blocked = "FCM refuses fresh access tokens of this account"
        restingUntil = now + blockedRest
      }
    }
    isRefused = true
  }
}
