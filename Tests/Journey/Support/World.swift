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
  private let clock: FastClock?
  private let retries: Retries
  private let thread: LoopThread

  /// What the configuration says of retries and of vendors' quotas.
  enum Retries {
    /// Floors are shortened, as the vendors' are minutes, and nobody counts.
    case shortened
    /// Nothing: all is as installed.
    case shipped
  }

  /// What `FANFARE_PROGRAM` names: `make test` has journeys start the optimised build. Without it the debug build beside the
  /// test bundle.
  static var program: URL {
    if let other = ProcessInfo.processInfo.environment["FANFARE_PROGRAM"] { return URL(fileURLWithPath: other) }
    return ChildProcess.testProducts.appending(path: "fanfare")
  }

  /// Benchmarks, faults and the demo; it starts the `fanfare` that stands beside it.
  static var laboratory: URL { program.deletingLastPathComponent().appending(path: "fanfare-lab") }

  /// `more`: settings beside those below, each with a comma behind it. `clock`: what all its processes live by; nil: the
  /// machine's. `credentials`: in place of the usual three.
  init(
    more: String = "", retries: Retries = .shortened, clock: FastClock? = nil, redis: RedisServer? = nil,
    credentials: ((Sandbox, _ folder: String) -> String)? = nil
  ) async throws {
    self.retries = retries
    self.clock = clock
    directory = try TemporaryDirectory()
    loop = EventLoop(name: "journey")
    thread = loop.start()
    // Turns of Redis' own clock come less often in a time that runs faster.
    self.redis = redis ?? RedisServer(durable: true, clock == nil ? [] : ["--hz", "1"], clock: clock)
    sandbox = try await Sandbox(directory: directory.file("sandbox"), loop: loop, clock: clock)
    try configure(more: more, credentials)
  }

  /// Writes the configuration; a gateway that starts after it has it.
  func configure(more: String = "", _ credentials: ((Sandbox, _ folder: String) -> String)?) throws {
    let make = credentials ?? Self.usualCredentials
    try configuration(more, make(sandbox, directory.file("sandbox").path)).write(
      to: directory.file("fanfare.json5"), atomically: true, encoding: .utf8)
  }

  /// Changes the configuration's text; a gateway that starts after it has it.
  func edit(_ change: (String) -> String) throws {
    let file = directory.file("fanfare.json5")
    let text = try String(contentsOf: file, encoding: .utf8)
    let changed = change(text)
    guard changed != text else { throw ChildFailure(reason: "nothing to change in the configuration") }
    try changed.write(to: file, atomically: true, encoding: .utf8)
  }

  /// What a database of this world's Redis holds: names, and seconds to live (-1: for ever).
  func redisKeys(database: Int, password: String) async throws -> [(name: String, secondsLeft: Int)] {
    let script = """
      local found = {}
      for _, key in ipairs(redis.call('KEYS', '*')) do found[#found + 1] = key .. ' ' .. redis.call('TTL', key) end
      return found
      """
    let run = try ChildProcess(
      URL(filePath: "/usr/bin/redis-cli"),
      ["--raw", "-s", redis.socketPath, "-n", "\(database)", "EVAL", script, "0"],
      environment: ["REDISCLI_AUTH": password])
    guard await run.waitForExit() == 0 else { throw ChildFailure(reason: run.text) }
    return run.text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ")
      return parts.count == 2 ? Int(parts[1]).map { (String(parts[0]), $0) } : nil
    }
  }

  deinit {
    loop.stop()
    thread.join()
  }

  /// `more` may have quotas of its own.
  private func retrySettings(beside more: String) -> String {
    guard retries == .shortened else { return "" }
    let floors =
      #"{ server_fault: "300ms", closing: "300ms", token_busy: "300ms", quota: "500ms", unknown_outcome: "300ms", authorization_too_new: "300ms" }"#
    let rules = #"{ base: "100ms", maximum: "2s", attempts: 20, floors: \#(floors) }"#
    let quotas = more.contains("quotas:") ? "" : "quotas: { fcm: { per_minute: 0 }, onesignal: { per_minute: 0 } },"
    return """
      \(quotas)
      retry: { apns: \(rules), fcm: \(rules), onesignal: \(rules) },
      """
  }

  private func configuration(_ more: String, _ credentials: String) -> String {
    let folder = directory.file("sandbox").path
    return """
      {
        redis: { url: "unix:\(redis.socketPath)" },
        listen: { address: "127.0.0.1", port: 0 },
        \(more)
        ca_file: "\(folder)/ca.pem",
        \(retrySettings(beside: more))
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
  func serve(_ arguments: [String] = [], environment: [String: String] = [:]) throws -> ChildProcess {
    let arguments = ["serve", "--config", directory.file("fanfare.json5").path] + arguments
    if let clock { return try clock.start(Self.program, arguments) }
    if environment.isEmpty { return try ChildProcess(Self.program, arguments) }
    // By `env`: libfaketime changes the environment of the first process that it is loaded into, by which Swift loses the
    // arguments; not that of the next one.
    return try ChildProcess(
      URL(fileURLWithPath: "/usr/bin/env"), [Self.program.path] + arguments, environment: environment)
  }

  /// Where a process listens, once it does.
  private func base(of process: ChildProcess) async throws -> String {
    let line = try await process.line { $0.contains("http://127.0.0.") }
    guard let base = line.firstMatch(of: /http:\/\/127\.0\.0\.\d:\d+/)?.0 else {
      throw ChildFailure(reason: "no address in: \(line)")
    }
    clock?.tidy(process.id)
    return String(base)
  }

  /// A running process that only sends; its client asks its monitor.
  func worker(
    _ arguments: [String] = ["--monitor", "0"], environment: [String: String] = [:]
  ) async throws -> Gateway {
    let process = try serve(["--worker-only"] + arguments, environment: environment)
    return Gateway(process: process, client: try await Client(base: try await base(of: process), loop: loop))
  }

  /// A running gateway with a key of every scope.
  func gateway(_ arguments: [String] = [], environment: [String: String] = [:]) async throws -> Gateway {
    let process = try serve(arguments, environment: environment)
    let base = try await base(of: process)
    let key = try await key(scopes: "send,devices,read,admin")
    return Gateway(process: process, client: try await Client(base: base, key: key, loop: loop), isFast: clock != nil)
  }

  /// A new key of the app.
  func key(scopes: String) async throws -> String {
    let keys = try ChildProcess(
      Self.program,
      [
        "keys", "create", "--app", "shop", "--scopes", scopes, "--json", "--config",
        directory.file("fanfare.json5").path,
      ])
    let key = try await keys.line { $0.contains("fan_") }
    guard let secret = key.firstMatch(of: /fan_[A-Za-z0-9]+/)?.0 else { throw ChildFailure(reason: key) }
    return String(secret)
  }
}

/// A gateway process and a client that speaks to it.
struct Gateway: Sendable {
  let process: ChildProcess
  let client: Client
  /// Its clock runs faster: a moment in which this machine does something else is a Redis that does not answer. What is refused
  /// for that is asked for again.
  var isFast = false

  /// Sends and expects 202; the message's id.
  func send(_ message: String, headers: [(String, String)] = []) async throws -> String {
    var headers = headers.map { Header($0.0, $0.1) }
    if isFast { headers.append(Header("idempotency-key", UUID().uuidString)) }
    let answer = try await patiently { try await client.post("/v1/messages", message, headers: headers) }
    guard answer.status == 202, let id = answer.json["id"]?.string else {
      throw ChildFailure(reason: "\(answer.status): \(answer.text)\n\(process.text)")
    }
    return id
  }

  /// Messages that `load` sends ahead of the last one that has ended.
  private static let ahead = 8

  /// Sends one message after the other until the task is cancelled, and answers their ids. Some are at work at any moment,
  /// and never more than have ended soon after the cancellation, however fast this machine takes them.
  func load(_ message: @escaping @Sendable (Int) -> String) -> Task<[String], any Error> {
    Task {
      var ids: [String] = []
      while !Task.isCancelled {
        if ids.count >= Self.ahead {
          let id = ids[ids.count - Self.ahead]
          // By itself: a cancellation ends the load, and not what it waits for.
          _ = try await Task { try await completed(id) }.value
        }
        ids.append(try await send(message(ids.count)))
      }
      return ids
    }
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

  private func patiently(_ ask: () async throws -> Client.Answer) async throws -> Client.Answer {
    let deadline = ContinuousClock.now + .seconds(Self.patience)
    while true {
      let answer = try await ask()
      guard isFast, answer.status == 503, ContinuousClock.now < deadline else { return answer }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// Positions in `ids` of the messages that the store still knows.
  func survivors(of ids: [String]) async throws -> [Int] {
    var found: [Int] = []
    for (index, id) in ids.enumerated() where try await client.get("/v1/messages/\(id)").status == 200 {
      found.append(index)
    }
    return found
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
    let answer = try await patiently {
      try await client.call(
        "GET", "/v1/messages/\(id)/deliveries", headers: [.init("accept", "application/x-ndjson")])
    }
    guard answer.status == 200 else { throw ChildFailure(reason: answer.text) }
    return try answer.text.split(separator: "\n").map { try JSON.parse(Array($0.utf8)) }
  }
}
