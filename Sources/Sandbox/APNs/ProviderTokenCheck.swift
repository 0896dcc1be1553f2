import Domain
import JSON
import TLS

/// A key that signs provider tokens: of a team, for one environment or both, for all topics of the team or for some.
struct APNsKey: Sendable {
  var id: String
  var team: String
  var verifying: VerifyingKey
  var environments = Set(APNsEnvironment.allCases)
  var topics: APNsTopics
  /// A topic-specific key: no other may share its connection.
  var isTopicSpecific = false

  func isRelated(to other: APNsKey) -> Bool {
    id == other.id || team == other.team && !isTopicSpecific && !other.isTopicSpecific
  }
}

/// Verifies provider tokens (JWT, ES256) against the keys of the sandbox. Remembers verified ones, as many connections
/// share one.
struct ProviderTokenCheck {
  enum Finding: Hashable {
    case signed(issuedAt: Int64, key: String)
    case invalid
  }
  static let maximumAge: Int64 = 3600
  private static let remembered = 64

  private let keys: [String: APNsKey]
  private var findings: [String: Finding] = [:]
  /// Tokens that a rule made old.
  private var aged: Set<String> = []

  init(keys: [APNsKey]) { self.keys = Dictionary(uniqueKeysWithValues: keys.map { ($0.id, $0) }) }

  func key(_ id: String) -> APNsKey? { keys[id] }

  mutating func age(_ token: String) {
    if aged.count >= Self.remembered { aged.removeAll() }
    aged.insert(token)
  }
  func isAged(_ token: String) -> Bool { !aged.isEmpty && aged.contains(token) }

  mutating func finding(_ token: String) -> Finding {
    if let known = findings[token] { return known }
    if findings.count >= Self.remembered { findings.removeAll() }
    let finding = check(token)
    findings[token] = finding
    return finding
  }

  private func check(_ token: String) -> Finding {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
      let signature = Base64URL.decode(parts[2])
    else { return .invalid }
    guard header["alg"]?.string == "ES256", let key = header["kid"]?.string.flatMap({ keys[$0] }),
      claims["iss"]?.string == key.team, let issuedAt = claims["iat"]?.integer,
      key.verifying.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8))
    else { return .invalid }
    return .signed(issuedAt: issuedAt, key: key.id)
  }

  private static func object(_ part: String) -> JSONValue? {
    guard let bytes = Base64URL.decode(part), let value = try? JSON.parse(bytes), value.object != nil else {
      return nil
    }
    return value
  }
}

/// What a connection remembers of its provider tokens. The first one binds the connection to its key; new values may
/// follow at most every 20 minutes; after an expired one the connection stays unusable.
struct APNsConnectionTrust {
  static let refreshFloor: Int64 = 20 * 60 * 1000

  private(set) var current: String?
  private var key: APNsKey?
  private var since = WallTime(milliseconds: 0)
  private var expired = false

  /// The key that lets the request pass.
  mutating func pass(
    authorization: String?, _ check: inout ProviderTokenCheck, in environment: APNsEnvironment, now: WallTime
  ) -> Result<APNsKey, APNsRefusal> {
    guard let authorization, let token = Self.bearer(authorization) else {
      return .failure(.init(.missingProviderToken))
    }
    guard !expired else { return .failure(.init(.expiredProviderToken)) }
    guard case .signed(let issuedAt, let id) = check.finding(token), let key = check.key(id) else {
      return .failure(.init(.invalidProviderToken))
    }
    guard key.environments.contains(environment) else { return .failure(.init(.badEnvironmentKeyIdInToken)) }
    if let bound = self.key, !bound.isRelated(to: key) { return .failure(.init(.unrelatedKeyIdInToken)) }
    let age = now.seconds - issuedAt
    guard age <= ProviderTokenCheck.maximumAge, !check.isAged(token) else {
      expired = true
      return .failure(.init(.expiredProviderToken))
    }
    guard age >= -ProviderTokenCheck.maximumAge else { return .failure(.init(.invalidProviderToken)) }
    if token != current {
      if current != nil, now - since < Self.refreshFloor { return .failure(.init(.tooManyProviderTokenUpdates)) }
      current = token
      since = now
    }
    self.key = key
    return .success(key)
  }

  /// As after an expired token.
  mutating func spoil() { expired = true }

  static func bearer(_ authorization: String) -> String? {
    guard authorization.count > 7, authorization.prefix(7).lowercased() == "bearer " else { return nil }
    return String(authorization.dropFirst(7))
  }
}
