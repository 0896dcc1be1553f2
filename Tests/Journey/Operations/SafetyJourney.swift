import Domain
import Foundation
import JSON
import Support
import Testing

/// Settings that guard devices, messages and campaigns, from the file to the built program.
extension Journeys {
  private static func message(_ tokens: [String], _ more: String = "") -> String {
    #"{"to":{"tokens":[\#(Tokens.targets("apns", tokens))]},\#(more)"kind":"alert","notification":{"body":"Hi"}}"#
  }

  @Test(
    "prune_brake: by default the brake stops a jump to four dead tokens in five; each of its settings can allow it",
    arguments: ["", "normal_percent: 90", "factor: 100", "sample: 5000"])
  func pruneBrakeSettings(_ setting: String) async throws {
    let world = try await World(more: "prune_brake: { \(setting) },")
    let gateway = try await world.gateway()
    let (devices, dead) = (400, 320)
    let lines = (0..<devices).map { #"{"id":"d\#($0)","provider":"apns","token":"\#(Tokens.apns($0))"}"# }
    let registered = try await gateway.client.post(
      "/v1/devices/bulk", lines.joined(separator: "\n"), headers: [Header("content-type", "application/x-ndjson")])
    #expect(registered.status == 200, "\(registered.text)")
    let gone = (0..<devices).filter { $0 % 5 != 0 }.map {
      #"{"provider":"apns","token":"\#(Tokens.apns($0))","status":410,"reason":"Unregistered","timestamp":4102444800000}"#
    }
    try await world.sandbox.play("[\(gone.joined(separator: ","))]")
    let id = try await gateway.send(#"{"to":{"everyone":true},"kind":"alert","notification":{"body":"Hi"}}"#)
    _ = try await gateway.completed(id)

    /// Prunes that wait for the operator, and devices left.
    func standing() async throws -> (held: Int64, living: Int64) {
      let items = try await gateway.client.get("/v1/prunes").json["items"]?.array ?? []
      let total = try await gateway.client.post("/v1/audiences/count", #"{"everyone":true}"#).json["total"]?.integer
      return (items.reduce(0) { $0 + ($1["held"]?.integer ?? 0) }, try #require(total))
    }
    try await gateway.until("every prune done or held") { _ in
      let now = try await standing()
      return now.held + Int64(devices) - now.living == Int64(dead)
    }
    let end = try await standing()
    #expect(setting.isEmpty ? end.held > 0 : end.held == 0, "\(setting): \(end)")
  }

  @Test("durability: an app's number stands before the file's, and timeout is how long replicas are waited for")
  func durabilitySettings() async throws {
    let port = RedisServer.freePort()
    let primary = RedisServer(
      durable: true, ["--port", String(port), "--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0"])
    let replica = RedisServer(["--replicaof", "127.0.0.1", String(port)])
    let world = try await World(more: #"durability: { replicas: 1, timeout: "2500ms" },"#, redis: primary)
    /// Of one send: its answer, and how long that took.
    func send(_ gateway: Gateway) async throws -> (answer: Client.Answer, took: Duration) {
      let began = ContinuousClock.now
      let answer = try await gateway.client.post("/v1/messages", Self.message([Tokens.apns(1)]))
      return (answer, ContinuousClock.now - began)
    }
    func restarted(_ last: Gateway?, _ change: (String) -> String) async throws -> Gateway {
      await last?.process.destroy()
      try world.edit(change)
      return try await world.gateway()
    }
    let patient = try await world.gateway()
    // The replica has caught up when it confirms. From then on it is connected, and silent.
    try await patient.until("a confirmed send") { _ in try await send(patient).answer.status == 202 }
    replica.signal(SIGSTOP)
    defer { replica.signal(SIGCONT) }
    let long = try await send(patient)
    #expect(long.answer.json["code"]?.string == "durability_unconfirmed", "\(long.answer.text)")
    #expect(long.took >= .milliseconds(2_500), "\(long.took)")

    let hasty = try await restarted(patient) { $0.replacing("2500ms", with: "50ms") }
    var shortest = Duration.seconds(60)
    for _ in 0..<5 {
      let short = try await send(hasty)
      #expect(short.answer.json["code"]?.string == "durability_unconfirmed", "\(short.answer.text)")
      shortest = min(shortest, short.took)
    }
    #expect(shortest < .seconds(1), "a second is the default: \(shortest)")

    let spared = try await restarted(hasty) {
      $0.replacing(#"id: "shop","#, with: #"id: "shop", durability: { replicas: 0 },"#)
    }
    #expect(try await send(spared).answer.status == 202)
    let strict = try await restarted(spared) {
      $0.replacing("durability: { replicas: 1,", with: "durability: { replicas: 0,")
        .replacing("durability: { replicas: 0 }", with: "durability: { replicas: 1 }")
    }
    #expect(try await send(strict).answer.json["code"]?.string == "durability_unconfirmed")
  }

  @Test(
    "apps.error_brake: share and minimum decide whether a message with half of its outcomes failed is paused",
    arguments: [
      ("share: 0.3, minimum: 50", true), ("share: 0.3, minimum: 5000", false), ("share: 0.9, minimum: 50", false),
      ("share: 0, minimum: 50", false),
    ])
  func errorBrakeSettings(_ setting: String, pauses: Bool) async throws {
    let world = try await World(more: "limits: { urgent_targets: 1 },")
    try world.edit { $0.replacing(#"id: "shop","#, with: #"id: "shop", error_brake: { \#(setting) },"#) }
    let gateway = try await world.gateway()
    let odd = "13579bdf".map { #"{"provider":"apns","token":"*\#($0)","status":400,"reason":"PayloadEmpty"}"# }
    try await world.sandbox.play("[\(odd.joined(separator: ","))]")
    // So slow that the brake comes before the end.
    let rate = pauses ? #""rate_per_second":200,"# : ""
    let id = try await gateway.send(Self.message((0..<4_000).map(Tokens.apns), rate))
    if pauses {
      try await gateway.until("the brake") {
        try await $0.client.get("/v1/messages/\(id)").json["state"]?.string == "paused"
      }
    } else {
      let report = try await gateway.completed(id)
      #expect(report["outcomes"]?["failed"]?.integer == 2_000, "\(report)")
    }
  }

  @Test("apps.register_tags: a key with scope register sets these tags and no others")
  func registerTags() async throws {
    let world = try await World()
    var running: Gateway?
    for (tags, allowed) in [(#"["lang:*"]"#, ["lang:de"]), (#"["lang:*", "news"]"#, ["lang:de", "news"]), ("[]", [])] {
      await running?.process.destroy()
      if running != nil {
        try world.edit { $0.replacing(/register_tags: \[.*\]/, with: "register_tags: \(tags)") }
      }
      let gateway = try await world.gateway()
      running = gateway
      let app = try await Client(
        base: gateway.client.base, key: try await world.key(scopes: "register"), loop: world.loop)
      for tag in ["lang:de", "news", "vip"] {
        let answer = try await app.post(
          "/v1/devices", #"{"provider":"apns","token":"\#(Tokens.apns(1))","tags":["\#(tag)"]}"#)
        #expect((answer.status < 300) == allowed.contains(tag), "\(tags), \(tag): \(answer.status) \(answer.text)")
      }
    }
  }

  @Test("check and status end with the documented codes: 0, 1, 2, 3 and 4")
  func exitCodes() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    func code(_ words: String...) async throws -> Int32 { try await world.run(words, against: gateway).code }
    for command in ["check", "status"] {
      #expect(try await code(command) == 0)
      #expect(try await code(command, "--no-such-option") == 2)
    }
    // A refused credential needs the operator: 1, as its provider has answered.
    try await world.sandbox.play(#"[{"provider":"apns","status":403,"reason":"InvalidProviderToken"}]"#)
    _ = try await gateway.send(Self.message([Tokens.apns(1)]))
    try await gateway.until("a blocked credential") { _ in try await code("status") == 1 }
    try world.edit { $0.replacing(world.sandbox.facts.teamID, with: "WRONGTEAM1") }
    let refused = try await world.run(["check"], against: gateway)
    #expect(refused.code == 1, "\(refused.text)")
    world.redis.stop()
    for command in ["check", "status"] { #expect(try await code(command) == 4) }
    #expect(try await code("check", "--offline") == 0)
    try world.edit { $0.replacing("listen:", with: "listne:") }
    for command in ["check", "status"] { #expect(try await code(command) == 3) }
  }

  @Test(
    "a certificate's end is told 30 days before by check, by the log and by the metric",
    .enabled(if: !Sanitizer.isOn, "a sanitizer and libfaketime both want to be the first library"))
  func certificateEnd() async throws {
    let world = try await World(credentials: { sandbox, folder in
      """
      { name: "ios", provider: "apns", origin: "localhost:\(sandbox.ports.apns)",
        certificate_file: "\(folder)/apns-certificate.p12",
        certificate_password_file: "\(folder)/certificate.password" },
      """
    })
    let gateway = try await world.gateway()
    #expect(!gateway.process.text.contains("event=credential_expires"))
    let end = try await gateway.metric("fanfare_credential_expiry_timestamp_seconds")
    await gateway.process.destroy()
    let left = end - Int(Date.now.timeIntervalSince1970)
    let clock = MovableClock()
    func check() async throws -> String {
      // By `env`, as a gateway is: see `World.serve`.
      let run = try ChildProcess(
        URL(filePath: "/usr/bin/env"),
        [World.program.path, "check", "--offline", "--config", world.directory.file("fanfare.json5").path],
        environment: clock.environment)
      #expect(await run.waitForExit() == 0, "\(run.text)")
      return run.text
    }
    let day = 86_400
    clock.move(to: left - 31 * day)
    #expect(try await !check().contains("renew it"))
    clock.move(to: left - 29 * day - day / 2)
    #expect(try await check().contains("expires in 29 days: renew it"))
    let late = try world.serve(environment: clock.environment)
    _ = try await late.line { $0.contains("event=credential_expires") && $0.contains("expires in 29 days") }
  }
}
