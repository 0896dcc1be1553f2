import Domain
import Glibc
import JSON
import Loop
import Store
import TLS

/// How fast one worker loop dispatches accepted messages with listed targets (design: figures to hold, first row).
///
/// Messages are accepted first, with no worker running. Then one worker starts on a core of its own; Redis, the API and a
/// bare HTTP/2 responder share the other. The rate is the responder's: requests between its first and its last.
struct DispatchBench {
  var notifications = 200_000
  var perMessage = 10_000
  var streams = 500
  var connections = 2

  struct Result: Sendable {
    var notifications: Int
    var accepted: Int
    var requests: Int
    var connections: Int
    var acceptSeconds: Double
    var dispatchSeconds: Double
    /// CPU microseconds per notification.
    var worker: Double
    var redis: Double
    var responder: Double
    /// Of h2load with as many connections and streams; nil where it is not installed.
    var h2load: Double?
    var workerMemory: Int64
    var redisMemory: Int64

    var rate: Double { Double(requests) / dispatchSeconds }
  }

  struct Failure: Error { let reason: String }

  /// On the main thread.
  func run() throws -> Result {
    let folder = ScratchFolder()
    let other = Machine.cores > 1 ? 1 : 0
    let redis = try PrivateRedis(in: folder, core: other)
    defer { redis.stop() }
    let log = folder.file("bench.log")
    let responder = try ChildProcess(
      "/proc/self/exe", ["bench", "responder", "--dir", folder.path, "--streams", "\(streams)"], log: log,
      readsOutput: true, core: other)
    guard let ready = responder.line(timeout: 10_000, where: { $0.contains("\"ready\"") }),
      let port = (try? JSON.parse(Array(ready.utf8)))?["port"]?.integer
    else { throw Failure(reason: "the responder did not start") }
    _ = FileContent.write(SigningKey.generate(.es256).pem, to: folder.file("key.p8"))
    let config = folder.write("fanfare.json5", configuration(redis.socket, folder.path, port: Int(port)))
    let setup = try Setup(file: config)
    let key = try createKey(setup)
    let api = try GatewayProcess(config: config, log: log, core: other, arguments: ["--api-only"])
    defer { api.stop() }
    let url = api.url
    let accepting = Clock.milliseconds
    let ids = try Blocking.run { loop in try await send(Client(loop: loop, base: url, key: key)) }
    let acceptSeconds = Double(Clock.milliseconds - accepting) / 1_000

    let redisBefore = ProcessTimes.microseconds(of: redis.id)
    let responderBefore = ProcessTimes.microseconds(of: responder.id)
    let redisMemory = ProcessTimes.memory(of: redis.id)
    let worker = try GatewayProcess(config: config, log: log, core: 0, arguments: ["--worker-only"])
    let workerBefore = ProcessTimes.microseconds(of: worker.id)
    let accepted = try Blocking.run { loop in
      try await finish(ids, Client(loop: loop, base: url, key: key), loop)
    }
    let workerTime = ProcessTimes.microseconds(of: worker.id) - workerBefore
    let workerMemory = ProcessTimes.memory(of: worker.id)
    let redisTime = ProcessTimes.microseconds(of: redis.id) - redisBefore
    let responderTime = ProcessTimes.microseconds(of: responder.id) - responderBefore
    worker.stop()
    kill(responder.id, SIGTERM)
    guard let done = responder.line(timeout: 10_000, where: { $0.contains("\"done\"") }),
      let told = try? JSON.parse(Array(done.utf8)), let first = told["first"]?.integer,
      let last = told["last"]?.integer
    else { throw Failure(reason: "the responder did not tell what it saw") }
    let h2load = try h2loadTime(folder, log, core: other)
    let each = Double(notifications)
    return Result(
      notifications: notifications, accepted: accepted, requests: Int(told["requests"]?.integer ?? 0),
      connections: Int(told["connections"]?.integer ?? 0), acceptSeconds: acceptSeconds,
      dispatchSeconds: Double(last - first) / 1e9, worker: Double(workerTime) / each, redis: Double(redisTime) / each,
      responder: Double(responderTime) / each, h2load: h2load, workerMemory: workerMemory, redisMemory: redisMemory)
  }

  private func configuration(_ socket: String, _ folder: String, port: Int) -> String {
    """
    {
      redis: { url: "unix:\(socket)" },
      listen: { port: 0 },
      limits: { body: "4MiB" },
      http2: { connections: \(connections) },
      ca_file: "\(folder)/ca.pem",
      log_level: "warning",
      apps: [
        {
          id: "bench",
          credentials: [
            {
              name: "apple", provider: "apns", key_file: "\(folder)/key.p8", key_id: "BENCHMARK1",
              team_id: "FANFARE001", topic: "com.example.app", origin: "localhost:\(port)",
            },
          ],
        },
      ],
    }

    """
  }

