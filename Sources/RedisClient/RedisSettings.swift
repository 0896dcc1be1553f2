/// Limits of a connection to Redis.
package struct RedisSettings: Sendable {
  package var connectMilliseconds: Int64 = 2_000
  /// How long a command waits for its answer.
  package var commandMilliseconds: Int64 = 5_000
  /// A connection whose oldest command has waited that long is given up.
  package var stallMilliseconds: Int64 = 10_000
  /// Bytes of commands without an answer; more are refused as `overloaded`.
  package var bytesInFlight = 64 << 20
  package var backoff = RedisBackoff()
  /// The defaults suit a Redis in the same network.
  package init() {}
}

/// Waits between attempts to connect: exponential, at random within the upper half.
package struct RedisBackoff: Sendable {
  package var first: Int64 = 20
  package var maximum: Int64 = 2_000
  private var failures = 0
  /// 20 ms at first, doubled by each failure up to 2 s; a success starts anew.
  package init() {}

  /// `jitter`: 0..<1
  mutating func failed(jitter: Double) -> Int64 {
    let whole = min(maximum, first << Int64(min(failures, 16)))
    failures += 1
    return whole / 2 + Int64(Double(whole / 2) * jitter)
  }
  mutating func succeeded() { failures = 0 }
}
