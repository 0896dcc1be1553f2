import Configuration
import JSON
import Store

/// The gateway itself, until SIGTERM or SIGINT.
enum ServeCommand {
  static let command = Command(
    name: "serve", summary: "run the gateway: API and workers",
    about: """
      Runs the gateway: the HTTP API on one thread, workers on as many as --loops says. A start waits for Redis as long as
      redis.start_timeout says. SIGTERM or SIGINT ends it in good order: no more requests, what is at work finishes (for as
      long as workers.drain says, 10 s), the rest and the leases go back, exit code 0. SIGHUP reads the configuration and
      its files anew: apps and credentials take effect at once, and one with faults is refused while all goes on as
      before. A line on standard output says when it listens.
      """,
    options: [
      Command.configuration,
      Command.Option("--api-only", "accept and report, send nothing"),
      Command.Option("--worker-only", "send, take no requests; tells how it is where `monitor` says"),
      Command.Option("--monitor", "PORT", "where a --worker-only process answers /metrics, /healthz, /readyz"),
      Command.Option("--loops", "N", "threads that send (1)"),
      Command.json,
    ],
    examples: [
      "fanfare serve --config /etc/fanfare/fanfare.json5",
      "fanfare serve --worker-only --loops 4",
    ]
  ) { arguments in try run(arguments) }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let loops = try arguments.integer("--loops", in: 1...64) ?? 1
    guard !(arguments.has("--api-only") && arguments.has("--worker-only")) else {
      throw UsageProblem(text: "--api-only and --worker-only exclude each other")
    }
    StopSignals.block(hangUp: true)
    let setup = try Setup.load(arguments)
    var monitor = setup.configuration.monitor
    if let port = try arguments.integer("--monitor", in: 0...65_535) {
      guard arguments.has("--worker-only") else {
        throw UsageProblem(text: "--monitor belongs to --worker-only: the API answers the same paths")
      }
      monitor = monitor ?? .init()
      monitor?.port = port
    }
    let gateway = Gateway(setup)
    let port: Int?
    do {
      port = try gateway.start(
        api: !arguments.has("--worker-only"), workers: arguments.has("--api-only") ? 0 : loops,
        monitor: monitor)
    } catch let failure as Gateway.Failure {
      // Asked to stop while it waited for Redis.
      if StopSignals.isPending { return .success }
      return explain(failure)
    }
    let url = port.map { port in
      arguments.has("--worker-only")
        ? "http://\(host(monitor?.address ?? "")):\(port)" : address(setup, port: port)
    }
    announce(url, port, works: arguments.has("--worker-only"), json: arguments.wantsJSON)
    StopSignals.wait {
      gateway.reload(file: Setup.file(arguments))
      return true
    }
    let seconds = setup.configuration.workers.drain / 1_000
    Farewell.ending("what is at work finishes, for \(seconds) s at most", json: arguments.wantsJSON)
    gateway.stop()
    Farewell.ended("what was accepted and not sent yet is in Redis", json: arguments.wantsJSON)
    return .success
  }

  static func explain(_ failure: Gateway.Failure) -> ExitCode {
    switch failure {
    case .store(.unavailable(let reason, _)):
      Terminal.complain("Redis cannot be reached: \(reason)", "check /redis in the configuration, and that Redis runs")
      return .unreachable
    case .store(.unusable(let reason)):
      Terminal.complain("the store cannot be used: \(reason)")
      return .failure
    case .store(.leaseLost(let partition)):
      Terminal.complain("partition \(partition) has another owner")
      return .failure
    case .listen(let reason):
      Terminal.complain(reason, "change /listen in the configuration; port 0 takes any free one")
      return .failure
    case .trust(let reason):
      Terminal.complain("the authorities to trust cannot be read: \(reason)", "check ca_file in the configuration")
      return .failure
    }
  }

  private static func announce(_ url: String?, _ port: Int?, works: Bool, json: Bool) {
    guard json else {
      let place = url.map { "listening on \($0)" } ?? "listening nowhere"
      return Terminal.print(works ? "working without an API, \(place)" : place)
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("event", "ready")
    writer.member("port", port)
    writer.member("url", url)
    writer.endObject()
    Terminal.print(writer.bytes)
  }

  static func address(_ setup: Setup, port: Int) -> String {
    let listen = setup.configuration.listen
    return "\(listen.certificate == nil ? "http" : "https")://\(host(listen.address)):\(port)"
  }

  private static func host(_ address: String) -> String { address.contains(":") ? "[\(address)]" : address }
}
