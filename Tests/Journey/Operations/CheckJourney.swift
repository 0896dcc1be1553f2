import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  private func check(_ world: World, exit: Int32) async throws -> [String: JSONValue] {
    let check = try ChildProcess(
      World.program, ["check", "--json", "--config", world.directory.file("fanfare.json5").path])
    #expect(await check.waitForExit() == exit, "\(check.text)")
    let line = check.text.split(separator: "\n").first { $0.hasPrefix("{") } ?? "{}"
    let document = try JSON.parse(Array(line.utf8))
    #expect(document["ok"]?.bool == (exit == 0), "\(line)")
    let findings = document["items"]?.array ?? []
    return Dictionary(findings.map { ($0["subject"]?.string ?? "", $0) }, uniquingKeysWith: { $1 })
  }

  @Test("check has each vendor say whether it takes a credential: right ones pass, and nothing is sent")
  func checkRight() async throws {
    let world = try await World(retries: .shipped)
    let found = try await check(world, exit: 0)
    for subject in ["shop/ios:production", "shop/ios:sandbox", "shop/android", "shop/web"] {
      let finding = try #require(found[subject], "\(found.keys)")
      #expect(finding["ok"]?.bool == true && finding["warning"] == nil, "\(finding)")
      #expect(finding["note"]?.string?.contains("accepts it") == true, "\(finding)")
    }
    #expect(try await world.sandbox.log().allSatisfy { !$0.accepted || $0.provider != "apns" })
  }

  @Test("check tells a wrong OneSignal key, a wrong APNs team, a wrong topic and a wrong project from right ones")
  func checkWrong() async throws {
    let world = try await World(retries: .shipped)
    let key = world.directory.file("wrong.key")
    try "os_v2_app_wrongwrongwrong\n".write(to: key, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
    let facts = world.sandbox.facts
    try world.edit {
      $0.replacing(#"team_id: "\#(facts.teamID)""#, with: #"team_id: "WRONGTEAM1""#)
        .replacing(
          "api_key_file: \"\(world.directory.file("sandbox").path)/onesignal.key\"",
          with: "api_key_file: \"\(key.path)\""
        )
        .replacing("service_account_file:", with: #"project_id: "another-project", service_account_file:"#)
    }
    let found = try await check(world, exit: 1)
    for (subject, word) in [
      ("shop/ios:production", "InvalidProviderToken"), ("shop/web", "api_key_file"),
      ("shop/android", "another-project"),
    ] {
      let finding = try #require(found[subject])
      #expect(finding["ok"]?.bool == false, "\(finding)")
      #expect(finding["note"]?.string?.contains(word) == true, "\(finding)")
    }
    try world.edit {
      $0.replacing(#"team_id: "WRONGTEAM1""#, with: #"team_id: "\#(facts.teamID)""#)
        .replacing(#"topic: "\#(facts.topic)""#, with: #"topic: "com.another.app""#)
    }
    let topic = try #require(try await check(world, exit: 1)["shop/ios:production"])
    #expect(topic["note"]?.string?.contains("TopicDisallowed") == true, "\(topic)")
  }

  @Test(
    "check and status tell what Redis may lose: no append-only file, no fsync, no replica; and how long everysec is")
  func checkRedis() async throws {
    let world = try await World(more: "durability: { replicas: 1 },", retries: .shipped)
    func told(exit: Int32 = 0) async throws -> (check: JSONValue, status: String) {
      let found = try await check(world, exit: exit)
      let status = try ChildProcess(World.program, ["status", "--config", world.directory.file("fanfare.json5").path])
      _ = await status.waitForExit()
      return (try #require(found["redis"]), status.text)
    }
    func set(_ words: String...) async throws {
      let run = try ChildProcess(
        URL(filePath: "/usr/bin/redis-cli"), ["-s", world.redis.socketPath, "CONFIG", "SET"] + words)
      #expect(await run.waitForExit() == 0, "\(run.text)")
    }
    let replica = try await told(exit: 1)
    #expect(replica.check["note"]?.string?.contains("one replica, but none is connected") == true, "\(replica.check)")
    try world.edit { $0.replacing("durability: { replicas: 1 },", with: "") }
    let always = try await told()
    #expect(always.check["warning"] == nil && always.check["note"]?.string?.contains("fsync always") == true)
    #expect(!always.status.contains("may be lost"), "\(always.status)")
    for (setting, word) in [
      (["appendfsync", "everysec"], "its last second"), (["appendfsync", "no"], "30 seconds"),
      (["appendonly", "no"], "appendonly yes"),
    ] {
      try await set(setting[0], setting[1])
      let found = try await told()
      let text = "\(found.check["warning"]?.string ?? "") \(found.check["note"]?.string ?? "")"
      #expect(text.contains(word), "\(text)")
      #expect(found.status.contains(word), "\(found.status)")
      #expect((found.check["warning"] != nil) == (word != "its last second"))
    }
    try await set("maxmemory-policy", "allkeys-lru")
    #expect(try await check(world, exit: 1)["redis"]?["note"]?.string?.contains("noeviction") == true)
  }

  @Test("what Redis refuses, and a Redis that is away, are told with the fix and the address")
  func checkAway() async throws {
    let world = try await World(retries: .shipped)
    func note(exit: Int32) async throws -> String { try await check(world, exit: exit)["redis"]?["note"]?.string ?? "" }
    func redis(_ words: String...) async throws {
      let run = try ChildProcess(URL(filePath: "/usr/bin/redis-cli"), ["-s", world.redis.socketPath] + words)
      #expect(await run.waitForExit() == 0, "\(run.text)")
    }
    try await redis("REPLICAOF", "127.0.0.1", "1")
    let replica = try await note(exit: 1)
    #expect(replica.contains("store_read_only") && replica.contains("redis.url"), "\(replica)")
    try await redis("REPLICAOF", "NO", "ONE")
    world.redis.stop()
    let began = ContinuousClock.now
    let away = try await note(exit: 4)
    #expect(away.contains(world.redis.socketPath), "\(away)")
    #expect(ContinuousClock.now - began < .seconds(4 * Sanitizer.slowness), "nobody listens, and that is known at once")
  }

  @Test("check warns of a configuration that sends nothing, and of channels whose origin does not answer")
  func checkEmpty() async throws {
    let world = try await World(retries: .shipped)
    try world.edit {
      $0.replacing(
        "environments: [\"production\", \"sandbox\"]",
        with: "environments: [\"production\", \"sandbox\"], channels_origin: \"localhost:1\"")
    }
    let channels = try await check(world, exit: 0)["shop/ios:production"]?["warning"]?.string ?? ""
    #expect(channels.contains("localhost:1") && channels.contains("channels_origin"), "\(channels)")
    try "{ redis: { url: \"unix:\(world.redis.socketPath)\" }, apps: [] }".write(
      to: world.directory.file("fanfare.json5"), atomically: true, encoding: .utf8)
    let empty = try await check(world, exit: 0)["configuration"]?["warning"]?.string ?? ""
    #expect(empty.contains("nothing can be sent"), "\(empty)")
  }
}
