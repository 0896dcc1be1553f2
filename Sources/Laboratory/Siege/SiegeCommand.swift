import CommandFrame
import Domain
import Glibc
import JSON
import Loop
import Processes

/// What the API's clients notice of strangers who attack it.
enum SiegeCommand {
  static let command = Command(
    name: "siege", summary: "attack the API from other addresses of this machine while messages are sent",
    about: """
      Starts Redis, a responder in APNs' place and the gateway beside this program, and sends 1,000 messages a second
      with a key. Meanwhile other addresses of this machine (127.0.0.2 and on) attack the API: 10,000 idle connections;
      1,000 that send a byte a second; 2,000 wrong keys a second; bodies of 20 MiB without a key; and to unknown paths.
      Each attack runs alone, and then all of them together, for --seconds each. The exit code is 0 if in each of them
      99 of 100 messages were accepted within --p99 milliseconds, none was refused, and the gateway's memory grew by no
      more than 80 MiB and 66 KiB for each connection. Nothing leaves this machine.
      """,
    options: [
      Command.Option("--seconds", "N", "duration of each attack (10)"),
      Command.Option("--attack", "NAME", "only this one: idle, slow, keys, bodies, paths or all"),
      Command.Option("--sources", "N", "addresses of each attack (1)"),
      Command.Option("--percent", "N", "share of each attack and of the messages (100)"),
      Command.Option("--p99", "N", "milliseconds that 99 of 100 messages may take (50)"),
      Command.Option("--gateway", "FILE", "another build of fanfare"), Command.json,
    ],
    examples: ["fanfare-lab siege", "fanfare-lab siege --attack keys --seconds 5", "fanfare-lab siege --percent 10"]
  ) { arguments in try run(arguments) }

  private static let rate = 1_000.0
  private static let connections = 64
  /// Bytes that the gateway's memory may grow by.
  private static let allowed = 80 << 20
  private static let perConnection = 66 << 10

  private struct Options {
    var seconds: Int
    var sources: Int
    var scale: Double
    var latest: Double
    var gateway: String?
  }

