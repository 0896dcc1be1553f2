import Domain
import Foundation
import Loop
import RedisClient
import Support
import Testing

@testable import Store

/// What can be wrong with a Redis that is there; each is made on a real one, and mended.
enum Ailment: String, CaseIterable, Sendable {
  case full, memoryless, replica, script, disk, pause
}

@Suite("Each trouble of Redis has its word, and accepting stops at once", .serialized)
struct ConditionStories {
  private static func quick() -> StoreSettings {
    var settings = quickSettings()
    settings.probeMilliseconds = 40
    return settings
  }

  @Test(
    "a Redis that is full, a replica, busy, without disk or stalled is named, refused at once, and taken back",
    arguments: Ailment.allCases)
  func ailments(_ ailment: Ailment) async throws {
    let server = RedisServer(durable: true, ["--appendfsync", "everysec", "--busy-reply-threshold", "50"])
    try await withStore(Self.quick(), server: server) { store, loop in
      let doctor = try await connected(loop, server)
      let patient = try await connected(loop, server)
      var told: [String] = []
      store.session.onCondition { told.append($0.word) }
      let before = try #require(try await store.acceptance.accept(submission(tokens: ["aa"], at: loop.wallNow)).id)
      let lease = try await store.take(before.homePartition)
      let jobs = try await store.claimAll(lease)

      try await ailment.make(doctor, patient)
      try await until(loop) { store.session.condition.word == ailment.word }
      var wasAsked = false
      loop.atEndOfTurn { wasAsked = true }
      do throws(StoreError) {
        _ = try await store.acceptance.accept(submission(tokens: ["bb"], at: loop.wallNow))
        Issue.record("accepted while \(ailment)")
      } catch {
        guard case .unavailable(let detail, let retryAfter) = error else { throw error }
        #expect(detail.prefix(20) == store.session.condition.detail.prefix(20) && retryAfter >= 1)
      }
      #expect(!wasAsked, "it is refused at once, without asking Redis")
      if ailment == .full || ailment == .memoryless {
        // What ends deliveries frees memory: it always passes.
        var flush = Flush(lease: lease, number: 1)
        flush.finals = jobs.flatMap(\.targets).map { final($0) }
        flush.finishedJobs = jobs.map(\.id)
        _ = try await store.outcomes.flush(flush)
        #expect(try await store.reports.report(before, app: shop)?.state == .completed)
      }

      try await ailment.mend(doctor)
      try await until(loop) { store.session.condition == .ready && told.last == "store_ready" }
      #expect(try await store.acceptance.accept(submission(tokens: ["cc"], at: loop.wallNow)).id != nil)
      #expect(told.filter { $0 != "store_slow" } == [ailment.word, "store_ready"])
      doctor.close()
      patient.close()
    }
  }

  @Test("while Redis loads its data it says so, and a start waits for it as long as it takes")
  func loading() async throws {
    // It answers once for each 1,024 writes that it has read: every half second, for some three.
    let server = RedisServer(durable: true, ["--appendfsync", "no", "--key-load-delay", "500"])
    try await withStore(Self.quick(), server: server) { store, loop in
      let doctor = try await connected(loop, server)
      _ = try await doctor.call((0..<6_000).map { RedisCommand("SET", "filler\($0)", "x") })
      server.stop()
      try await until(loop) { store.session.condition.word == "store_unavailable" }
      server.start()
      try await until(loop) { store.session.condition == .loading }
      let late = Store(loop: loop, redis: server.endpoint, settings: Self.quick())
      var waits: Set<String> = []
      try await late.open(timeout: 1_500) { condition in
        waits.insert(condition.word)
        return true
      }
      #expect(waits.contains("store_loading"))
      late.close()
      try await until(loop) { store.session.condition == .ready }
      doctor.close()
    }
  }

  @Test("scripts that Redis forgets under load change nothing for who uses them")
  func forgottenScripts() async throws {
    try await withStore(Self.quick()) { store, loop in
      let left = Left()
      for number in 0..<200 {
        left.count += 1
        loop.spawn {
          if number % 20 == 0 { _ = try? await store.session.redis.call(RedisCommand("SCRIPT", "FLUSH")) }
          let stored = try? await store.acceptance.accept(
            submission(tokens: ["t\(number)", "u\(number)"], at: loop.wallNow))
          if stored?.id != nil { left.stored += 1 }
          left.count -= 1
        }
      }
      try await until(loop) { left.count == 0 }
      #expect(left.stored == 200)
    }
  }
  private final class Left {
    var count = 0
    var stored = 0
  }

