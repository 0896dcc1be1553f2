import RedisClient

/// Commands with the store's own words for what can go wrong.
extension StorePart {
  func ask(_ command: RedisCommand, partition: Int = 0) async throws(StoreError) -> RedisReply {
    do throws(RedisFault) { return try await redis.call(command) } catch { throw StoreError(error, partition) }
  }
  func ask(_ commands: [RedisCommand], partition: Int = 0) async throws(StoreError) -> [RedisReply] {
    do throws(RedisFault) { return try await redis.call(commands) } catch { throw StoreError(error, partition) }
  }
  func ask(
    _ script: RedisScript, keys: [String], _ arguments: [RedisArgument], partition: Int = 0
  ) async throws(StoreError) -> RedisReply {
    do throws(RedisFault) { return try await redis.call(script, keys: keys, arguments) } catch {
      throw StoreError(error, partition)
    }
  }
  func ask(
    _ script: RedisScript, _ runs: [(keys: [String], arguments: [RedisArgument])], partition: Int = 0
  ) async throws(StoreError) -> [RedisReply] {
    try await ask(script, runs.map { ScriptRun(keys: $0.keys, $0.arguments) }, partition: partition)
  }
  func ask(_ script: RedisScript, _ runs: [ScriptRun], partition: Int = 0) async throws(StoreError) -> [RedisReply] {
    var rest = runs[...]
    return try await ask(script, partition: partition) { rest.popFirst() }
  }
  /// `next` makes one run after the other, until it answers nil: Redis has the first while later ones are being made.
  func ask(
    _ script: RedisScript, partition: Int = 0, _ next: () -> ScriptRun?
  ) async throws(StoreError) -> [RedisReply] {
    try await replies(redis.begin(script, next), partition: partition)
  }
  /// Of what was begun.
  func replies(_ pipeline: RedisPipeline, partition: Int = 0, under lease: Lease? = nil) async throws(StoreError)
    -> [RedisReply]
  {
    do throws(RedisFault) {
      return try await pipeline.replies()
    } catch {
      if let lease { throw refused(error, lease) }
      throw StoreError(error, partition)
    }
  }
  /// What these keys hold, strings all, in order; read together by partition.
  func read(_ wanted: [(partition: Int, key: String)]) async throws(StoreError) -> [[UInt8]?] {
    var commands: [RedisCommand] = []
    var places: [[Int]] = []
    var open: [Int: Int] = [:]
    for (place, item) in wanted.enumerated() {
      if let at = open[item.partition], places[at].count < Self.keysPerRead {
        commands[at].append(item.key)
        places[at].append(place)
      } else {
        open[item.partition] = commands.count
        commands.append(RedisCommand("MGET", item.key))
        places.append([place])
      }
    }
    var held = [[UInt8]?](repeating: nil, count: wanted.count)
    for (places, reply) in zip(places, try await ask(commands)) {
      for (place, value) in zip(places, reply.array ?? []) { held[place] = value.bytes }
    }
    return held
  }
  private static var keysPerRead: Int { 100 }
}

extension StoreError {
  init(_ fault: RedisFault, _ partition: Int) {
    switch fault {
    case .disconnected: self = .unavailable("no connection to Redis", retryAfter: 1)
    case .overloaded: self = .unavailable("too many requests wait for Redis", retryAfter: 1)
    case .lost: self = .unavailable("the connection to Redis was lost", retryAfter: 1)
    case .timedOut: self = .unavailable("Redis did not answer in time", retryAfter: 2)
    case .unusable(let text): self = .unusable(text)
    case .refused(let refusal):
      switch refusal.code {
      case _ where refusal.word == "LEASE" || refusal.word == LeaseFence.historyWord:
        self = .leaseLost(partition: partition)
      case .noAuthentication, .wrongPassword, .noPermission:
        self = .unusable("Redis refuses this account: \(refusal.text)")
      case .outOfMemory: self = .unavailable("Redis is full: \(refusal.text)", retryAfter: 10)
      default: self = .unavailable(refusal.text, retryAfter: 2)
      }
    }
  }
}
