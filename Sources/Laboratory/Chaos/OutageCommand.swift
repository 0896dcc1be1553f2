import CommandFrame
import Domain
import GatewayClient
import Glibc
import HTTPClient
import JSON
import Loop
import Processes
import RedisClient
import Sandbox

/// One provider is away for an hour while a campaign goes on: what it costs, and that everybody is reached afterwards.
enum OutageCommand {
  static let command = Command(
    name: "outage", summary: "measure a campaign to a million devices while one provider is down for an hour",
    about: """
      Starts the stack of `fanfare-lab chaos` with two workers and without its faults. Registers --devices, half of them
      with APNs and half with FCM, and sends to the APNs half for comparison. Then FCM answers 503 to everything, a
      campaign is sent to everybody, and FCM recovers after --minutes. The report shows the APNs rate with and without
      the FCM outage, the requests that FCM received during the outage, and memory over that time. The exit code is 0 if
      FCM received only probes and the requests in flight when the outage began, nothing grew, and every device got the
      campaign once.
      """,
    options: [
      Command.Option("--minutes", "N", "how long FCM is away (60)"),
      Command.Option("--devices", "N", "number of devices, half of them with FCM (1000000)"), Command.json,
    ],
    examples: ["fanfare-lab outage", "fanfare-lab outage --minutes 5 --devices 50000"]
  ) { arguments in try run(arguments) }

  private static let away = #"[{"provider":"fcm","status":503,"reason":"UNAVAILABLE"}]"#
  private static let interval: UInt32 = 5_000_000
  private static let batch = 5_000
  /// Probes a minute of one worker: every 30 s, and more often in the first minute, as waits grow to that.
  private static let probesAMinute = 2
  private static let firstProbes = 10

