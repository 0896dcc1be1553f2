import Configuration
import JSON
import Store

/// The gateway itself, until SIGTERM or SIGINT.
enum ServeCommand {
  static let command = Command(
    name: "serve", summary: "run the gateway: API and workers",
    about: """
      Runs the gateway: the HTTP API on one thread, workers on as many as --loops says. SIGTERM or SIGINT ends it in good
      order: no more requests, what is at work finishes (at most 10 s), leases go back. SIGHUP reads the configuration and
      its files anew: apps and credentials take effect at once, and one with faults is refused while all goes on as
      before. A line on standard output says when it listens.
      """,
    options: [
      Command.configuration,
      Command.Option("--api-only", "accept and report, send nothing"),
      Command.Option("--worker-only", "send, listen on no port"),
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
    let gateway = Gateway(setup)
    let port: Int?
    do {
      port = try gateway.start(
        api: !arguments.has("--worker-only"), workers: arguments.has("--api-only") ? 0 : loops)
    } catch let failure as Gateway.Failure {
      return explain(failure)
    }
    announce(setup, port, json: arguments.wantsJSON)
    StopSignals.wait { gateway.reload(file: Setup.file(arguments)) }
    gateway.stop()
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

  private static func announce(_ setup: Setup, _ port: Int?, json: Bool) {
    guard json else {
      Terminal.print(port.map { "listening on \(address(setup, port: $0))" } ?? "working, without an API")
      return
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("event", "ready")
    writer.member("port", port)
    writer.member("url", port.map { address(setup, port: $0) })
    writer.endObject()
    Terminal.print(writer.bytes)
  }

  static func address(_ setup: Setup, port: Int) -> String {
    let listen = setup.configuration.listen
    let host = listen.address.contains(":") ? "[\(listen.address)]" : listen.address
    return "\(listen.certificate == nil ? "http" : "https")://\(host):\(port)"
  }
}
