package import Domain
import RedisClient

/// A credential's prune brake that is on.
package struct Braked: Hashable, Sendable {
  package var since: WallTime
  /// Verdicts that told whether a token lives, in the run that put it on and since; and how many of them said dead.
  package var seen: Int
  package var dead: Int
  /// The share of dead ones that was learned before, and up to which share no brake goes on.
  package var norm: Double
  package var normal: Double
  /// Of the run alone that put it on.
  package var first: Count

  /// Verdicts that told whether a token lives, and how many of them said dead.
  package struct Count: Hashable, Sendable {
    package var seen: Int
    package var dead: Int
    package var share: Double { seen > 0 ? Double(dead) / Double(seen) : 0 }
  }

  /// `norm` and `normal` are shares from 0 to 1.
  package init(since: WallTime, seen: Int, dead: Int, norm: Double, normal: Double = 0.2) {
    self.since = since
    self.seen = seen
    self.dead = dead
    self.norm = norm
    self.normal = normal
    first = Count(seen: seen, dead: dead)
  }

  package var share: Double { Count(seen: seen, dead: dead).share }

  /// `since seen dead norm normal first-seen first-dead`: the second and third grow.
  init?(stored: String) {
    let words = stored.split(separator: " ")
    guard words.count == 7, let since = StoredNumber.read(String(words[0])),
      let seen = StoredNumber.read(Array(words[1].utf8)), let dead = StoredNumber.read(Array(words[2].utf8)),
      let norm = Double(words[3]), norm.isFinite, let normal = Double(words[4]), normal.isFinite,
      let firstSeen = StoredNumber.read(Array(words[5].utf8)), let firstDead = StoredNumber.read(Array(words[6].utf8))
    else { return nil }
    self.init(since: WallTime(milliseconds: since), seen: seen, dead: dead, norm: norm, normal: normal)
    first = Count(seen: firstSeen, dead: firstDead)
  }
}

/// How many verdicts told whether a token lives, and how many of them said dead; older ones weigh less.
package struct PruneNorm: Hashable, Sendable {
  package var seen: Double
  package var dead: Double
  /// Without arguments: nothing is learned yet.
  package init(seen: Double = 0, dead: Double = 0) {
    self.seen = seen
    self.dead = dead
  }
  init(stored: String) {
    let words = stored.split(separator: " ").compactMap { Double($0) }.filter { $0.isFinite && $0 >= 0 }
    // Two more say what it was before an operator declared it.
    let isWhole = words.count == 2 || words.count == 4
    self.init(seen: isWhole ? words[0] : 0, dead: isWhole ? min(words[0], words[1]) : 0)
  }
}

/// What all workers share of the prune brakes (design D13), and the prunes that they hold for the operator. Holds nothing
/// but its session, on whose loop it is used. When to brake is decided by the workers.
package struct PruneBrakes: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// After so many verdicts of a credential older ones weigh half.
  private static let normMemory: Int64 = 100_000
  /// The weight in verdicts of what an operator has declared normal by applying held prunes.
  private static let normDeclared: Int64 = 10_000

  /// Those that are on. One that cannot be read is on: what it stands for is safe.
  package func all() async throws(StoreError) -> [CredentialID: Braked] {
    var brakes: [CredentialID: Braked] = [:]
    for (name, entry) in pairs(try await ask(RedisCommand("HGETALL", keys.brakes)).array ?? []) {
      let stored = Braked(stored: String(decoding: entry, as: UTF8.self))
      brakes[CredentialID(rawValue: String(decoding: name, as: UTF8.self))] =
        stored ?? Braked(since: WallTime(milliseconds: 0), seen: 0, dead: 0, norm: 0)
    }
    return brakes
  }

  /// Puts the brake on for all workers, unless it is.
  package func brake(_ credential: CredentialID, _ braked: Braked) async throws(StoreError) {
    _ = try await ask(
      Scripts.brake, keys: [keys.brakes],
      [
        .text(credential.rawValue), .number(braked.since.milliseconds), .number(Int64(braked.seen)),
        .number(Int64(braked.dead)),
        .text("\(braked.norm) \(braked.normal) \(braked.first.seen) \(braked.first.dead)"), .text(keys.wakeup),
      ])
  }

  /// Adds what was seen since the last call (zeros only read), and answers the norms of all.
  package func learnNorms(_ seen: [(credential: CredentialID, seen: Int, dead: Int)]) async throws(StoreError)
    -> [PruneNorm]
  {
    guard !seen.isEmpty else { return [] }
    var arguments: [RedisArgument] = [.number(Self.normMemory)]
    for entry in seen {
      arguments += [.text(entry.credential.rawValue), .number(Int64(entry.seen)), .number(Int64(entry.dead))]
    }
    let replies = try await ask(Scripts.learnNorms, keys: [keys.norms, keys.brakes], arguments).array ?? []
    return seen.indices.map { PruneNorm(stored: replies.indices.contains($0) ? replies[$0].text ?? "" : "") }
  }

  /// Prunes of these credentials are taken back: if they were applied as normal, the share that was normal before is so again.
  func restoreNorms(of credentials: Set<CredentialID>) async throws(StoreError) {
    guard !credentials.isEmpty else { return }
    _ = try await ask(Scripts.restoreNorms, keys: [keys.norms], credentials.map { .text($0.rawValue) })
  }

  /// `accepting`: what was seen while it was on is normal from now on. False: it was not on.
  func release(_ credential: CredentialID, accepting: Bool) async throws(StoreError) -> Bool {
    let reply = try await ask(
      Scripts.releaseBrake, keys: [keys.brakes, keys.norms],
      [.text(credential.rawValue), .text(keys.wakeup), .number(accepting ? Self.normDeclared : 0)])
    return reply.integer == 1
  }
}
