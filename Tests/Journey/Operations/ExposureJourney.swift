import Domain
import Foundation
import Glibc
import JSON
import Support
import TLS
import Testing

/// What a gateway tells whom, and what it warns of before it is put on the open internet.
extension Journeys {
  @Test("metrics and reasons are told to everybody, to keys, or at the monitor's address alone")
  func operations() async throws {
    let world = try await World(more: "monitor: { port: 0 },")
    let listening = #"address: "127.0.0.1", port: 0 }"#
    func reasons(_ client: Client) async throws -> [JSONValue] {
      let answer = try await client.get("/readyz")
      #expect(answer.status == 200 && answer.json["status"]?.string != nil, "\(answer.text)")
      #expect(try await client.get("/healthz").text == #"{"status":"ok"}"#)
      return answer.json["reasons"]?.array ?? []
    }
    /// A refused configuration is a reason to tell.
    func refuseReload(_ gateway: Gateway) async throws {
      try world.edit { $0.replacing("apps: [", with: "appps: [") }
      kill(gateway.process.id, SIGHUP)
      _ = try await gateway.process.line { $0.contains("configuration_refused") }
      try world.edit { $0.replacing("appps: [", with: "apps: [") }
    }

    try world.edit { $0.replacing(listening, with: #"address: "127.0.0.1", port: 0, operations: "key" }"#) }
    var gateway = try await world.gateway()
    try await refuseReload(gateway)
    let stranger = gateway.client.stranger()
    #expect(try await stranger.get("/metrics").status == 401)
    #expect(try await gateway.client.get("/metrics").status == 200)
    #expect(try await reasons(stranger).isEmpty)
    #expect(try await reasons(gateway.client).contains { $0["code"]?.string == "configuration_refused" })
    let sender = try await Client(
      base: gateway.client.base, key: try await world.key(scopes: "send"), loop: world.loop)
    #expect(try await reasons(sender).isEmpty)
    await gateway.process.destroy()

    try world.edit { $0.replacing(#"operations: "key""#, with: #"operations: "monitor""#) }
    gateway = try await world.gateway()
    let line = try await gateway.process.line { $0.contains("monitor on http://") }
    let base = try #require(line.firstMatch(of: /http:\/\/127\.0\.0\.1:\d+/)?.0)
    let monitor = try await Client(base: String(base), key: gateway.client.key, loop: world.loop)
    try await refuseReload(gateway)
    #expect(try await gateway.client.get("/metrics").status == 404)
    #expect(try await reasons(gateway.client).isEmpty)
    #expect(try await monitor.stranger().get("/metrics").text.contains("fanfare_partitions_owned"))
    #expect(try await reasons(monitor.stranger()).contains { $0["code"]?.string == "configuration_refused" })
    #expect(try await monitor.get("/v1/messages").status == 404)
    await gateway.process.destroy()

    try world.edit { $0.replacing("monitor: {", with: "// monitor: {") }
    let refused = try world.serve()
    #expect(await refused.waitForExit() == 3 && refused.text.contains("/listen/operations"), "\(refused.text)")
  }

  @Test("what is not safe on the open internet is warned of; a strict start refuses it")
  func risks() async throws {
    let world = try await World()
    let open = #"address: "127.0.0.1", port: 0 }"#
    try world.edit { $0.replacing(open, with: #"address: "0.0.0.0", port: 0 }"#) }
    func check() async throws -> (code: Int32, text: String) {
      let run = try ChildProcess(World.program, ["check", "--config", world.directory.file("fanfare.json5").path])
      return (await run.waitForExit(), run.text)
    }
    let risks = ["plaintext_api", "open_operations", "redis_without_limit"]
    let warned = try world.serve()
    for risk in risks { _ = try await warned.line { $0.contains("risky_setting") && $0.contains("risk=\(risk)") } }
    _ = try await warned.line { $0.contains("listening on") }
    let filter = try String(contentsOfFile: "/proc/\(warned.id)/coredump_filter", encoding: .utf8)
    #expect(filter.trimmingCharacters(in: .whitespacesAndNewlines) == "00000000")
    let limits = try String(contentsOfFile: "/proc/\(warned.id)/limits", encoding: .utf8)
    #expect(limits.firstMatch(of: /Max core file size +0 +0/) != nil, "\(limits)")
    await warned.destroy()
    let told = try await check()
    #expect(told.code == 0 && risks.allSatisfy { told.text.contains("WARN\t\($0)") }, "\(told.text)")

    try world.edit { $0.replacing("apps: [", with: "strict: true,\n apps: [") }
    let refused = try world.serve()
    #expect(await refused.waitForExit() == 3, "\(refused.text)")
    #expect(risks.allSatisfy { refused.text.contains("\($0): ") } && !refused.text.contains("listening on"))
    let failed = try await check()
    #expect(failed.code != 0 && risks.allSatisfy { failed.text.contains("FAIL\t\($0)") }, "\(failed.text)")

    // Each of them mended.
    let authority = CertificateAuthority(name: "exposure")
    let leaf = authority.issue(hosts: ["localhost"])
    for (name, bytes) in [("api.pem", leaf.certificate), ("api.key", leaf.key)] {
      try Data(bytes).write(to: world.directory.file(name))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: world.directory.file(name).path)
    }
    try world.edit {
      $0.replacing(
        #"address: "0.0.0.0", port: 0 }"#,
        with: #"""
          address: "0.0.0.0", port: 0, operations: "key", certificate_file: "api.pem", key_file: "api.key" }
          """#)
    }
    let redis = try ChildProcess(
      URL(filePath: "/usr/bin/env"),
      ["redis-cli", "-s", world.redis.socketPath, "config", "set", "maxmemory", "256mb"])
    #expect(await redis.waitForExit() == 0, "\(redis.text)")
    let strict = try world.serve()
    _ = try await strict.line { $0.contains("listening on https://") }
    await strict.destroy()
  }

  @Test("no option takes a key itself, as arguments can be read by others; a file with one must be its owner's alone")
  func keyFiles() async throws {
    let world = try await World()
    let tool = Tool(gateway: try await world.gateway(), world: world)
    #expect(try await tool.run("tags", "--key", "fk_secret", exit: 2).contains("--key-file"))
    let key = try #require(tool.gateway.client.key)
    let file = world.directory.file("key")
    try "\(key)\n".write(to: file, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    #expect(try await tool.run("tags", "--key-file", file.path, exit: 2, key: "fk_wrong").contains("chmod 600"))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    try await tool.run("tags", "--key-file", file.path, key: "fk_wrong")
    #expect(try await tool.run("tags", "--key-file", "/nowhere", exit: 2).contains("there is no file"))
    #expect(try await tool.run("tags", "--key-file", "/dev/null", exit: 2).contains("is not a file"))
  }
}
