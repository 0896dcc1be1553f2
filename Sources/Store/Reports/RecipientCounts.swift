package import Domain
import RedisClient

/// Recipients that were reached in the last while, counted by all workers together.
package struct RecipientWindow: Hashable, Sendable {
  let key: String
  let milliseconds: Int64

  /// Counted in so many steps: each is forgotten as a whole, when all of it is old enough.
  static let steps: Int64 = 60
}

/// Counts the recipients of an app in a window of time. Holds nothing but its session, on whose loop it is used.
package struct RecipientCounts: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Of all accounts in the rule's group, over `rule.within` milliseconds.
  package func window(under rule: SubscriberRule) -> RecipientWindow {
    RecipientWindow(
      key: keys.rate(keys.partition((rule.group, "")), "w:\(rule.group)"), milliseconds: rule.within)
  }

  /// Takes room for `count` recipients, all or none, if no more than `most` are then reached in the window. `wait`:
  /// milliseconds until there may be room. A count beyond `most` is taken while nothing else was reached.
  package func take(_ count: Int, of most: Int, in window: RecipientWindow) async throws(StoreError)
    -> (isTaken: Bool, wait: Int64)
  {
    let reply = try await askRecipients(count, most, window)
    return (reply[0] == 1, reply[1])
  }

  /// How many were reached.
  package func reached(in window: RecipientWindow) async throws(StoreError) -> Int {
    Int(try await askRecipients(0, 0, window)[2])
  }

  private func askRecipients(_ count: Int, _ most: Int, _ window: RecipientWindow) async throws(StoreError) -> [Int64] {
    let step = window.milliseconds / RecipientWindow.steps
    let reply =
      try await ask(
        Scripts.recipients, keys: [window.key],
        [.number(Int64(count)), .number(Int64(most)), .number(step), .number(RecipientWindow.steps)]
      ).array ?? []
    let numbers = reply.compactMap(\.integer)
    guard numbers.count == 3 else { throw .unavailable("recipients were counted in an unknown form", retryAfter: 1) }
    return numbers
  }
}
