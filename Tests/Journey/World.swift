import Domain
import Foundation
import JSON
import Loop
import Support

/// One gateway with its own Redis and its own sandbox, all as a user would start them: child processes of the built
/// program. Everything ends with the test.
final class World: Sendable {
  let redis: RedisServer
  let sandbox: Sandbox
  let directory: TemporaryDirectory
  let loop: EventLoop
  private let thread: LoopThread

  /// The built program stands beside the test bundle.
  static var program: URL {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "fanfare")
  }

  /// `more`: settings beside those below, each with a comma behind it. `credentials`: in place of the usual three.
  init(
    more: String = "", redis: RedisServer = RedisServer(durable: true),
    credentials: ((Sandbox, _ folder: String) -> String)? = nil
  ) async throws {
    directory = try TemporaryDirectory()
    loop = EventLoop(name: "journey")
    thread = loop.start()
    self.redis = redis
    sandbox = try await Sandbox(directory: directory.file("sandbox"), loop: loop)
    try configure(more: more, credentials)
  }

  /// Writes the configuration; a gateway that starts after it has it.
  func configure(more: String = "", _ credentials: ((Sandbox, _ folder: String) -> String)?) throws {
    let make = credentials ?? Self.usualCredentials
    try configuration(more, make(sandbox, directory.file("sandbox").path)).write(
      to: directory.file("fanfare.json5"), atomically: true, encoding: .utf8)
  }

  deinit {
    loop.stop()
    thread.join()
  }

  /// Floors are shortened, as the vendors' are minutes; everything else is as installed.
  private func configuration(_ more: String, _ credentials: String) -> String {
    let floors =
      #"{ server_fault: "300ms", token_busy: "300ms", quota: "500ms", unknown_outcome: "300ms", authorization_too_new: "300ms" }"#
    let rules = #"{ base: "100ms", maximum: "2s", attempts: 20, floors: \#(floors) }"#
    let folder = directory.file("sandbox").path
    return """
      {
        redis: { url: "unix:\(redis.socketPath)" },
        listen: { address: "127.0.0.1", port: 0 },
        \(more)
        ca_file: "\(folder)/ca.pem",
        quotas: { fcm: { per_minute: 0 }, onesignal: { per_minute: 0 } },
        retry: { apns: \(rules), fcm: \(rules), onesignal: \(rules) },
        apps: [{
          id: "shop",
          register_tags: ["lang:*"],
          credentials: [
            \(credentials)
          ],
        }],
      }
      """
  }

  static func usualCredentials(_ sandbox: Sandbox, _ folder: String) -> String {
    """
    { name: "ios", provider: "apns", environments: ["production", "sandbox"],
      origin: "localhost:\(sandbox.ports.apns)", key_file: "\(folder)/apns-key.p8",
      key_id: "\(sandbox.facts.keyID)", team_id: "\(sandbox.facts.teamID)", topic: "\(sandbox.facts.topic)" },
    { name: "android", provider: "fcm", origin: "localhost:\(sandbox.ports.fcm)",
      service_account_file: "\(folder)/service-account.json" },
    { name: "web", provider: "onesignal", origin: "localhost:\(sandbox.ports.oneSignal)",
      app_id: "\(sandbox.facts.appID)", api_key_file: "\(folder)/onesignal.key" },
    """
  }

  /// `fanfare serve`, as far as it has come.
  func serve(_ arguments: [String] = []) throws -> ChildProcess {
    try ChildProcess(Self.program, ["serve", "--config", directory.file("fanfare.json5").path] + arguments)
  }

  /// Where a process listens, once it does.
  private func base(of process: ChildProcess) async throws -> String {
    let line = try await process.line { $0.contains("http://127.0.0.1:") }
    guard let base = line.firstMatch(of: /http:\/\/127\.0\.0\.1:\d+/)?.0 else {
      throw ChildFailure(reason: "no address in: \(line)")
    }
    return String(base)
  }

  /// A running process that only sends; its client asks its monitor.
  func worker() async throws -> Gateway {
    let process = try serve(["--worker-only", "--monitor", "0"])
    return Gateway(process: process, client: try await Client(base: try await base(of: process), loop: loop))
  }

  /// A running gateway with a key of every scope.
  func gateway(_ arguments: [String] = []) async throws -> Gateway {
    let process = try serve(arguments)
    let base = try await base(of: process)
    let keys = try ChildProcess(
      Self.program,
      [
        "keys", "create", "--app", "shop", "--scopes", "send,devices,read,admin", "--json", "--config",
        directory.file("fanfare.json5").path,
      ])
    let key = try await keys.line { $0.contains("fk_") }
    guard let secret = key.firstMatch(of: /fk_[A-Za-z0-9_-]+/)?.0 else { throw ChildFailure(reason: key) }
    return Gateway(
      process: process,
      client: try await Client(base: base, key: String(secret), loop: loop))
  }
}

/// A gateway process and a client that speaks to it.
struct Gateway: Sendable {
  let process: ChildProcess
  let client: Client

  /// Sends and expects 202; the message's id.
  func send(_ message: String, headers: [(String, String)] = []) async throws -> String {
    let answer = try await client.post("/v1/messages", message, headers: headers.map { .init($0.0, $0.1) })
    guard answer.status == 202, let id = answer.json["id"]?.string else {
      throw ChildFailure(reason: "\(answer.status): \(answer.text)\n\(process.text)")
    }
    return id
  }

  /// Seconds that what must come may take on the slowest machine.
  static let patience = 120.0

  /// The message once every delivery has ended; asks again until then.
  func completed(_ id: String, within seconds: Double = patience) async throws -> JSONValue {
    let deadline = ContinuousClock.now + .seconds(seconds * Double(Sanitizer.slowness))
    while true {
      let answer = try await client.get("/v1/messages/\(id)")
      if answer.json["completed_at"] != nil { return answer.json }
      guard ContinuousClock.now < deadline else {
        throw ChildFailure(reason: "not completed in time: \(answer.text)\n\(process.text.suffix(4_000))")
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// A metric as it stands, the sum over its labels.
  func metric(_ name: String) async throws -> Int {
    let page = try await client.get("/metrics").text
    return page.split(separator: "\n").filter { $0.hasPrefix(name + "{") || $0.hasPrefix(name + " ") }
      .reduce(0) { $0 + (Int($1.split(separator: " ").last ?? "") ?? 0) }
  }

  /// Asks again until it holds; how long that took.
  @discardableResult
  func until(
    _ what: String, within seconds: Double = patience, _ condition: (Gateway) async throws -> Bool
  ) async throws -> Duration {
    let began = ContinuousClock.now
    while try await !condition(self) {
      guard ContinuousClock.now - began < .seconds(seconds * Double(Sanitizer.slowness)) else {
        throw ChildFailure(reason: "\(what) never came\n\(process.text.suffix(4_000))")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
    return ContinuousClock.now - began
  }

  /// Every delivery of a message, all pages.
  func deliveries(_ id: String) async throws -> [JSONValue] {
    let answer = try await client.call(
      "GET", "/v1/messages/\(id)/deliveries", headers: [.init("accept", "application/x-ndjson")])
    guard answer.status == 200 else { throw ChildFailure(reason: answer.text) }
    return try answer.text.split(separator: "\n").map { try JSON.parse(Array($0.utf8)) }
  }
}
