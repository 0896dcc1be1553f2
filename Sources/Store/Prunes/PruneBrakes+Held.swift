package import Domain
import RedisClient

/// What an operator is shown before he decides on the prunes that a brake has put aside.
package struct PruneReview: Sendable {
  package var credential: CredentialID
  /// Nil: the brake is off.
  package var brake: Braked?
  package var norm: PruneNorm
  package var held = 0
  package var reasons: [String: Int] = [:]
  package var sample: [Flush.Prune] = []
  /// When the provider said the first of all that are held; nil: none is.
  package var earliest: WallTime?
  /// Entries that could not be read: they prune nothing.
  package var unreadable = 0
}

extension PruneBrakes {
  /// Held prunes read and carried out at a time.
  private static let heldAtOnce = 500

  /// What an operator needs to decide about held prunes. Reads all of them; `sample`: how many are told one by one.
  package func review(of credential: CredentialID, app: AppID, sample: Int) async throws(StoreError)
    -> PruneReview
  {
    var review = PruneReview(
      credential: credential, brake: try await all()[credential],
      norm: try await learnNorms([(credential, 0, 0)])[0])
    for partition in 0..<settings.partitions {
      try await forEachHeld(credential, app: app, partition) { prunes, unreadable throws(StoreError) in
        review.held += prunes.count
        review.unreadable += unreadable.count
        for prune in prunes {
          review.reasons[prune.reason, default: 0] += 1
          review.earliest = min(review.earliest ?? prune.at, prune.at)
        }
        review.sample += prunes.prefix(max(0, sample - review.sample.count))
      }
    }
    return review
  }

  /// Releases the brake, takes what was seen for normal from now on, and carries out what was put aside, each only if its device still
  /// holds that token and was not registered since. Repeating it goes on where it stopped.
  package func applyHeld(of credential: CredentialID, app: AppID) async throws(StoreError) -> (
    pruned: Int, kept: Int, wasOn: Bool
  ) {
    let wasOn = try await release(credential, accepting: true)
    var pruned = 0
    var all = 0
    for partition in 0..<settings.partitions {
      try await forEachHeld(credential, app: app, partition) { prunes, unreadable throws(StoreError) in
        let due = prunes.map { prune in
          var prune = prune
          // Whoever has registered since the provider said so knows better.
          prune.since = min(prune.since ?? prune.at, prune.at)
          return prune
        }
        pruned += try await Prunes(session).apply(due, under: nil)
        all += prunes.count
        try await self.unhold(prunes.map { Array($0.device.rawValue.utf8) } + unreadable, credential, partition)
      }
    }
    return (pruned, all - pruned, wasOn)
  }

  /// Releases the brake and forgets what was put aside: nobody is pruned. How many it was.
  package func discardHeld(of credential: CredentialID) async throws(StoreError) -> (discarded: Int, wasOn: Bool) {
    let wasOn = try await release(credential, accepting: false)
    let all = Array(0..<settings.partitions)
    let counts = try await ask(all.map { RedisCommand("HLEN", keys.held($0, credential)) })
    _ = try await ask(all.map { RedisCommand("UNLINK", keys.held($0, credential)) })
    return (counts.reduce(0) { $0 + Int($1.integer ?? 0) }, wasOn)
  }

  /// How many prunes are put aside for these credentials.
  package func held(of credentials: [CredentialID]) async throws(StoreError) -> [CredentialID: Int] {
    let places = credentials.flatMap { credential in (0..<settings.partitions).map { (credential, $0) } }
    let counts = try await askInTurns(places.map { RedisCommand("HLEN", keys.held($0.1, $0.0)) })
    var held: [CredentialID: Int] = [:]
    for (place, count) in zip(places, counts) { held[place.0, default: 0] += Int(count.integer ?? 0) }
    return held
  }

  private func unhold(_ names: [[UInt8]], _ credential: CredentialID, _ partition: Int) async throws(StoreError) {
    guard !names.isEmpty else { return }
    var command = RedisCommand("HDEL", keys.held(partition, credential))
    for name in names { command.append(name) }
    _ = try await ask(command)
  }

  /// A few hundred at a time; names of entries that cannot be read come beside them. Some may come twice.
  private func forEachHeld(
    _ credential: CredentialID, app: AppID, _ partition: Int,
    _ body: (_ prunes: [Flush.Prune], _ unreadable: [[UInt8]]) async throws(StoreError) -> Void
  ) async throws(StoreError) {
    var cursor = "0"
    var seen = Set<DeviceID>()
    repeat {
      let reply = try await ask(
        RedisCommand("HSCAN", keys.held(partition, credential), cursor, "COUNT", String(Self.heldAtOnce)))
      guard let parts = reply.array, parts.count == 2, let next = parts[0].text else { return }
      cursor = next
      var prunes: [Flush.Prune] = []
      var unreadable: [[UInt8]] = []
      for (name, packed) in pairs(parts[1].array ?? []) {
        let device = DeviceID(rawValue: String(decoding: name, as: UTF8.self))
        guard seen.insert(device).inserted else { continue }
        do throws(Corrupt) {
          prunes.append(try Flush.Prune(held: packed, device, credential, app: app))
        } catch {
          unreadable.append(name)
        }
      }
      if !prunes.isEmpty || !unreadable.isEmpty { try await body(prunes, unreadable) }
    } while cursor != "0"
  }
}
