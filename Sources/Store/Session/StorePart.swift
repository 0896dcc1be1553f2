import Loop
import RedisClient

/// One concern of the store over a session. Parts that need each other make one: most hold nothing but the session, so
/// that it costs nothing.
protocol StorePart {
  var session: RedisSession { get }
}

extension StorePart {
  var settings: StoreSettings { session.settings }
  var loop: EventLoop { session.loop }
  var redis: Redis { session.redis }
  var keys: Keys { session.keys }

  /// What Redis answers to each of them, a thousand at a time: others have their turns in between.
  func askInTurns(_ commands: [RedisCommand]) async throws(StoreError) -> [RedisReply] {
    var replies: [RedisReply] = []
    replies.reserveCapacity(commands.count)
    for start in stride(from: 0, to: commands.count, by: 1_000) {
      replies += try await ask(Array(commands[start..<min(commands.count, start + 1_000)]))
      await loop.giveWay()
    }
    return replies
  }
}
