import RedisClient

/// What Redis says of its own memory, in bytes, at one moment.
struct RedisMemory {
  private let lines: [Substring]

  init(of redis: Redis) async throws {
    let text = try await redis.call(RedisCommand("INFO", "memory")).text ?? ""
    lines = text.split(whereSeparator: \.isNewline)
  }

  /// A field of `INFO memory`; 0 if this Redis has none of that name.
  subscript(name: String) -> Int {
    let line = lines.first { $0.hasPrefix("\(name):") }
    return line.flatMap { Int($0.dropFirst(name.utf8.count + 1)) } ?? 0
  }

  var used: Int { self["used_memory"] }
}
