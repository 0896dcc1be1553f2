import Domain
import Foundation
import JSON
import Support
import Testing

/// Wall clocks that jump, and a monotonic one that stood still.
extension Journeys {
  @Test(
    "Redis' clock jumps an hour forward and back under load: no two workers own a partition; one that is killed is replaced within two leases",
    .enabled(if: !Sanitizer.isOn, "a sanitizer and libfaketime both want to be the first library"))
  func redisClockJumps() async throws {
    let clock = MovableClock()
    let world = try await World(more: TwoWorkers.settings, redis: RedisServer(durable: true, clock: clock))
    let api = try await world.gateway(["--api-only"])
    let first = try await world.worker()
    let second = try await world.worker()
    try await TwoWorkers.awaitHalves(first, second)
    // So slow that each worker has requests at work at any moment.
    try await world.sandbox.play(#"[{"provider":"apns","delay_ms":150,"when":"after"}]"#)
    let load = api.load { TwoWorkers.alert(($0 * 20..<$0 * 20 + 20).map(Tokens.apns)) }
    try await Self.jump(clock, beside: [first, second])
    load.cancel()
    let ids = try await load.value
    for id in ids { _ = try await api.completed(id) }
    let accepted = try await world.sandbox.log().filter(\.accepted)
    #expect(difference(Set(accepted.map(\.token)), from: (0..<ids.count * 20).map(Tokens.apns)) == nil)
    #expect(accepted.count == ids.count * 20, "two owners send twice")
    for worker in [first, second] {
      #expect(!worker.process.text.contains("event=lease_lost"), "\(worker.process.text.suffix(2_000))")
    }

    // The dead one's lease and heartbeat lie an hour ahead.
    var doomed = second
    for isDeadBefore in [true, false] {
      clock.move(to: 3_600)
      let beats = try await first.metric("fanfare_attempts_total")
      let from = isDeadBefore ? 100_000 : 200_000
      let more = try await api.send(TwoWorkers.alert((from..<from + 40).map(Tokens.apns)))
      _ = try await api.completed(more)
      #expect(try await first.metric("fanfare_attempts_total") > beats)
      if isDeadBefore { await doomed.process.destroy() }
      clock.move(to: 0)
      if !isDeadBefore { await doomed.process.destroy() }
      let taken = try await first.until("the partitions of the killed one", within: 60) {
        try await $0.metric("fanfare_partitions_owned") == TwoWorkers.partitions
      }
      #expect(
        taken < .seconds(2 * TwoWorkers.lease), "take-over took \(taken), killed before the jump: \(isDeadBefore)")
      guard isDeadBefore else { break }
      doomed = try await world.worker()
      try await TwoWorkers.awaitHalves(first, doomed)
    }
  }