  private struct Outcome {
    var name: String
    var load: LoadClient.Outcome
    var siege: Siege.Result
    /// Bytes: what the gateway's memory grew to, and what it may.
    var memory: Int64
    var bound: Int64
    func isHeld(_ latest: Double) -> Bool { load.refused == 0 && load.time(0.99) <= latest && memory <= bound }
  }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let options = Options(
      seconds: try arguments.integer("--seconds", in: 2...600) ?? 10,
      sources: try arguments.integer("--sources", in: 1...250) ?? 1,
      scale: Double(try arguments.integer("--percent", in: 1...100) ?? 100) / 100,
      latest: Double(try arguments.integer("--p99", in: 1...60_000) ?? 50), gateway: arguments.text("--gateway"))
    var attacks = [("none", [])] + SiegeAttack.allCases.map { ($0.rawValue, [$0]) } + [("all", SiegeAttack.allCases)]
    if let name = arguments.text("--attack") {
      attacks = attacks.filter { $0.0 == name }
      guard !attacks.isEmpty else { throw UsageProblem(text: "there is no attack \(name)") }
    }
    StopSignals.block()
    raiseDescriptors()
    do {
      var outcomes: [Outcome] = []
      for (name, attacks) in attacks {
        Terminal.note("\(name) …")
        outcomes.append(try play(name, attacks, options))
      }
      return report(outcomes, options, json: arguments.wantsJSON)
    } catch let failure as BenchFailure {
      Terminal.complain(failure.reason)
    } catch let failure as ChildProcess.StartFailure {
      Terminal.complain(failure.reason)
    }
    return .failure
  }

  private static func play(_ name: String, _ attacks: [SiegeAttack], _ options: Options) throws -> Outcome {
    let stage = try BenchStage(responders: [ResponderSettings()], connections: 2)
    defer { stage.close() }
    let gateway = try GatewayProcess(config: stage.file, log: stage.log, program: options.gateway)
    defer { gateway.stop() }
    guard let port = gateway.url.split(separator: ":").last.flatMap({ Int($0) }) else {
      throw BenchFailure(reason: "the API reported no port")
    }
    let before = ProcessTimes.memory(of: gateway.id)
    let strangers = EventLoop(name: "strangers")
    let thread = strangers.start()
    defer {
      strangers.stop()
      thread.join()
    }
    let siege = try Blocking.on(strangers) {
      OnStrangers(
        Siege(
          loop: strangers, port: port, attacks: attacks, sources: options.sources, scale: options.scale))
    }
    try Blocking.on(strangers) { siege.value.begin() }
    let rate = rate * options.scale
    let (count, key) = (Int(rate * Double(options.seconds)), stage.key)
    let load = try Blocking.run { loop in
      let client = LoadClient(loop: loop, port: port, total: count, rate: rate) { message($0, key: key) }
      return try await client.run(connections: connections)
    }
    let result = try Blocking.on(strangers) { siege.value.end() }
    let open = Int64(result.mostOpen + connections)
    return Outcome(
      name: name, load: load, siege: result, memory: ProcessTimes.peakMemory(of: gateway.id) - before,
      bound: Int64(allowed) + open * Int64(perConnection))
  }

  /// Used on the strangers' loop only.
  private struct OnStrangers: @unchecked Sendable {
    let value: Siege
    init(_ value: Siege) { self.value = value }
  }

  private static func message(_ number: Int, key: String) -> [UInt8] {
    let token = String(number % 50_000, radix: 16)
    let body =
      #"{"to":{"tokens":[{"provider":"apns","token":"\#(String(repeating: "0", count: 64 - token.count))\#(token)"}]},"#
      + #""notification":{"title":"Siege"}}"#
    return Array(
      ("POST /v1/messages HTTP/1.1\r\nhost: siege\r\nauthorization: Bearer \(key)\r\n"
        + "content-type: application/json\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
  }

  private static func raiseDescriptors() {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(resource, &limit)
  }

  private static func report(_ outcomes: [Outcome], _ options: Options, json: Bool) -> ExitCode {
    let isHeld = outcomes.allSatisfy { $0.isHeld(options.latest) }
    guard !json else {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("held", isHeld)
      writer.objects("attacks", outcomes) { writer, one in
        writer.member("attack", one.name)
        writer.member("held", one.isHeld(options.latest))
        writer.member("message_count", one.load.answered)
        writer.member("refused_count", one.load.refused)
        writer.member("median_us", Int(one.load.time(0.5) * 1_000))
        writer.member("p99_us", Int(one.load.time(0.99) * 1_000))
        writer.member("grown_memory_bytes", one.memory)
        writer.member("memory_limit_bytes", one.bound)
        writer.member("open_connections", one.siege.mostOpen)
        writer.member("answer_count", one.siege.answers)
        writer.member("closed_count", one.siege.closed)
      }
      writer.endObject()
      Terminal.print(writer.bytes)
      return isHeld ? .success : .failure
    }
    var table = Table()
    table.row("attack", "messages", "refused", "median", "p99", "memory", "may", "open", "answered", "closed", "")
    for one in outcomes {
      table.row([
        one.name, "\(one.load.answered)", "\(one.load.refused)", milliseconds(one.load.time(0.5)),
        milliseconds(one.load.time(0.99)), "\(one.memory >> 20) MiB", "\(one.bound >> 20) MiB", "\(one.siege.mostOpen)",
        "\(one.siege.answers)", "\(one.siege.closed)", one.isHeld(options.latest) ? "held" : "NOT HELD",
      ])
      if let refusal = one.load.firstRefusal { Terminal.note("\(one.name): \(refusal)") }
    }
    Terminal.print(table.text)
    return isHeld ? .success : .failure
  }

  private static func milliseconds(_ time: Double) -> String { "\((time * 10).rounded() / 10) ms" }
}