  @Test("a store of another partition count, of a newer or an older layout is refused with the fix")
  func otherStores() async throws {
    try await withStore(quickSettings(partitions: 4)) { store, loop in
      let counted = try await refusal(store, quickSettings(partitions: 8))
      #expect(counted.contains("4 partitions") && counted.contains("set `partitions` back"), "\(counted)")
      #expect(try await refusal(store, quickSettings(partitions: 4)) == "opened")
      for (version, fix) in [
        ("999", "a newer Fanfare has written it, so start that one"), ("1", "start the older Fanfare"),
      ] {
        _ = try await store.session.redis.call(RedisCommand("HSET", store.session.keys.layout, "version", version))
        let text = try await refusal(store, quickSettings(partitions: 4))
        #expect(
          text.contains("layout is version \(version)") && text.contains(fix) && text.contains("redis.prefix"),
          "\(text)")
      }
    }
  }
  private func refusal(_ store: Store, _ settings: StoreSettings) async throws -> String {
    let other = Store(loop: store.session.loop, redis: store.session.endpoint, settings: settings)
    defer { other.close() }
    do throws(StoreError) { try await other.open() } catch {
      if case .unusable(let text) = error { return text }
      throw error
    }
    return "opened"
  }

  /// 16 beside 8, 4 beside 2: partition 0 has the same tag for some of them, and another for others.
  private static let counts = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 24, 31, 32, 33, 48, 64]

  @Test("of any two partition counts the second is refused with the fix, and leaves nothing behind")
  func pairsOfCounts() async throws {
    try await withStore(quickSettings(partitions: 4)) { store, _ in
      for first in Self.counts {
        var settings = quickSettings(partitions: first)
        settings.prefix = "pair\(first)"
        #expect(try await refusal(store, settings) == "opened")
        for second in Self.counts where second != first {
          settings.partitions = second
          let text = try await refusal(store, settings)
          #expect(
            text.contains("created with \(first) partition") && text.contains("back"), "\(first), \(second): \(text)")
        }
        let keys = try await store.session.redis.call(RedisCommand("KEYS", "pair\(first):*")).array ?? []
        #expect(keys.count == 1, "\(keys)")
      }
    }
    let layouts = Set((1...128).map { Keys(prefix: "ff", partitions: $0).layout })
    #expect(layouts.count == 1, "\(layouts)")
  }

  @Test("a store whose layout lies where its partition count put it is found and refused, for every count")
  func formerLayouts() async throws {
    let known = Set(ClusterHashTags.firstTags)
    for count in 1...1_024 { #expect(known.contains(ClusterHashTags.tag(of: 0, partitions: count)), "\(count)") }
    try await withStore(quickSettings(partitions: 4)) { store, _ in
      for count in Self.counts {
        var settings = quickSettings(partitions: 16)
        settings.prefix = "former\(count)"
        let key = "former\(count):{\(ClusterHashTags.tag(of: 0, partitions: count))}:layout"
        _ = try await store.session.redis.call(
          RedisCommand("HSET", key, "version", "10", "partitions", "\(count)", "cursor_secret", "secret"))
        let text = try await refusal(store, settings)
        #expect(text.contains("layout is version 10") && text.contains("redis.prefix"), "\(count): \(text)")
        let keys = try await store.session.redis.call(RedisCommand("KEYS", "former\(count):*")).array ?? []
        #expect(keys.count == 1, "\(keys)")
      }
    }
  }
}

extension Ailment {
  var word: String {
    switch self {
    case .full, .memoryless: "store_full"
    case .replica: "store_read_only"
    case .script: "store_busy"
    case .disk: "store_disk_fault"
    case .pause: "store_stalled"
    }
  }

  /// `patient`: a connection that may have to wait for what is done to it.
  func make(_ redis: Redis, _ patient: Redis) async throws {
    switch self {
    // Behind and beyond the share of `maxmemory` at which accepting stops.
    case .full, .memoryless:
      let info = InfoFields(try await redis.call(RedisCommand("INFO", "memory")).text ?? "")
      let used = try #require(info["used_memory"].flatMap { Int($0) })
      let maximum = self == .full ? used * 10 / 9 : used / 2
      _ = try await redis.call(RedisCommand("CONFIG", "SET", "maxmemory", String(maximum)))
    case .replica: _ = try await redis.call(RedisCommand("REPLICAOF", "127.0.0.1", "1"))
    case .script: patient.send(RedisCommand("EVAL", "while true do end", "0")) { _ in }
    case .disk: try await limit(redis, "0:unlimited")
    case .pause: _ = try await redis.call(RedisCommand("CLIENT", "PAUSE", "2000", "ALL"))
    }
  }

  func mend(_ redis: Redis) async throws {
    switch self {
    case .full, .memoryless: _ = try await redis.call(RedisCommand("CONFIG", "SET", "maxmemory", "0"))
    case .replica: _ = try await redis.call(RedisCommand("REPLICAOF", "NO", "ONE"))
    case .script: _ = try await redis.call(RedisCommand("SCRIPT", "KILL"))
    case .disk: try await limit(redis, "unlimited")
    case .pause: break
    }
  }

  /// The size that a file of Redis may have. The next write notices.
  private func limit(_ redis: Redis, _ size: String) async throws {
    let info = InfoFields(try await redis.call(RedisCommand("INFO", "server")).text ?? "")
    let id = try #require(info["process_id"])
    let prlimit = try ChildProcess(URL(fileURLWithPath: "/usr/bin/prlimit"), ["--pid", id, "--fsize=\(size)"])
    #expect(await prlimit.waitForExit() == 0, "\(prlimit.text)")
    redis.send(RedisCommand("SET", "one-more-write", "x")) { _ in }
  }
}