  @Test(
    "a worker's own wall clock jumps an hour forward and back under load: it loses no lease, and no two workers own a partition",
    .enabled(if: !Sanitizer.isOn, "a sanitizer and libfaketime both want to be the first library"))
  func workerClockJumps() async throws {
    let clock = MovableClock()
    let world = try await World(more: TwoWorkers.settings)
    let api = try await world.gateway(["--api-only"])
    let jumping = try await world.worker(environment: clock.environment)
    let steady = try await world.worker()
    try await TwoWorkers.awaitHalves(jumping, steady)
    // OneSignal's key has no time in it that such a jump would make wrong.
    try await world.sandbox.play(#"[{"provider":"onesignal","delay_ms":150,"when":"after"}]"#)
    let load = api.load { number in
      let tokens = (number * 20..<number * 20 + 20).map(Tokens.oneSignal)
      return #"""
        {"to":{"tokens":[\#(Tokens.targets("onesignal", tokens))]},"kind":"alert","notification":{"body":"Hi"},
         "ttl":2419200}
        """#
    }
    try await Self.jump(clock, beside: [jumping, steady])
    clock.move(to: 0)
    load.cancel()
    let ids = try await load.value
    for id in ids { _ = try await api.completed(id) }
    let accepted = try await world.sandbox.log().filter(\.accepted)
    #expect(difference(Set(accepted.map(\.token)), from: (0..<ids.count * 20).map(Tokens.oneSignal)) == nil)
    #expect(accepted.count == ids.count * 20, "two owners send twice")
    for worker in [jumping, steady] {
      #expect(!worker.process.text.contains("event=lease_lost"), "\(worker.process.text.suffix(2_000))")
      #expect(try await worker.metric("fanfare_attempts_total") > 0)
    }
  }

  /// A clock jumps; meanwhile two workers own half of the partitions each, whenever they are looked at.
  private static func jump(_ clock: MovableClock, beside workers: [Gateway]) async throws {
    for seconds in [3_600, 0, -3_600, 1, 30] {
      clock.move(to: seconds)
      // Each renews its leases and looks at the other's several times.
      let end = ContinuousClock.now + .seconds(1.5 * TwoWorkers.lease)
      while ContinuousClock.now < end {
        for worker in workers {
          let owned = try await worker.metric("fanfare_partitions_owned")
          #expect(owned == TwoWorkers.partitions / 2, "clock at \(seconds) s")
        }
      }
    }
  }

  @Test(
    "a worker whose machine was suspended for longer than its lease sends nothing more when it wakes",
    .enabled(if: !Sanitizer.isOn, "a sanitizer wants to be the first library"))
  func suspended() async throws {
    let world = try await World(more: TwoWorkers.settings + "http2: { connections: 1 },")
    let api = try await world.gateway(["--api-only"])
    let stood = world.directory.file("stood")
    try Data(count: 8).write(to: stood)
    let library = ChildProcess.testProducts.appending(path: "libSuspendedClock.so")
    let first = try await world.worker(environment: [
      "LD_PRELOAD": library.path, "SUSPENDED_CLOCK_FILE": stood.path,
    ])
    let second = try await world.worker()
    try await TwoWorkers.awaitHalves(first, second)
    try await world.sandbox.play(#"[{"provider":"apns","delay_ms":700,"when":"after"}]"#)
    let tokens = (0..<20_000).map(Tokens.apns)
    var ids: [String] = []
    for half in 0..<2 {
      ids.append(try await api.send(TwoWorkers.alert(Array(tokens[half * 10_000..<(half + 1) * 10_000]))))
    }
    _ = try await world.sandbox.accepted(atLeast: 400)

    // It has requests at work and more of them waiting, and its machine sleeps.
    let asleep = ContinuousClock.now
    first.process.signal(SIGSTOP)
    try await second.until("the partitions of the suspended one") {
      try await $0.metric("fanfare_partitions_owned") == TwoWorkers.partitions
    }
    try await world.sandbox.play("[]")
    for id in ids { _ = try await api.completed(id) }
    let log = try await world.sandbox.log()
    // What its vendor answers at once makes room for what waits.
    let slept = (ContinuousClock.now - asleep).components
    let nanoseconds = slept.seconds * 1_000_000_000 + slept.attoseconds / 1_000_000_000
    let file = try FileHandle(forWritingTo: stood)
    try file.write(contentsOf: withUnsafeBytes(of: nanoseconds) { Data($0) })
    try file.close()
    first.process.signal(SIGCONT)
    try await first.until("its loss") { $0.process.text.contains("event=lease_lost") }
    try await first.until("its share") { try await $0.metric("fanfare_partitions_owned") == 8 }
    let after = try await world.sandbox.log()
    #expect(after.count == log.count, "it sent \(after.count - log.count) as a zombie")
    #expect(difference(Set(after.filter(\.accepted).map(\.token)), from: tokens) == nil)
  }

  /// A process measures each second.
  private static let soon = Duration.seconds(6)

  @Test(
    "a clock that goes wrong after the start is told by log, readiness and metrics of both roles, and untold when it is right again",
    .enabled(if: !Sanitizer.isOn, "a sanitizer and libfaketime both want to be the first library"))
  func skewLater() async throws {
    let clock = MovableClock()
    let world = try await World(redis: RedisServer(durable: true, clock: clock))
    let api = try await world.gateway(["--api-only"])
    let worker = try await world.worker()
    for process in [api, worker] {
      try await process.until("readiness") { try await $0.client.get("/readyz").json["status"]?.string == "ready" }
      #expect(!process.process.text.contains("clock_skew"))
      #expect(try await process.metric("fanfare_clock_skew_seconds") == 0)
    }
    clock.move(to: 6)
    let wrong = ContinuousClock.now
    for process in [api, worker] {
      try await process.until("the skew") { try await $0.client.get("/readyz").text.contains("clock_skew") }
      #expect(ContinuousClock.now - wrong < Self.soon)
      let answer = try await process.client.get("/readyz")
      #expect(answer.status == 200 && answer.json["status"]?.string == "degraded", "\(answer.text)")
      #expect(answer.text.contains("behind the clock of Redis"), "\(answer.text)")
      #expect((-7...(-5)).contains(try await process.metric("fanfare_clock_skew_seconds")))
      _ = try await process.process.line { $0.contains("event=clock_skew") }
    }
    clock.move(to: 0)
    let right = ContinuousClock.now
    for process in [api, worker] {
      try await process.until("its end") { try await !$0.client.get("/readyz").text.contains("clock_skew") }
      #expect(ContinuousClock.now - right < Self.soon)
      #expect(try await process.metric("fanfare_clock_skew_seconds") == 0)
      _ = try await process.process.line { $0.contains("event=clock_agrees") }
    }
  }

  @Test(
    "a wall clock that jumps days and back while capped deliveries are at work ends no worker, and nobody gets more than the cap",
    .enabled(if: !Sanitizer.isOn, "a sanitizer and libfaketime both want to be the first library"))
  func cappedJump() async throws {
    let clock = MovableClock()
    let world = try await World(more: TwoWorkers.settings + "partitions: 1,")
    let api = try await world.gateway(["--api-only"])
    let worker = try await world.worker(environment: clock.environment)
    for number in 0..<3 {
      let answer = try await api.client.put(
        "/v1/devices/d\(number)", #"{"provider":"onesignal","token":"\#(Tokens.oneSignal(number))"}"#)
      #expect((200..<300).contains(answer.status), "\(answer.text)")
    }
    func capped(_ device: Int) async throws -> String {
      try await api.send(
        #"""
        {"to":{"devices":["d\#(device)"]},"kind":"alert","notification":{"body":"Hi"},"topic":"offers",
         "cap":{"max":1,"per":"day"},"ttl":2419200}
        """#)
    }
    // Its answer comes when everything else is over. OneSignal's key has no time in it that such a jump would make wrong.
    try await world.sandbox.play(
      #"[{"provider":"onesignal","token":"\#(Tokens.oneSignal(0))","delay_ms":9000,"when":"after"}]"#)
    let first = try await capped(0)
    try await worker.until("a request at work") { try await $0.metric("fanfare_requests_at_work") == 1 }
    clock.move(to: 2 * 86_400)
    _ = try await api.completed(try await capped(1))
    clock.move(to: 0)
    _ = try await api.completed(try await capped(2))
    #expect(try await api.client.get("/v1/messages/\(first)").json["completed_at"] == nil)
    _ = try await api.completed(first)
    #expect(worker.process.isRunning, "\(worker.process.text.suffix(2_000))")
    let again = try await api.completed(try await capped(0))
    #expect(again["outcomes"]?["skipped"]?.integer == 1, "\(again)")
    #expect(try await world.sandbox.log().filter(\.accepted).count == 3)
  }
}