  private func createKey(_ setup: Setup) throws -> String {
    try Blocking.run { loop in
      let store = Store(loop: loop, redis: setup.redis, settings: setup.store)
      defer { store.close() }
      try await store.open()
      return try await store.createKey(
        app: AppID(rawValue: "bench"), scopes: [.send, .read], note: "bench", now: loop.wallNow
      ).secret
    }
  }

  /// Accepts all messages, one after the other; their ids.
  private func send(_ client: Client) async throws -> [String] {
    defer { client.close() }
    var ids: [String] = []
    var bar = ProgressBar("accepting")
    for start in stride(from: 0, to: notifications, by: perMessage) {
      let count = min(perMessage, notifications - start)
      let answer = try await client.call("POST", "/v1/messages", Self.message(tokens: start..<(start + count)))
      guard answer.isSuccess, let id = answer.document?["id"]?.string else {
        throw Failure(reason: "a message was refused: \(answer.problem)")
      }
      ids.append(id)
      bar.draw(start + count, of: notifications)
    }
    bar.end("\(notifications) in \(ids.count) messages")
    return ids
  }

  private static func message(tokens: Range<Int>) -> [UInt8] {
    var writer = JSONWriter(reserving: tokens.count * 110)
    writer.beginObject()
    writer.key("to")
    writer.beginObject()
    writer.key("tokens")
    writer.beginArray()
    for number in tokens {
      let hex = String(number, radix: 16)
      writer.beginObject()
      writer.member("provider", "apns")
      writer.member("token", "fa" + String(repeating: "0", count: 62 - hex.count) + hex)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    writer.key("notification")
    writer.beginObject()
    writer.member("title", "Benchmark")
    writer.member("body", String(repeating: "A parcel is on its way. ", count: 8))
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }

  /// Until all have completed; how many were accepted. Rare reads, as the API shares a core with the responder.
  private func finish(_ ids: [String], _ client: Client, _ loop: EventLoop) async throws -> Int {
    defer { client.close() }
    var bar = ProgressBar("dispatching")
    var accepted = 0
    let deadline = loop.now + 300_000
    for id in ids {
      while true {
        let answer = try await client.call("GET", "/v1/messages/\(id)")
        guard answer.isSuccess, let report = answer.document else {
          throw Failure(reason: "a message cannot be read: \(answer.problem)")
        }
        let counts = MessageCounts(report)
        bar.draw(accepted + counts.outcomes.values.reduce(0, +), of: notifications)
        if report["state"]?.string == "completed" {
          accepted += counts.outcomes["accepted", default: 0]
          break
        }
        guard loop.now < deadline else { throw Failure(reason: "not dispatched after 300 s\(counts.text)") }
        await loop.sleep(milliseconds: 50)
      }
    }
    bar.end("\(accepted) accepted")
    return accepted
  }

  /// CPU microseconds per request of h2load in the gateway's place, against a responder of its own; nil without h2load.
  private func h2loadTime(_ folder: ScratchFolder, _ log: String, core: Int) throws -> Double? {
    guard FileContent.exists("/usr/bin/h2load") else { return nil }
    let responder = try ChildProcess(
      "/proc/self/exe", ["bench", "responder", "--dir", folder.folder("h2load"), "--streams", "\(streams)"], log: log,
      readsOutput: true, core: core)
    guard let ready = responder.line(timeout: 10_000, where: { $0.contains("\"ready\"") }),
      let port = (try? JSON.parse(Array(ready.utf8)))?["port"]?.integer
    else { throw Failure(reason: "the responder did not start") }
    let body = folder.write(
      "body.json",
      "{\"aps\":{\"alert\":{\"title\":\"Benchmark\",\"body\":\""
        + String(repeating: "A parcel is on its way. ", count: 8) + "\"}}}")
    let before = ProcessTimes.ofEndedChildren
    let load = try ChildProcess(
      "/usr/bin/h2load",
      [
        "-n", "\(notifications)", "-c", "\(connections)", "-m", "\(streams)", "-d", body, "-H",
        "apns-id: 00000000-0000-4000-8000-000000000000", "-H", "apns-topic: com.example.app", "-H",
        "authorization: bearer \(String(repeating: "a", count: 200))",
        "https://localhost:\(port)/3/device/fa\(String(repeating: "0", count: 62))",
      ], log: log, core: 0)
    let deadline = Clock.milliseconds + 120_000
    while load.isRunning, Clock.milliseconds < deadline { usleep(20_000) }
    load.stop()
    return Double(ProcessTimes.ofEndedChildren - before) / Double(notifications)
  }
}
