import Domain
import Foundation
import Glibc
import JSON
import Support
import TLS
import Testing

/// Each setting changes what the built program does (docs/settings.md names the tests).
extension Journeys {
  private static func message(_ tokens: [String], _ more: String = "") -> String {
    #"{"to":{"tokens":[\#(Tokens.targets("fcm", tokens))]},\#(more)"notification":{"body":"Hi"}}"#
  }

  /// White space behind a document counts as bytes of the body, and as nothing else.
  private static func padded(_ text: String, to bytes: Int) -> String {
    text + String(repeating: " ", count: bytes - text.utf8.count)
  }

  @Test("limits bind: bodies of requests, messages and NDJSON calls, targets, urgency, drafts, devices of a user")
  func limits() async throws {
    let world = try await World(
      more: """
        limits: { body: "8KiB", message_body: "16KiB", bulk_body: "20KiB", targets: 3, urgent_targets: 1, drafts: 1,
          draft_body: "4KiB", devices_per_user: 1 },
        """)
    let gateway = try await world.gateway()
    let device = #"{"provider":"fcm","token":"\#(Tokens.fcm(1))","user":"u1"}"#
    #expect(try await gateway.client.put("/v1/devices/d1", Self.padded(device, to: 8 << 10)).status == 201)
    #expect(try await gateway.client.put("/v1/devices/d1", Self.padded(device, to: (8 << 10) + 1)).status == 413)
    let message = Self.message([Tokens.fcm(2)])
    #expect(try await gateway.client.post("/v1/messages", Self.padded(message, to: 16 << 10)).status == 202)
    #expect(try await gateway.client.post("/v1/messages", Self.padded(message, to: (16 << 10) + 1)).status == 413)
    for (bytes, isTooLarge) in [(20 << 10, false), ((20 << 10) + 1, true)] {
      let answer = try await gateway.client.post(
        "/v1/messages/bulk", Self.padded(message + "\n", to: bytes),
        headers: [Header("content-type", "application/x-ndjson")])
      #expect((answer.status == 413) == isTooLarge, "\(bytes): \(answer.status)")
    }
    for (path, line, most, setting) in [
      ("messages", message, 16 << 10, "limits.message_body"), ("devices", device, 8 << 10, "limits.body"),
    ] {
      let short = Self.padded(line, to: most)
      for (text, isTooLong) in [(short, false), (short + " ", true)] {
        let answer = try await gateway.client.post(
          "/v1/\(path)/bulk", text + "\n", headers: [Header("content-type", "application/x-ndjson")])
        #expect(answer.status == 200)
        #expect(answer.text.contains("body_too_large") == isTooLong, "\(path): \(answer.text)")
        #expect(answer.text.contains(setting) == isTooLong, "\(path): \(answer.text)")
      }
    }

    func messages(_ urgency: String) async throws -> Int {
      let name = "fanfare_accepted_messages_total{urgency=\"\(urgency)\"} "
      let line = try await gateway.client.get("/metrics").text.split(separator: "\n").first { $0.hasPrefix(name) }
      return line.flatMap { Int($0.dropFirst(name.count)) } ?? 0
    }
    let before = try await messages("bulk")
    #expect(try await gateway.client.post("/v1/messages", Self.message((3..<6).map(Tokens.fcm))).status == 202)
    #expect(try await messages("bulk") == before + 1)
    let many = try await gateway.client.post("/v1/messages", Self.message((3..<7).map(Tokens.fcm)))
    #expect(many.status == 422 && many.text.contains("the limit is 3"), "\(many.text)")

    func draft(_ title: String) -> String {
      #"{"name":"a","message":{"to":{"audience":"beta"},"notification":{"title":"T","body":"\#(title)"}}}"#
    }
    let large = try await gateway.client.post("/v1/drafts", draft(String(repeating: "x", count: 4_090)))
    #expect(large.status == 422 && large.text.contains("limits.draft_body"), "\(large.text)")
    #expect(try await gateway.client.post("/v1/drafts", draft("b")).status == 201)
    #expect(try await gateway.client.post("/v1/drafts", draft("b")).json["code"]?.string == "draft_limit")
    let second = try await gateway.client.put(
      "/v1/devices/d2", #"{"provider":"fcm","token":"\#(Tokens.fcm(9))","user":"u1"}"#)
    #expect(second.text.contains("limits.devices_per_user"), "\(second.text)")
  }

  @Test("a larger limits.body holds for messages too, and reaches as far as it says")
  func largeBodies() async throws {
    let world = try await World(more: #"limits: { body: "6MiB" },"#)
    let gateway = try await world.gateway()
    let device = #"{"provider":"fcm","token":"\#(Tokens.fcm(1))"}"#
    let message = Self.message([Tokens.fcm(2)])
    #expect(try await gateway.client.put("/v1/devices/d1", Self.padded(device, to: 6 << 20)).status == 201)
    #expect(try await gateway.client.post("/v1/messages", Self.padded(message, to: 6 << 20)).status == 202)
    #expect(try await gateway.client.put("/v1/devices/d1", Self.padded(device, to: (6 << 20) + 1)).status == 413)
    #expect(try await gateway.client.post("/v1/messages", Self.padded(message, to: (6 << 20) + 1)).status == 413)
  }

  @Test("limits.connections: one more is not served until another goes")
  func connectionLimit() async throws {
    let world = try await World(more: "limits: { connections: 20 },")
    let gateway = try await world.gateway()
    let port = try #require(Int(gateway.client.base.split(separator: ":").last ?? ""))
    // The journey's own client has some of them already.
    var held: [IdleConnection] = []
    var oneMore: IdleConnection?
    while held.count <= 20, oneMore == nil {
      let next = try #require(IdleConnection(port: port))
      if next.asks(within: 2) { held.append(next) } else { oneMore = next }
    }
    #expect((10...20).contains(held.count), "\(held.count)")
    held.removeLast()
    // It has asked, and gets its answer long before the others have been idle for a minute.
    #expect(try #require(oneMore).isServed(within: 25))
    #expect(held.count >= 9, "kept open until here")
  }

  @Test("http2: connections of a credential, and how long a handshake, an answer and a PING may take")
  func http2Settings() async throws {
    func run(_ settings: String, _ body: (World, Gateway) async throws -> Void) async throws {
      let world = try await World(more: "http2: { \(settings) }, limits: { urgent_targets: 1 },")
      try await body(world, try await world.gateway())
    }
    for (connections, expected) in [(1, 1...1), (5, 3...5)] {
      try await run("connections: \(connections)") { world, gateway in
        try await world.sandbox.play(#"[{"provider":"fcm","delay_ms":400}]"#)
        _ = try await gateway.completed(try await gateway.send(Self.message((0..<1_500).map(Tokens.fcm))))
        let opened = try await world.sandbox.statistic("fcm", "connections_opened")
        #expect(expected.contains(opened), "\(connections): \(opened)")
      }
    }
    try await run(#"connect_timeout: "300ms""#) { world, gateway in
      try await world.sandbox.play(#"[{"provider":"fcm","action":"handshake","times":1}]"#)
      let began = ContinuousClock.now
      _ = try await gateway.completed(try await gateway.send(Self.message([Tokens.fcm(1)])))
      #expect(try await world.sandbox.faults("fcm")["handshake"] == 1)
      #expect(ContinuousClock.now - began < .seconds(8 * Double(Sanitizer.slowness)), "10 s is the default")
    }
    try await run(#"answer_timeout: "700ms""#) { world, gateway in
      try await world.sandbox.play(#"[{"provider":"fcm","action":"stall","times":1}]"#)
      let id = try await gateway.send(Self.message([Tokens.fcm(1)]))
      _ = try await gateway.completed(id)
      // Whether its connection said anything else meanwhile depends on the machine.
      let first = try await gateway.deliveries(id)[0]["attempts"]?.array?.first?["reason"]?.string ?? ""
      #expect(first.hasSuffix("no answer in 700 ms"), "\(first)")
    }
    // A connection with a request at work falls silent. By default it ends after four seconds, the request after thirty.
    try await run(#"ping_timeout: "9s""#) { world, gateway in
      try await world.sandbox.play(#"[{"provider":"fcm","action":"stall","times":1}]"#)
      let began = ContinuousClock.now
      let id = try await gateway.send(Self.message([Tokens.fcm(1)]))
      _ = try await gateway.completed(id)
      #expect(ContinuousClock.now - began >= .seconds(10))
      let first = try await gateway.deliveries(id)[0]["attempts"]?.array?.first?["reason"]?.string ?? ""
      #expect(!first.contains("no answer in"), "\(first)")
    }
    // An idle one, of which nobody asks anything. By default it would not be looked at for a minute.
    try await run(#"ping_after: "500ms", ping_timeout: "1s""#) { world, gateway in
      _ = try await gateway.completed(try await gateway.send(Self.message([Tokens.fcm(1)])))
      try await gateway.until("its connection") { try await $0.metric("fanfare_connections") > 0 }
      world.sandbox.process.signal(SIGSTOP)
      let took = try await gateway.until("the end of the silent connection") {
        try await $0.metric("fanfare_connections") == 0
      }
      world.sandbox.process.signal(SIGCONT)
      #expect(took < .seconds(30 * Sanitizer.slowness), "\(took)")
    }
  }

  @Test("lanes: concurrency lets unordered messages of a token go at once, order_hold lets later ones pass a retry")
  func laneSettings() async throws {
    let world = try await World(more: #"lanes: { concurrency: 3, order_hold: "0s" },"#)
    let gateway = try await world.gateway()
    try await world.sandbox.play(#"[{"provider":"fcm","token":"fcm-1:*","delay_ms":4000,"times":3}]"#)
    for _ in 0..<3 { _ = try await gateway.send(Self.message([Tokens.fcm(1)], #""ordered":false,"#)) }
    let times = try await world.sandbox.accepted(atLeast: 3).map(\.time)
    #expect(times[2] - times[0] < 4_000, "one after the other: \(times)")

    try await world.sandbox.play(
      #"[{"provider":"fcm","token":"fcm-2:*","status":503,"retry_after":5,"times":1}]"#)
    try await world.sandbox.forget()
    let first = try await gateway.send(Self.message([Tokens.fcm(2)], #""collapse_key":"first","#))
    try await gateway.until("the refusal") { _ in try await world.sandbox.log().contains { $0.status == 503 } }
    let second = try await gateway.send(Self.message([Tokens.fcm(2)], #""collapse_key":"second","#))
    _ = try await gateway.completed(second)
    #expect(try await gateway.client.get("/v1/messages/\(first)").json["completed_at"] == nil)
    _ = try await gateway.completed(first)
    let accepted = try await world.sandbox.log().filter(\.accepted)
    #expect(accepted.map { $0.body.contains("second") } == [true, false])
  }

  @Test("quotas: per_minute bounds what a vendor gets, ramp_up lets bulk begin slowly")
  func quotaSettings() async throws {
    /// Milliseconds from the first to the last of so many that were accepted.
    func spread(_ quota: String, _ count: Int) async throws -> Int64 {
      let world = try await World(more: "limits: { urgent_targets: 1 },")
      try world.edit { $0.replacing("fcm: { per_minute: 0 }", with: "fcm: { \(quota) }") }
      let gateway = try await world.gateway()
      _ = try await gateway.send(Self.message((0..<300).map(Tokens.fcm)))
      let entries = try await world.sandbox.accepted(atLeast: count)
      return entries[count - 1].time - entries[0].time
    }
    // Five a second.
    #expect(try await spread(#"per_minute: 300, ramp_up: "0s""#, 20) >= 3_000)
    // A hundred a second, but much later than in the default minute, in which 20 take five seconds.
    #expect(try await spread(#"per_minute: 6000, ramp_up: "600s""#, 20) >= 8_000)
  }

  @Test("retry: where waits begin and end, for all causes and for one, and what is sent again at once")
  func retrySettings() async throws {
    let world = try await World(
      more: """
        retry: {
          apns: { base: "4s", maximum: "5s", floors: { server_fault: "1s" }, resends_at_once: { unknown_outcome: 0 } },
          fcm: { floors: { server_fault: "15s" } },
        },
        """, retries: .shipped)
    let gateway = try await world.gateway()
    let (failing, lost) = (Tokens.apns(1), Tokens.apns(2))
    try await world.sandbox.play(
      #"""
      [{"provider":"apns","token":"\#(failing)","times":7,"status":500,"reason":"InternalServerError"},
       {"provider":"apns","token":"\#(lost)","times":1,"action":"close"},
       {"provider":"fcm","times":1,"status":500}]
      """#)
    var ids: [String] = []
    for (provider, token) in [("apns", failing), ("apns", lost), ("fcm", Tokens.fcm(3))] {
      ids.append(
        try await gateway.send(
          #"{"to":{"tokens":[\#(Tokens.targets(provider, [token]))]},"kind":"alert","notification":{"body":"Hi"}}"#))
    }
    for id in ids { _ = try await gateway.completed(id) }
    let log = try await world.sandbox.log()
    func waits(_ token: String) -> [Double] {
      let times = log.filter { $0.token == token }.map(\.time)
      return zip(times, times.dropFirst()).map { Double($1 - $0) / 1_000 }
    }
    // By default 15 minutes, and twice as long each time. The seventh would be a minute, if not for the maximum.
    let doubling = waits(failing)
    #expect(doubling.count == 7 && doubling.allSatisfy { $0 >= 1 }, "\(doubling)")
    #expect(doubling.last.map { $0 < 5 * 1.5 + 20 * Double(Sanitizer.slowness) } == true, "\(doubling)")
    // By default at once, and then one second.
    #expect(waits(lost).first.map { $0 >= 4 } == true, "\(waits(lost))")
    // By default ten.
    #expect(waits(Tokens.fcm(3)).first.map { $0 >= 15 } == true, "\(waits(Tokens.fcm(3)))")
  }

  @Test(
    "redis: place, database, prefix and password; partitions and retention show in what is stored; log_level, address")
  func storeSettings() async throws {
    let world = try await World(
      more:
        #"partitions: 4, retention: { time: "90s" }, log_level: "error", monitor: { address: "127.0.0.3", port: 0 },"#,
      redis: RedisServer(
        durable: true,
        ["--requirepass", "of the default user", "--user", "gateway", "on", ">hunter2", "~*", "&*", "+@all"]))
    let password = world.directory.file("redis-password")
    try "wrong\n".write(to: password, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: password.path)
    try world.edit {
      $0.replacing(
        "redis: { ",
        with: """
          redis: { username: "gateway", password_file: "\(password.path)", database: 3, prefix: "zz",
          """
      ).replacing(
        #"address: "127.0.0.1", port: 0 }"#, with: #"address: "127.0.0.2", port: 0, operations: "key" }"#)
    }
    let refused = try world.serve()
    #expect(await refused.waitForExit() != 0, "\(refused.text)")

    try "hunter2\n".write(to: password, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: password.path)
    let gateway = try await world.gateway()
    #expect(gateway.client.base.hasPrefix("http://127.0.0.2:"))
    #expect(!gateway.process.text.contains("level=info"), "\(gateway.process.text)")
    #expect(try await gateway.client.stranger().get("/metrics").status == 401)
    #expect(try await gateway.client.get("/metrics").status == 200)
    #expect(try await gateway.metric("fanfare_partitions_owned") == 4)
    _ = try await gateway.completed(try await gateway.send(Self.message([Tokens.fcm(1)])))

    let keys = try await world.redisKeys(database: 3, password: "of the default user")
    #expect(!keys.isEmpty && keys.allSatisfy { $0.name.hasPrefix("zz:{") })
    #expect(keys.contains { $0.name.hasPrefix("zz:{3.") } && !keys.contains { $0.name.hasPrefix("zz:{4.") })
    #expect(try await world.redisKeys(database: 0, password: "of the default user").isEmpty)
    // The message and its proof go with their hour, `retention.time` after they were finished.
    #expect(keys.contains { (1...90).contains($0.secondsLeft) }, "\(keys)")
    await gateway.process.destroy()

    let worker = try await world.worker([])
    #expect(worker.client.base.hasPrefix("http://127.0.0.3:"))
  }

  @Test(
    "log_level debug tells of requests; HTTPS is served with a certificate, and Redis and providers are verified by theirs"
  )
  func trustSettings() async throws {
    let authority = CertificateAuthority(name: "settings")
    let folder = try TemporaryDirectory()
    let leaf = authority.issue(hosts: ["localhost", "127.0.0.1"])
    let files = [("ca.pem", authority.certificatePEM), ("leaf.pem", leaf.certificate), ("leaf.key", leaf.key)]
    for (name, bytes) in files {
      try Data(bytes).write(to: folder.file(name))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file(name).path)
    }
    func path(_ name: String) -> String { folder.file(name).path }
    let port = RedisServer.freePort()
    let world = try await World(
      more: #"log_level: "debug","#,
      redis: RedisServer(
        durable: true,
        [
          "--tls-port", "\(port)", "--tls-cert-file", path("leaf.pem"), "--tls-key-file", path("leaf.key"),
          "--tls-ca-cert-file", path("ca.pem"), "--tls-auth-clients", "no",
        ]))
    let listening = RedisServer.freePort()
    try world.edit {
      $0.replacing(
        #"url: "unix:\#(world.redis.socketPath)""#,
        with: #"url: "rediss://localhost:\#(port)", ca_file: "\#(path("ca.pem"))""#
      ).replacing(
        #"address: "127.0.0.1", port: 0"#,
        with: #"port: \#(listening), certificate_file: "\#(path("leaf.pem"))", key_file: "\#(path("leaf.key"))""#
      ).replacing("/sandbox/ca.pem", with: "/sandbox/stranger.pem")
    }
    try Data(authority.certificatePEM).write(to: world.directory.file("sandbox").appending(path: "stranger.pem"))
    let gateway = try world.serve()
    _ = try await gateway.line { $0.contains("https://127.0.0.1:\(listening)") }
    let curl = try ChildProcess(
      URL(filePath: "/usr/bin/curl"),
      ["--silent", "--fail", "--cacert", path("ca.pem"), "https://localhost:\(listening)/healthz"])
    #expect(await curl.waitForExit() == 0, "\(curl.text)")
    _ = try await gateway.line { $0.contains("level=debug") && $0.contains("/healthz") }
    // The sandbox's authority is not the one that `ca_file` names.
    let check = try ChildProcess(
      World.program, ["check", "--config", world.directory.file("fanfare.json5").path])
    #expect(await check.waitForExit() != 0)
    #expect(check.text.contains("certificate"), "\(check.text)")
  }

  @Test("workers.probe: a refused credential is tried with one delivery so often")
  func probeSetting() async throws {
    let world = try await World(more: #"workers: { probe: "1s" },"#)
    let gateway = try await world.gateway()
    try await world.sandbox.play(
      #"[{"provider":"fcm","status":403,"reason":"PERMISSION_DENIED","times":4}]"#)
    let began = ContinuousClock.now
    _ = try await gateway.completed(try await gateway.send(Self.message([Tokens.fcm(1)])))
    #expect(try await world.sandbox.log().filter { $0.status == 403 }.count == 4)
    #expect(ContinuousClock.now - began < .seconds(25 * Double(Sanitizer.slowness)), "half a minute each by default")
  }
}

/// A connection of HTTP/1.1 that asks once and stays.
private final class IdleConnection {
  private let descriptor: Int32

  init?(port: Int) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { return nil }
  }

  /// Asks for `/healthz`; false if no answer comes in so many seconds.
  func asks(within seconds: Int) -> Bool {
    let request = Array("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8)
    guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return false }
    return isServed(within: seconds)
  }

  /// The answer to what was asked comes in so many seconds.
  func isServed(within seconds: Int) -> Bool {
    var patience = timeval(tv_sec: seconds * Sanitizer.slowness, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var answer = [UInt8](repeating: 0, count: 12)
    return recv(descriptor, &answer, answer.count, 0) == answer.count && answer.elementsEqual("HTTP/1.1 200".utf8)
  }

  deinit { close(descriptor) }
}
