import CommandFrame
import Configuration
import Gateway
import JSON
import Processes
import Store

/// The gateway itself, until SIGTERM or SIGINT.
enum ServeCommand {
  static let command = Command(
    name: "serve", summary: "run the gateway: API and workers",
    about: """
      Runs the gateway: the HTTP API on one thread, and workers on --loops threads. At start the gateway waits for
      Redis, for redis.start_timeout at most. It prints a line on standard output when it listens.
      SIGTERM or SIGINT stops the gateway gracefully: it accepts no more requests, requests in flight get workers.drain
      (10 s) to finish, the remaining jobs stay queued, the leases are released, and the exit code is 0.
      SIGHUP reloads the configuration and its files. Changed apps and credentials take effect at once. A configuration
      with faults is refused, and the gateway keeps running with the previous one.
      """,
    options: [
      Command.configuration,
      Command.Option("--api-only", "run only the API: accept messages and report, send nothing"),
      Command.Option("--worker-only", "run only workers; /metrics, /healthz and /readyz answer where `monitor` says"),
      Command.Option("--monitor", "PORT", "port of a separate listener for /metrics, /healthz and /readyz"),
      Command.Option("--loops", "N", "number of worker threads (1)"),
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
    let isWorker = arguments.has("--worker-only")
    // Processes on one machine that share a file do not get in each other's way.
    var monitor = isWorker || setup.configuration.listen.operations == .monitor ? setup.configuration.monitor : nil
    if let port = try arguments.integer("--monitor", in: 0...65_535) {
      monitor = setup.configuration.monitor ?? .init()
      monitor?.port = port
    }
    let gateway = RunningGateway(setup)
    let ports: RunningGateway.Ports
    do {
      ports = try gateway.start(
        api: !isWorker, workers: arguments.has("--api-only") ? 0 : loops,
        monitor: monitor)
    } catch let failure as RunningGateway.Failure {
      // Asked to stop while it waited for Redis.
      if StopSignals.isPending { return .success }
      return explain(failure)
    }
    let monitorURL = ports.monitor.map { "http://\(host(monitor?.address ?? "")):\($0)" }
    announce(
      api: ports.api.map { (address(setup, port: $0), $0) },
      monitor: ports.monitor.flatMap { port in
        monitorURL.map { ($0, port) }
      }, json: arguments.wantsJSON)
    StopSignals.wait {
      gateway.reload(file: Setup.file(arguments))
      return true
    }
    let seconds = setup.configuration.workers.drain / 1_000
    Farewell.ending("requests in flight get up to \(seconds) s to finish", json: arguments.wantsJSON)
    gateway.stop()
    Farewell.ended("accepted messages that were not sent yet stay in Redis", json: arguments.wantsJSON)
    return .success
  }

  static func explain(_ failure: RunningGateway.Failure) -> ExitCode {
    switch failure {
    case .store(.unavailable(let reason, _)):
      Terminal.complain("cannot reach Redis: \(reason)", "check /redis in the configuration, and that Redis runs")
      return .unreachable
    case .store(.unusable(let reason)):
      Terminal.complain("the store cannot be used: \(reason)")
      return .failure
    case .store(.leaseLost(let partition)):
      Terminal.complain("another worker owns partition \(partition)")
      return .failure
    case .listen(let reason):
      Terminal.complain(reason, "change /listen in the configuration; port 0 takes any free port")
      return .failure
    case .risky(let risks):
      Terminal.complain(
        "the configuration is strict, and not safe on the open internet:\n"
          + risks.map { "  \($0.code): \($0.text)" }.joined(separator: "\n"),
        "correct each of them, or remove `strict: true`")
      return .configuration
    case .descriptors(let shortage):
      Terminal.complain(shortage.problem, shortage.fix)
      return .failure
    case .trust(let reason):
      Terminal.complain(
        "cannot read the trusted certificate authorities: \(reason)", "check ca_file in the configuration")
      return .failure
    }
  }

  private typealias Listener = (url: String, port: Int)

  private static func announce(api: Listener?, monitor: Listener?, json: Bool) {
    guard json else {
      let place = (api ?? monitor).map { "listening on \($0.url)" } ?? "listening nowhere"
      Terminal.print(api == nil ? "working without an API, \(place)" : place)
      if api != nil, let monitor { Terminal.print("monitor on \(monitor.url)") }
      return
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("event", "ready")
    writer.member("port", (api ?? monitor)?.port)
    writer.member("url", (api ?? monitor)?.url)
    writer.member("monitor_url", monitor?.url)
    writer.endObject()
    Terminal.print(writer.bytes)
  }

  static func address(_ setup: Setup, port: Int) -> String {
    let listen = setup.configuration.listen
    return "\(listen.certificate == nil ? "http" : "https")://\(host(listen.address)):\(port)"
  }

  private static func host(_ address: String) -> String { address.contains(":") ? "[\(address)]" : address }
}
