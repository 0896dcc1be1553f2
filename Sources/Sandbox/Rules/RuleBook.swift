/// The rules in force and what they have done. The first rule that fires has the request; later ones do not see it.
package struct RuleBook: Sendable {
  /// A rule and what it has done so far.
  package struct Standing: Sendable {
    package let rule: Rule
    /// Requests (or members) that provider and token matched.
    package fileprivate(set) var matched = 0
    /// Times that it fired: at most `rule.times`.
    package fileprivate(set) var played = 0
    fileprivate let glob: TokenGlob
    /// How often each token came; kept only where share or `times_per_token` need it.
    fileprivate var came: [UInt64: UInt32] = [:]
    fileprivate var playedFor: [UInt64: UInt32] = [:]

    fileprivate init(_ rule: Rule) {
      self.rule = rule
      glob = TokenGlob(rule.token)
    }
  }
  /// Tokens remembered by a rule; beyond it the rule forgets all and draws anew.
  static let maximumTokens = 1 << 20

  /// In the order of the rules.
  package private(set) var standings: [Standing] = []

  package init(_ rules: [Rule] = []) { standings = rules.map(Standing.init) }

  package var isEmpty: Bool { standings.isEmpty }

  /// The rule to play on a request for one token.
  package mutating func draw(_ provider: SandboxProvider, token: String) -> Rule? {
    for index in standings.indices where standings[index].rule.meetsRequests {
      if fires(index, provider, token: token, subject: token) { return standings[index].rule }
    }
    return nil
  }

  /// The rule to play on a request for many members: it matches if one member does, and is drawn by `key` as a whole.
  package mutating func draw(_ provider: SandboxProvider, members: [String], key: String) -> Rule? {
    for index in standings.indices where standings[index].rule.meetsRequests {
      let glob = standings[index].glob
      guard let member = members.first(where: { glob.matches($0) }) else { continue }
      if fires(index, provider, token: member, subject: key.isEmpty ? member : key) { return standings[index].rule }
    }
    return nil
  }

  /// The rule to play on a new connection.
  package mutating func drawConnection(_ provider: SandboxProvider) -> Rule? {
    for index in standings.indices where standings[index].rule.meetsConnections {
      let number = String(standings[index].matched)
      if fires(index, provider, token: "", subject: number) { return standings[index].rule }
    }
    return nil
  }

  /// Members that a rule of partial answers picks, with that rule. One rule per request.
  package mutating func pick(_ provider: SandboxProvider, members: [String]) -> (rule: Rule, members: [String])? {
    for index in standings.indices where standings[index].rule.picksMembers {
      let picked = members.filter { fires(index, provider, token: $0, subject: $0) }
      if !picked.isEmpty { return (standings[index].rule, picked) }
    }
    return nil
  }

  private mutating func fires(_ index: Int, _ provider: SandboxProvider, token: String, subject: String) -> Bool {
    let rule = standings[index].rule
    guard rule.provider == nil || rule.provider == provider, standings[index].glob.matches(token) else { return false }
    standings[index].matched += 1
    guard standings[index].matched > rule.after else { return false }
    if let times = rule.times, standings[index].played >= times { return false }
    let subjectHash = Self.hash(subject)
    if rule.share < 1 {
      if standings[index].came.count >= Self.maximumTokens { standings[index].came.removeAll() }
      let count = standings[index].came[subjectHash, default: 0]
      standings[index].came[subjectHash] = count &+ 1
      let word = Self.mixed(subjectHash &+ UInt64(count) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(index) << 32)
      guard Double(word >> 11) / Double(1 << 53 as UInt64) < rule.share else { return false }
    }
    if let limit = rule.timesPerToken {
      if standings[index].playedFor.count >= Self.maximumTokens { standings[index].playedFor.removeAll() }
      let count = standings[index].playedFor[subjectHash, default: 0]
      guard count < limit else { return false }
      standings[index].playedFor[subjectHash] = count &+ 1
    }
    standings[index].played += 1
    return true
  }

  /// FNV-1a: the same in every run, unlike `Hasher`.
  private static func hash(_ text: String) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return hash
  }
  private static func mixed(_ value: UInt64) -> UInt64 {
    var word = value
    word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
    return word ^ word >> 31
  }
}
