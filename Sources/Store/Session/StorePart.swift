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
}