  private struct Result {
    var alone = 0.0
    var beside = 0.0
    var requests = 0
    var allowed = 0
    var accepted: [String: Int] = [:]
    var outcomes: [String: Int] = [:]
    var recovery = 0.0
  }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let minutes = try arguments.integer("--minutes", in: 2...1_440) ?? 60
    let devices = try arguments.integer("--devices", in: 1_000...10_000_000) ?? 1_000_000
    StopSignals.block()
    let folder = ScratchFolder()
    do {
      let stack = try ChaosStack(in: folder, workers: 2, logEntries: 50_000)
      defer { stack.stop() }
      let (result, watch) = try play(stack, minutes: minutes, half: devices / 2)
      return report(result, watch, half: devices / 2, json: arguments.wantsJSON)
    } catch let failure as Campaign.Failure {
      Terminal.complain(failure.reason)
    } catch let failure as HTTPClientFailure {
      Terminal.complain(failure.reason)
    } catch let failure as ChildProcess.StartFailure {
      Terminal.complain(failure.reason)
    }
    Terminal.note(ChaosStack.lastWords(in: folder))
    return .failure
  }

  private static func play(_ stack: ChaosStack, minutes: Int, half: Int) throws -> (Result, ResourceWatch) {
    let loop = EventLoop(name: "clients")
    let thread = loop.start()
    defer {
      loop.stop()
      thread.join()
    }
    let (url, key, control, socket) = (stack.url, stack.key, stack.vendors.ports.control, stack.redis.socket)
    let clients = try Blocking.on(loop) {
      Clients(
        gateway: Client(loop: loop, base: url, key: key),
        sandbox: Client(loop: loop, base: "http://127.0.0.1:\(control)"),
        redis: Redis(loop: loop, endpoint: RedisEndpoint(.unix(path: socket))))
    }
    try register(clients, on: loop, half)
    var result = Result()
    result.alone =
      Double(half)
      / (try sendAndAwait(stack, clients, on: loop, #"{"audience":"provider:apns"}"#, "apns", half).seconds)

    try Blocking.on(loop) { try await clients.play(away) }
    let (campaign, took) = try sendAndAwait(stack, clients, on: loop, #"{"everyone":true}"#, "apns", 2 * half)
    result.beside = Double(half) / took
    // Both connections' streams of both workers may have been at work when it went.
    let atWork = stack.workers.count * ChaosStack.connections * ChaosStack.streams
    result.allowed = atWork + stack.workers.count * (firstProbes + probesAMinute * minutes)
    var watch = ResourceWatch(stack)
    var bar = ProgressBar("without FCM")
    let rounds = minutes * 60_000_000 / Int(interval)
    for round in 0..<rounds {
      try pause(stack)
      let (used, seen) = try Blocking.on(loop) { (try await clients.usedMemory(), try await clients.seen("fcm")) }
      watch.look(redis: used)
      bar.draw(round + 1, of: rounds, "\(seen.requests) requests to it")
    }
    result.requests = try Blocking.on(loop) { try await clients.seen("fcm").requests }
    bar.end("\(result.requests) requests to it in \(minutes) min")

    try Blocking.on(loop) { try await clients.play("[]") }
    result.recovery = try until(stack, clients, on: loop, "fcm", half)
    while try Blocking.on(loop, { try await clients.report(campaign)["completed_at"] == nil }) { usleep(100_000) }
    result.outcomes = try Blocking.on(loop) { MessageCounts(try await clients.report(campaign)).outcomes }
    for provider in ["apns", "fcm"] {
      result.accepted[provider] = try Blocking.on(loop) { try await clients.seen(provider).accepted }
    }
    return (result, watch)
  }

  private static func register(_ clients: Clients, on loop: EventLoop, _ half: Int) throws {
    var bar = ProgressBar("registering")
    for start in stride(from: 0, to: half, by: batch) {
      let numbers = start..<min(half, start + batch)
      try Blocking.on(loop) { try await clients.register(numbers) }
      bar.draw(2 * numbers.upperBound, of: 2 * half)
    }
    bar.end("\(2 * half) devices")
  }

  /// Sends, and waits until the provider has accepted so many in all; the message and the seconds.
  private static func sendAndAwait(
    _ stack: ChaosStack, _ clients: Clients, on loop: EventLoop, _ target: String, _ provider: String, _ count: Int
  ) throws -> (id: String, seconds: Double) {
    let id = try Blocking.on(loop) { try await clients.send(target) }
    return (id, try until(stack, clients, on: loop, provider, count))
  }

  /// Seconds until the provider has accepted so many.
  private static func until(
    _ stack: ChaosStack, _ clients: Clients, on loop: EventLoop, _ provider: String, _ count: Int
  ) throws -> Double {
    let began = Clock.milliseconds
    var (last, moved) = (-1, began)
    var bar = ProgressBar(provider)
    while true {
      let accepted = try Blocking.on(loop) { try await clients.seen(provider).accepted }
      let now = Clock.milliseconds
      if accepted >= count {
        let seconds = Double(now - began) / 1_000
        bar.end("\(Campaign.seconds(Int64(now - began)))")
        return seconds
      }
      if accepted > last { (last, moved) = (accepted, now) }
      guard now - moved < patience else {
        throw Campaign.Failure(
          reason: "nothing more came to \(provider) for \(patience / 1_000) s: \(accepted) of \(count)")
      }
      bar.draw(accepted, of: count)
      try pause(stack, 50_000)
    }
  }
  /// A probe may be half a minute away.
  private static let patience = 90_000

  private static func pause(_ stack: ChaosStack, _ microseconds: UInt32 = interval) throws {
    usleep(microseconds)
    if let ended = stack.ended { throw Campaign.Failure(reason: "\(ended) has ended by itself") }
    if StopSignals.isPending { throw Campaign.Failure(reason: "asked to stop") }
  }

  private static func report(_ result: Result, _ watch: ResourceWatch, half: Int, json: Bool) -> ExitCode {
    let arrived =
      result.outcomes == ["accepted": 2 * half] && result.accepted["apns"] == 2 * half && result.accepted["fcm"] == half
    let isQuiet = result.requests <= result.allowed
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("apns_per_second_alone", Int(result.alone))
      writer.member("apns_per_second_beside", Int(result.beside))
      writer.member("requests_to_fcm", result.requests)
      writer.member("requests_allowed", result.allowed)
      writer.member("recovery_seconds", Int(result.recovery))
      writer.member("arrived_once", arrived)
      watch.write(to: &writer)
      writer.endObject()
      Terminal.print(writer.bytes)
    } else {
      Terminal.print(
        """
        APNs alone                    \(Int(result.alone))/s
        APNs while FCM was away       \(Int(result.beside))/s
        requests that FCM saw         \(result.requests) (at work when it went, and probes: at most \(result.allowed))
        FCM's half after it came back \(Int(result.recovery)) s
        outcomes                      \(result.outcomes.map { "\($0.value) \($0.key)" }.sorted().joined(separator: ", "))
        accepted by APNs, by FCM      \(result.accepted["apns", default: 0]), \(result.accepted["fcm", default: 0]): \(arrived ? "once each" : "NOT ONCE EACH")
        """)
      Terminal.print(watch.table)
    }
    return arrived && isQuiet && watch.isFlat ? .success : .failure
  }

  /// Touched on their loop only.
  private final class Clients: @unchecked Sendable {
    private let gateway: Client
    private let sandbox: Client
    private let redis: Redis
    init(gateway: Client, sandbox: Client, redis: Redis) {
      (self.gateway, self.sandbox, self.redis) = (gateway, sandbox, redis)
    }

    func usedMemory() async throws -> Int64 { Int64(try await RedisMemory(of: redis).used) }

    func play(_ rules: String) async throws {
      let answer = try await sandbox.call("PUT", "/rules", Array(rules.utf8))
      guard answer.isSuccess else { throw Campaign.Failure(reason: "the sandbox refused the rules") }
    }

    /// One device at each provider for each number.
    func register(_ numbers: Range<Int>) async throws {
      var body: [UInt8] = []
      for number in numbers {
        let text = String(number, radix: 16)
        let token = String(repeating: "0", count: 64 - text.count) + text
        body += Array("{\"id\":\"a\(number)\",\"provider\":\"apns\",\"token\":\"\(token)\"}\n".utf8)
        body += Array("{\"id\":\"f\(number)\",\"provider\":\"fcm\",\"token\":\"f-\(number)\"}\n".utf8)
      }
      let answer = try await gateway.call("POST", "/v1/devices/bulk", body, type: "application/x-ndjson")
      guard answer.isSuccess else { throw Campaign.Failure(reason: "devices were refused: \(answer.problem)") }
    }

    func send(_ target: String) async throws -> String {
      let body = "{\"to\":\(target),\"notification\":{\"title\":\"Campaign\",\"body\":\"For all\"}}"
      let answer = try await gateway.call("POST", "/v1/messages", Array(body.utf8))
      guard answer.isSuccess, let id = answer.document?["id"]?.string else {
        throw Campaign.Failure(reason: "the campaign was refused: \(answer.problem)")
      }
      return id
    }

    func report(_ id: String) async throws -> JSONValue {
      let answer = try await gateway.call("GET", "/v1/messages/\(id)")
      guard answer.isSuccess, let report = answer.document else {
        throw Campaign.Failure(reason: "the campaign cannot be read: \(answer.problem)")
      }
      return report
    }

    func seen(_ provider: String) async throws -> (requests: Int, accepted: Int) {
      let answer = try await sandbox.call("GET", "/stats")
      guard answer.isSuccess, let counts = answer.document?[provider] else {
        throw Campaign.Failure(reason: "the sandbox's statistics cannot be read")
      }
      return (Int(counts["requests"]?.integer ?? 0), Int(counts["accepted"]?.integer ?? 0))
    }
  }
}
