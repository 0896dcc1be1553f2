import Domain
import Foundation
import JSON
import Support
import Synchronization
import Testing

extension Journeys {
  private static func alert(_ tokens: [String], more: String = "") -> String {
    #"{"to":{"tokens":[\#(Tokens.targets("apns", tokens))]},"kind":"alert","notification":{"body":"Hi"}\#(more)}"#
  }

  private final class Over: Sendable { let flag = Mutex(false) }

  /// As a client should: until it is accepted, always with the same key.
  static func insist(_ gateway: Gateway, _ message: String, key: String) async throws -> String {
    for _ in 0..<2_000 {
      let answer = try? await gateway.client.post("/v1/messages", message, headers: [Header("idempotency-key", key)])
      if let answer, answer.status == 202, let id = answer.json["id"]?.string { return id }
      if let answer, answer.json["retryable"]?.bool != true { throw ChildFailure(reason: answer.text) }
      try await Task.sleep(for: .milliseconds(50))
    }
    throw ChildFailure(reason: "never accepted\n\(gateway.process.text.suffix(2_000))")
  }

  @Test("Redis is killed again and again under load: with appendfsync always nothing accepted is lost")
  func killedRedis() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    try await world.sandbox.play(#"[{"provider":"apns","delay_ms":10,"when":"after"}]"#)
    let isOver = Over()
    let load = Task {
      var ids: [String] = []
      while !isOver.flag.withLock({ $0 }) {
        let from = ids.count * 30
        let message = Self.alert((from..<from + 30).map(Tokens.apns))
        ids.append(try await Self.insist(gateway, message, key: "load-\(ids.count)"))
      }
      return ids
    }
    for round in 1...4 {
      _ = try await world.sandbox.accepted(atLeast: round * 300)
      world.redis.stop()
      if round % 2 == 0 { try await gateway.until("unready") { try await $0.client.get("/readyz").status == 503 } }
      world.redis.start()
    }
    isOver.flag.withLock { $0 = true }
    let ids = try await load.value
    for id in ids { #expect(try await gateway.completed(id)["counts"]?.array?.first?["count"]?.integer == 30) }
    let accepted = try await world.sandbox.log().filter(\.accepted)
    #expect(difference(Set(accepted.map(\.token)), from: (0..<ids.count * 30).map(Tokens.apns)) == nil)
    #expect(accepted.count - ids.count * 30 <= 4 * 4_000, "each outage may double what was in flight or not flushed")
  }

  @Test(
    "with appendfsync everysec kill -9 of Redis loses nothing that is older than two seconds, and a machine that dies at most the last second of what was written"
  )
  func everySecond() async throws {
    let world = try await World(redis: RedisServer(durable: true, ["--appendfsync", "everysec"]))
    let gateway = try await world.gateway(["--api-only"])
    var sent: [(id: String, at: ContinuousClock.Instant)] = []
    var sizes: [(at: ContinuousClock.Instant, size: Int)] = []
    let folder = "\(world.redis.directory)/appendonlydir"
    func log() throws -> String {
      let name = try #require(
        try FileManager.default.contentsOfDirectory(atPath: folder).first { $0.hasSuffix(".incr.aof") })
      return "\(folder)/\(name)"
    }
    let end = ContinuousClock.now + .seconds(5)
    while ContinuousClock.now < end {
      let from = sent.count * 3
      // Measured before it is sent: so much was written at least when this one began.
      let attributes = try FileManager.default.attributesOfItem(atPath: try log())
      sizes.append((ContinuousClock.now, attributes[.size] as? Int ?? 0))
      sent.append((try await gateway.send(Self.alert((from..<from + 3).map(Tokens.apns))), ContinuousClock.now))
    }
    let death = ContinuousClock.now
    world.redis.stop()
    world.redis.start()
    try await gateway.until("Redis") { try await $0.client.get("/readyz").status == 200 }
    // While an fsync takes long, Redis postpones its writes, for two seconds at most (`flushAppendOnlyFile` in aof.c).
    let found = try await gateway.survivors(of: sent.map(\.id))
    #expect(found == Array(0..<found.count), "what is lost is the end")
    for message in sent[found.count...] {
      #expect(death - message.at <= .seconds(2), "accepted \(death - message.at) before the end of Redis, and lost")
    }
    sent.removeSubrange(found.count...)

    // What a machine loses that dies: at most the writes of its last second, which no fsync has reached. Some of them may have
    // been accepted up to two seconds before they were written.
    world.redis.stop()
    let kept = try #require(sizes.first { death - $0.at <= .seconds(1) }).size
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: try log()))
    try file.truncate(atOffset: UInt64(kept))
    try file.close()
    world.redis.start()
    try await gateway.until("Redis") { try await $0.client.get("/readyz").status == 200 }
    let survivors = try await gateway.survivors(of: sent.map(\.id))
    for message in sent[survivors.count...] {
      #expect(death - message.at <= .seconds(3), "a message accepted \(death - message.at) before is lost")
    }
    #expect(survivors.count < sent.count && survivors == Array(0..<survivors.count), "what is lost is the end")
    let worker = try await world.worker()
    for place in survivors { _ = try await gateway.completed(sent[place].id) }
    #expect(try await world.sandbox.log().filter(\.accepted).count == survivors.count * 3)
    _ = worker
  }

  @Test(
    "Redis goes back to an older copy under a living worker: what was accepted in between is lost, and that alone",
    arguments: ["always", "everysec"])
  func olderCopy(policy: String) async throws {
    let world = try await World(redis: RedisServer(durable: true, ["--appendfsync", policy]))
    let gateway = try await world.gateway()
    // What is claimed waits in memory.
    try await world.sandbox.play(#"[{"provider":"apns","status":403,"reason":"InvalidProviderToken"}]"#)
    func send(_ range: Range<Int>) async throws -> [String] {
      var ids: [String] = []
      for number in range {
        ids.append(try await gateway.send(Self.lasting(number)))
      }
      try await gateway.until("claims") { try await $0.metric("fanfare_claimed_jobs_total") >= range.upperBound }
      return ids
    }
    let kept = try await send(0..<60)
    world.redis.copy()
    _ = try await send(60..<120)
    world.redis.restartFromCopy()
    var later: [String] = []
    for number in 120..<180 {
      later.append(
        try await Self.insist(gateway, Self.lasting(number), key: "later-\(number)"))
    }
    _ = try await gateway.process.line { $0.contains("store_went_back") }
    try await world.sandbox.play("[]")
    // Not only with the next probe.
    gateway.process.signal(SIGHUP)
    for id in kept + later { #expect(try await gateway.completed(id)["state"]?.string == "completed") }
    let accepted = try await world.sandbox.log().filter(\.accepted).map(\.token)
    let wanted = Set(((0..<60).map { $0 } + (120..<180)).map(Tokens.apns))
    #expect(difference(wanted.intersection(accepted), from: wanted) == nil)
    #expect(Set(accepted).count == accepted.count, "nobody gets it twice")
  }

  @Test(
    "Redis goes back to an older copy: what a lost message had superseded is sent, and nobody waits for a retry that is lost"
  )
  func lanesOfOlderCopy() async throws {
    let redis = RedisServer(durable: true, ["--appendfsync", "always"])
    let world = try await World(more: #"lanes: { order_hold: "1h" },"#, retries: .shipped, redis: redis)
    let gateway = try await world.gateway()
    let failing = Tokens.apns(1)
    let refused = #"{"provider":"fcm","status":401,"reason":"UNAUTHENTICATED"}"#
    try await world.sandbox.play(#"[\#(refused),{"provider":"apns","token":"\#(failing)","status":503}]"#)
    func score(_ number: Int) -> String {
      let target = Tokens.targets("fcm", [Tokens.fcm(number)])
      return
        #"{"to":{"tokens":[\#(target)]},"kind":"alert","ttl":86400,"collapse_key":"score","notification":{"body":"1:0"}}"#
    }
    var (older, newer): ([String], [String]) = ([], [])
    for number in 0..<20 { older.append(try await gateway.send(score(number))) }
    try await gateway.until("claims") { try await $0.metric("fanfare_claimed_jobs_total") >= 20 }
    redis.copy()
    for number in 0..<20 { newer.append(try await gateway.send(score(number))) }
    for id in older {
      _ = try await gateway.completed(id)
      #expect(try await gateway.deliveries(id).map { $0["state"]?.string } == ["superseded"])
    }
    let held = try await gateway.send(Self.lasting(1))
    try await gateway.until("the retry") { try await $0.deliveries(held).first?["state"]?.string == "retrying" }
    // A worker that has noticed the older copy already sends the later message at once.
    try await world.sandbox.play("[\(refused)]")

    redis.restartFromCopy()
    let later = try await Self.insist(gateway, Self.lasting(1), key: "later")
    _ = try await gateway.process.line { $0.contains("store_went_back") }
    try await world.sandbox.play("[]")
    // Not only with the next probe.
    gateway.process.signal(SIGHUP)
    for id in older + [later] {
      _ = try await gateway.completed(id)
      #expect(try await gateway.deliveries(id).map { $0["state"]?.string } == ["accepted"])
    }
    for id in newer + [held] { #expect(try await gateway.client.get("/v1/messages/\(id)").status == 404) }
    let accepted = try await world.sandbox.log().filter(\.accepted).map(\.token)
    #expect(difference(accepted, from: (0..<20).map(Tokens.fcm) + [failing]) == nil)
  }

  @Test(
    "a failover to a replica that was behind, under a living worker: what was confirmed is sent; without durability what it had not received is lost, and that alone",
    arguments: [true, false])
  func failover(durable: Bool) async throws {
    let ports = [RedisServer.freePort(), RedisServer.freePort()]
    func server(_ port: Int, _ more: [String] = []) -> RedisServer {
      RedisServer(
        durable: true,
        ["--port", String(port), "--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0"] + more)
    }
    let primary = server(ports[0])
    let heir = server(ports[1], ["--replicaof", "127.0.0.1", String(ports[0])])
    let world = try await World(
      more: durable ? #"durability: { replicas: 1, timeout: "500ms" },"# : "", redis: primary)
    let gateway = try await world.gateway()
    func send(_ range: Range<Int>) async throws -> [String] {
      var ids: [String] = []
      for number in range { ids.append(try await Self.insist(gateway, Self.lasting(number), key: "key-\(number)")) }
      return ids
    }
    // What is claimed waits in memory.
    try await world.sandbox.play(#"[{"provider":"apns","status":403,"reason":"InvalidProviderToken"}]"#)
    let kept = try await send(0..<60)
    try await gateway.until("claims") { try await $0.metric("fanfare_claimed_jobs_total") >= 60 }
    try await Self.replication(of: primary, to: heir)

    _ = try await Self.ask(heir, "REPLICAOF", "NO", "ONE")
    // The former primary goes on for a while, and dies.
    var lost: [String] = []
    for number in 60..<(durable ? 65 : 120) {
      let key = Header("idempotency-key", "key-\(number)")
      let answer = try await gateway.client.post("/v1/messages", Self.lasting(number), headers: [key])
      #expect(answer.status == (durable ? 503 : 202), "\(answer.text)")
      lost.append(answer.json["id"]?.string ?? "")
    }
    try await gateway.until("claims") { [count = lost.count] in
      try await $0.metric("fanfare_claimed_jobs_total") >= 60 + count
    }
    heir.takeOver(from: primary)
    let next = durable ? server(RedisServer.freePort(), ["--replicaof", "127.0.0.1", String(ports[1])]) : nil
    // A client repeats what was not confirmed to it.
    let later = try await send(durable ? 60..<125 : 120..<180)
    _ = try await gateway.process.line { $0.contains("store_went_back") }
    try await world.sandbox.play("[]")
    // Not only with the next probe.
    gateway.process.signal(SIGHUP)
    for id in kept + later { #expect(try await gateway.completed(id)["state"]?.string == "completed") }
    for id in lost { #expect(try await gateway.client.get("/v1/messages/\(id)").status == 404) }
    let accepted = try await world.sandbox.log().filter(\.accepted).map(\.token)
    let sent = durable ? Array(0..<125) : Array(0..<60) + Array(120..<180)
    #expect(difference(accepted, from: sent.map(Tokens.apns)) == nil)
    _ = next
  }

  /// To one token, with a day to live.
  private static func lasting(_ number: Int) -> String { alert([Tokens.apns(number)], more: #","ttl":86400"#) }

  private static func ask(_ server: RedisServer, _ words: String...) async throws -> String {
    let tool = try ChildProcess(
      URL(fileURLWithPath: "/usr/bin/env"), ["redis-cli", "-s", server.socketPath] + words)
    guard await tool.waitForExit() == 0 else { throw ChildFailure(reason: tool.text) }
    return tool.text
  }

  /// Returns when the replica has all that the primary had when this was called.
  private static func replication(of primary: RedisServer, to replica: RedisServer) async throws {
    func offset(_ server: RedisServer, _ name: String) async throws -> Int {
      let info = try await ask(server, "INFO", "replication")
      let line = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name + ":") }
      return line.flatMap { Int($0.dropFirst(name.count + 1)) } ?? -1
    }
    let wanted = try await offset(primary, "master_repl_offset")
    let deadline = ContinuousClock.now + .seconds(Gateway.patience)
    while try await offset(replica, "slave_repl_offset") < wanted {
      guard ContinuousClock.now < deadline else { throw ChildFailure(reason: "the replica never followed") }
    }
  }

  @Test(
    "durability waits for a replica: without one 503 durability_unconfirmed with the id, and a repeat sends nothing twice"
  )
  func replicas() async throws {
    let port = RedisServer.freePort()
    let primary = RedisServer(
      durable: true, ["--port", String(port), "--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0"])
    let replica = RedisServer(["--replicaof", "127.0.0.1", String(port)])
    let world = try await World(more: #"durability: { replicas: 1, timeout: "300ms" },"#, redis: primary)
    let gateway = try await world.gateway()
    // The replica has caught up when it confirms.
    _ = try await Self.insist(gateway, Self.alert([Tokens.apns(1)]), key: "first")
    replica.signal(SIGSTOP)
    let message = Self.alert([Tokens.apns(2)])
    func ask() async throws -> Client.Answer {
      try await gateway.client.post("/v1/messages", message, headers: [Header("idempotency-key", "second")])
    }
    let unconfirmed = try await ask()
    #expect(
      unconfirmed.status == 503 && unconfirmed.json["code"]?.string == "durability_unconfirmed", "\(unconfirmed.text)")
    #expect(unconfirmed.header("retry-after") != nil && unconfirmed.json["retryable"]?.bool == true)
    let id = try #require(unconfirmed.json["id"]?.string)
    #expect(try await ask().json["id"]?.string == id)
    _ = try await gateway.send(Self.alert([Tokens.apns(3)], more: #","durability":{"replicas":0}"#))
    replica.signal(SIGCONT)
    #expect(try await Self.insist(gateway, message, key: "second") == id)
    #expect(try await gateway.completed(id)["state"]?.string == "completed")
    _ = try await world.sandbox.accepted(atLeast: 3)
    #expect(try await world.sandbox.log().filter(\.accepted).map(\.token).sorted() == (1...3).map(Tokens.apns))
    _ = replica
  }
}
