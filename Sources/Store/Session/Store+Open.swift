import Domain
import Loop
import RedisClient
import TLS

extension Store {
  /// Version of the keys and records described in this module. 5: schedules, waves, caps, variants, drafts, counted
  /// rates and intents of imports, which an earlier one would not see. 6: who waits without an attempt is counted
  /// apart. 8: messages of one delivery are kept whole. 9: entries of streams are marked with their message, and parts
  /// know the quiet hours of each day. 10: each family of keys has a word of its own, and hours of listings have an
  /// end; devices arrive before they hold their token. 11: the layout's key is the same for every number of partitions.
  /// 12: parts of lists have codes of outcome. 13: API keys stand under their ids; those of 12 are taken over.
  private static let layoutVersion = "13"
  private static let adoptedVersion = "12"
  private static let openPollMilliseconds: Int64 = 5

  /// Waits for Redis (at most `timeout`, and for as long as it loads its data), creates or checks the layout: version,
  /// partition count, `noeviction`. `waiting` is asked every few milliseconds; it ends the wait by answering false.
  package func open(
    timeout: Int64 = 5_000, waiting: (StoreCondition) -> Bool = { _ in true }
  ) async throws(StoreError) {
    var deadline = session.loop.now + timeout
    while !session.redis.isReady {
      if let fault = session.redis.fault { throw .unusable(fault) }
      if let refusal = session.redis.lastRefusal, refusal.code == .wrongPassword || refusal.code == .noAuthentication {
        throw .unusable("Redis refused the password: set redis.username and redis.password_file (\(refusal.text))")
      }
      if session.probe.condition == .loading { deadline = session.loop.now + timeout }
      guard session.loop.now < deadline, waiting(session.probe.condition) else {
        throw .unavailable(absence, retryAfter: 1)
      }
      await session.loop.sleep(milliseconds: Self.openPollMilliseconds)
    }
    try await checkServer()
    try await checkLayout()
  }

  /// As `open`, for a command that somebody waits for: where nobody listens, that is told within a second.
  package func openOnce() async throws(StoreError) {
    let patience = session.loop.now + Self.patienceMilliseconds
    try await open { _ in session.redis.trouble == nil || session.loop.now < patience }
  }
  private static let patienceMilliseconds: Int64 = 1_000

  /// Why Redis is not ready, with its address.
  private var absence: String {
    let place = session.endpoint.place.text
    if let refusal = session.redis.lastRefusal { return "\(place) answers: \(refusal.text)" }
    return session.redis.trouble ?? "\(place) accepts connections but does not answer (store_stalled)"
  }

  private func checkServer() async throws(StoreError) {
    let server = InfoFields(try await session.ask(RedisCommand("INFO", "server")).text ?? "")
    let version = server["redis_version"] ?? "unknown"
    guard Whole.read(version.prefix { $0 != "." }, in: 7...Int(UInt16.max)) != nil else {
      throw .unusable("Redis is version \(version): Fanfare needs 7.0 or later")
    }
    session.probe.read(try await session.ask(RedisCommand("INFO", "memory", "replication")).text ?? "")
    if let policy = session.probe.memory.policy, policy != "noeviction" {
      throw .unusable(
        "Redis' maxmemory-policy is \(policy), which would drop accepted messages: set `maxmemory-policy noeviction`")
    }
  }

  private func checkLayout() async throws(StoreError) {
    let partitions = String(session.settings.partitions)
    if let former = try await formerLayoutVersion() { throw Self.refusal(ofVersion: former) }
    _ = try await session.ask(RedisCommand("HSETNX", session.keys.layout, "version", Self.layoutVersion))
    _ = try await session.ask(RedisCommand("HSETNX", session.keys.layout, "partitions", partitions))
    let secret = RedisCommand("HSETNX", session.keys.layout, "cursor_secret", Base64URL.encode(SecureRandom.bytes(32)))
    _ = try await session.ask(secret)
    let stored =
      try await session.ask(RedisCommand("HMGET", session.keys.layout, "version", "partitions", "cursor_secret")).array
      ?? []
    guard let version = stored.first?.text, [Self.layoutVersion, Self.adoptedVersion].contains(version) else {
      throw Self.refusal(ofVersion: stored.first?.text ?? "?")
    }
    let partitionsThere = stored.count > 1 ? stored[1].text : nil
    guard partitionsThere == partitions else {
      throw .unusable(
        "the store was created with \(partitionsThere ?? "?") partitions and \(partitions) are configured: set "
          + "`partitions` back, as it is fixed for the life of a store")
    }
    guard let secret = stored.last?.bytes, !secret.isEmpty else {
      throw .unusable("the store's layout has no `cursor_secret`, which was written a moment ago")
    }
    session.cursorSecret = secret
    guard version == Self.adoptedVersion else { return }
    try await FormerKeys(session).adopt()
    _ = try await session.ask(RedisCommand("HSET", session.keys.layout, "version", Self.layoutVersion))
  }

  /// Of a store whose layout lies where the number of partitions put it, before version 11. It is looked for only where
  /// there is no layout at today's key, so before that key is written.
  private func formerLayoutVersion() async throws(StoreError) -> String? {
    guard try await session.ask(RedisCommand("HGET", session.keys.layout, "version")).text == nil else { return nil }
    for key in session.keys.formerLayouts {
      if let version = try await session.ask(RedisCommand("HGET", key, "version")).text { return version }
    }
    return nil
  }

  private static func refusal(ofVersion version: String) -> StoreError {
    let isNewer = (StoredNumber.read(version) ?? 0) > (StoredNumber.read(layoutVersion) ?? 0)
    return .unusable(
      "the store's layout is version \(version) and this Fanfare reads \(layoutVersion): "
        + (isNewer ? "a newer Fanfare has written it, so start that one" : "start the older Fanfare that wrote it")
        + ", or start a new store with another redis.prefix")
  }
}
