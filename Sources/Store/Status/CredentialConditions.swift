package import Domain
import Loop
import RedisClient

/// What stands against credentials, for `/readyz`, `fanfare status`, reports and deliveries. Holds nothing but its session, on
/// whose loop it is used. A condition is as old as the last report of the worker that found it.
package struct CredentialConditions: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Writes what stands against a credential; nil: nothing any more.
  package func set(_ credential: CredentialID, _ condition: CredentialCondition?) async throws(StoreError) {
    let command =
      if let condition {
        RedisCommand("HSET", keys.conditions, credential.rawValue, condition.stored)
      } else {
        RedisCommand("HDEL", keys.conditions, credential.rawValue)
      }
    _ = try await ask(command)
  }

  /// Those that still say something.
  package func all() async throws(StoreError) -> [CredentialID: CredentialCondition] {
    var conditions: [CredentialID: CredentialCondition] = [:]
    for (name, stored) in pairs(try await ask(RedisCommand("HGETALL", keys.conditions)).array ?? []) {
      let condition = CredentialCondition(stored: String(decoding: stored, as: UTF8.self))
      guard condition.holds(now: loop.wallNow) else { continue }
      conditions[CredentialID(rawValue: String(decoding: name, as: UTF8.self))] = condition.shown(now: loop.wallNow)
    }
    return conditions
  }

  /// Takes away what was said against credentials that nothing is queued for, where `isOver`: nobody would find out that it has passed.
  package func drop(where isOver: (CredentialID, CredentialCondition) -> Bool) async throws(StoreError) {
    let over = try await all().filter { isOver($0.key, $0.value) }
    guard !over.isEmpty else { return }
    let queued = Set(try await JobQueue(session).status().jobs.filter { $0.value > 0 }.map(\.key.credential))
    for credential in over.keys where !queued.contains(credential) { try await set(credential, nil) }
  }
}

extension CredentialCondition {
  /// `state since next-try until told reason`, times in milliseconds, `-` where there is none.
  fileprivate var stored: String {
    let times = [since, nextTry, until, at].map { $0.map { String($0.milliseconds) } ?? "-" }
    return ([state.rawValue] + times + [reason]).joined(separator: " ")
  }

  /// What cannot be read blocks: it stands for something.
  fileprivate init(stored: String) {
    let words = stored.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: false).map(String.init)
    func time(_ place: Int) -> WallTime? { StoredNumber.read(words[place]).map { WallTime(milliseconds: $0) } }
    guard words.count == 6, let state = State(rawValue: words[0]), let since = time(1), let at = time(4) else {
      self.init(.blocked, reason: "unknown", since: WallTime(milliseconds: 0))
      return
    }
    self.init(state, reason: words[5], since: since, nextTry: time(2), until: time(3), at: at)
  }
}
