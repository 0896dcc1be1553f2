import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "a worker stopped for longer than its lease is replaced within two leases; when it wakes it neither writes nor sends; kill -9 is taken over as fast"
  )
  func zombie() async throws {
    let world = try await World(more: TwoWorkers.settings)
    let api = try await world.gateway(["--api-only"])
    let first = try await world.worker()
    let second = try await world.worker()
    try await TwoWorkers.awaitHalves(first, second)
    try await world.sandbox.play(#"[{"provider":"apns","delay_ms":700,"when":"after"}]"#)
    let tokens = (0..<3_000).map(Tokens.apns)
    let id = try await api.send(TwoWorkers.alert(tokens))
    _ = try await world.sandbox.accepted(atLeast: 400)

    // Now it has requests at work, more of them waiting, and answers on their way.
    first.process.signal(SIGSTOP)
    let taken = try await second.until("the partitions of the stopped one") {
      try await $0.metric("fanfare_partitions_owned") == TwoWorkers.partitions
    }
    #expect(taken < .seconds(2 * TwoWorkers.lease * Double(Sanitizer.slowness)), "take-over took \(taken)")
    try await world.sandbox.play("[]")
    _ = try await api.completed(id)
    let record = try await api.deliveries(id)
    let log = try await world.sandbox.log()

    first.process.signal(SIGCONT)
    // It has noticed all it can notice once it knows of its loss and owns its half again.
    try await first.until("its loss") { $0.process.text.contains("event=lease_lost") }
    try await first.until("its share") { try await $0.metric("fanfare_partitions_owned") == 8 }
    #expect(try await world.sandbox.log().count == log.count, "the zombie sent")
    #expect(try await difference(api.deliveries(id), from: record) == nil, "the zombie wrote")
    let accepted = log.filter(\.accepted)
    #expect(difference(Set(accepted.map(\.token)), from: tokens) == nil)
    #expect(accepted.count - tokens.count <= 2_000, "what was in flight or not flushed may be doubled")

    let more = (5_000..<6_000).map(Tokens.apns)
    try await world.sandbox.play(#"[{"provider":"apns","delay_ms":300,"when":"after"}]"#)
    let next = try await api.send(TwoWorkers.alert(more))
    _ = try await world.sandbox.accepted(atLeast: accepted.count + 100)
    await second.process.destroy()
    let heir = try await first.until("the partitions of the killed one") {
      try await $0.metric("fanfare_partitions_owned") == TwoWorkers.partitions
    }
    #expect(heir < .seconds(2 * TwoWorkers.lease * Double(Sanitizer.slowness)), "take-over took \(heir)")
    _ = try await api.completed(next)
    let reached = Set(try await world.sandbox.log().filter(\.accepted).map(\.token))
    #expect(difference(reached.intersection(more), from: more) == nil)
  }

  @Test("rolling restarts under load lose nothing and double nothing; each worker ends with 0 within its time")
  func rollingRestarts() async throws {
    // Under a sanitizer longer ones: whose lease or drain ends in the middle may double what was at work.
    let seconds = 2 * Sanitizer.slowness
    let world = try await World(more: #"workers: { lease: "\#(seconds)s", drain: "\#(seconds)s" },"#)
    let api = try await world.gateway(["--api-only"])
    var workers = [try await world.worker(), try await world.worker(), try await world.worker()]
    try await world.sandbox.play(#"[{"provider":"apns","delay_ms":20,"when":"after"}]"#)
    let load = api.load { TwoWorkers.alert(($0 * 20..<$0 * 20 + 20).map(Tokens.apns)) }
    for place in workers.indices {
      try await workers[place].until("work") { try await $0.metric("fanfare_attempts_total") > 50 }
      let began = ContinuousClock.now
      workers[place].process.signal(SIGTERM)
      #expect(await workers[place].process.waitForExit() == 0, "\(workers[place].process.text)")
      #expect(ContinuousClock.now - began < .seconds(Double(seconds) + 0.5))
      workers[place] = try await world.worker()
    }
    load.cancel()
    let ids = try await load.value
    for id in ids { _ = try await api.completed(id) }
    let accepted = try await world.sandbox.log().filter(\.accepted)
    #expect(difference(Set(accepted.map(\.token)), from: (0..<ids.count * 20).map(Tokens.apns)) == nil)
    #expect(accepted.count == ids.count * 20, "a hand-over doubles nothing")
  }

  @Test(
    "a worker drains within its set time although a provider never answers; what it could not finish is sent by the next"
  )
  func drainInTime() async throws {
    let world = try await World(more: TwoWorkers.settings)
    let api = try await world.gateway(["--api-only"])
    let first = try await world.worker()
    try await first.until("readiness") { try await $0.client.get("/readyz").json["status"]?.string == "ready" }
    let refused = try await first.client.post("/v1/messages", TwoWorkers.alert([Tokens.apns(1)]))
    #expect(refused.status == 404 && refused.text.contains("only sends"), "\(refused.text)")
    try await world.sandbox.play(#"[{"provider":"apns","delay_ms":60000}]"#)
    let tokens = (0..<50).map(Tokens.apns)
    let id = try await api.send(TwoWorkers.alert(tokens))
    try await first.until("requests at work") { try await $0.metric("fanfare_requests_at_work") > 0 }
    let began = ContinuousClock.now
    first.process.signal(SIGTERM)
    #expect(await first.process.waitForExit() == 0, "\(first.process.text)")
    let time = ContinuousClock.now - began
    #expect(time > .seconds(1) && time < .seconds(2.5 * Double(Sanitizer.slowness)), "\(time)")
    try await world.sandbox.play("[]")
    let next = try await world.worker()
    _ = try await api.completed(id)
    #expect(try await difference(Set(world.sandbox.log().filter(\.accepted).map(\.token)), from: tokens) == nil)
    next.process.signal(SIGTERM)
    #expect(await next.process.waitForExit() == 0, "\(next.process.text)")
  }

  @Test("a start waits for Redis and says so; it ends with 4 after its set time, and with 0 when asked to stop")
  func waitsForRedis() async throws {
    let world = try await World()
    world.redis.stop()
    let patient = try world.serve()
    _ = try await patient.line { $0.contains("event=waiting_for_redis") && $0.contains("store_unavailable") }
    let stopped = try world.serve()
    _ = try await stopped.line { $0.contains("event=waiting_for_redis") }
    stopped.signal(SIGTERM)
    #expect(await stopped.waitForExit() == 0, "\(stopped.text)")
    world.redis.start()
    _ = try await patient.line { $0.contains("listening on") }
    world.redis.stop()
    let text = try String(contentsOf: world.directory.file("fanfare.json5"), encoding: .utf8)
    try text.replacing("redis: {", with: #"redis: { start_timeout: "300ms","#).write(
      to: world.directory.file("fanfare.json5"), atomically: true, encoding: .utf8)
    let began = ContinuousClock.now
    let hasty = try world.serve()
    #expect(await hasty.waitForExit() == 4, "\(hasty.text)")
    #expect(ContinuousClock.now - began < .seconds(30 * Sanitizer.slowness), "a minute is the default")
    #expect(hasty.text.contains("check /redis in the configuration"))
  }

  @Test("a store of another partition count is refused at start with the fix")
  func otherPartitions() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    gateway.process.signal(SIGTERM)
    _ = await gateway.process.waitForExit()
    for count in [8, 32] {
      try world.configure(more: "partitions: \(count),", nil)
      let refusal = "16 partitions and \(count) are configured: set `partitions` back"
      let refused = try world.serve()
      #expect(await refused.waitForExit() == 1)
      #expect(refused.text.contains(refusal), "\(refused.text)")
      for command in ["check", "status"] {
        let asked = try ChildProcess(World.program, [command, "--config", world.directory.file("fanfare.json5").path])
        #expect(await asked.waitForExit() != 0)
        #expect(asked.text.contains(refusal), "\(asked.text)")
      }
    }
  }

  @Test(
    "a worker cut off from Redis for longer than its lease sends nothing more, writes nothing afterwards, and is replaced",
    arguments: [RedisRelay.Silence.commands, .answers])
  func cutOff(_ silence: RedisRelay.Silence) async throws {
    let world = try await World(more: TwoWorkers.settings)
    let api = try await world.gateway(["--api-only"])
    let relay = RedisRelay(to: world.redis.socketPath)
    defer { relay.stop() }
    try world.edit { $0.replacing("unix:\(world.redis.socketPath)", with: "unix:\(relay.path)") }
    let first = try await world.worker()
    try world.edit { $0.replacing("unix:\(relay.path)", with: "unix:\(world.redis.socketPath)") }
    let second = try await world.worker()
    try await TwoWorkers.awaitHalves(first, second)
    try await world.sandbox.play(#"[{"provider":"apns","delay_ms":700,"when":"after"}]"#)
    let tokens = (0..<3_000).map(Tokens.apns)
    let id = try await api.send(TwoWorkers.alert(tokens))
    _ = try await world.sandbox.accepted(atLeast: 400)

    await relay.silence(silence)
    let taken = try await second.until("the partitions of the one cut off") {
      try await $0.metric("fanfare_partitions_owned") == TwoWorkers.partitions
    }
    #expect(taken < .seconds(2 * TwoWorkers.lease * Double(Sanitizer.slowness)), "take-over took \(taken)")
    try await world.sandbox.play("[]")
    _ = try await api.completed(id)
    let record = try await api.deliveries(id)
    let log = try await world.sandbox.log()

    await relay.goOn()
    try await first.until("its loss") { $0.process.text.contains("event=lease_lost") }
    try await first.until("its share") { try await $0.metric("fanfare_partitions_owned") == 8 }
    #expect(try await world.sandbox.log().count == log.count, "it sent afterwards")
    #expect(try await difference(api.deliveries(id), from: record) == nil, "it wrote afterwards")
    let accepted = log.filter(\.accepted)
    #expect(difference(Set(accepted.map(\.token)), from: tokens) == nil)
    #expect(accepted.count - tokens.count <= 2_000, "what was in flight or not flushed may be doubled")
  }
}
