import Configuration
import Domain
import Glibc
import HTTPClient
import JSON
import Store

enum BenchCommand {
  static let command = Command(
    name: "bench", summary: "measure on this machine (see Benchmarks/)",
    about: """
      bench dispatch: how many notifications a second one worker loop sends from accepted messages with listed targets,
      and the CPU time of each part, against a bare HTTP/2 responder on loopback. Build with -c release.
      bench registry: importing devices with ten tags each, Redis memory per device, counting audiences, tag changes, export.
      bench responder: that responder alone, until SIGTERM.
      """,
    positionals: ["dispatch|registry|responder"],
    options: [
      Command.Option("--notifications", "N", "how many (200000)"),
      Command.Option("--per-message", "N", "targets of each message (10000)"),
      Command.Option("--streams", "N", "streams that the responder allows per connection (500)"),
      Command.Option("--connections", "N", "connections of the gateway (2)"),
      Command.Option("--devices", "N", "registry: how many (200000)"),
      Command.Option("--provider", "NAME", "registry: whose tokens they have, apns or fcm (apns)"),
      Command.Option("--dir", "DIR", "responder: where its CA certificate lands"),
      Command.json,
    ],
    examples: ["make bench"]
  ) { arguments in try run(arguments) }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    var bench = DispatchBench()
    bench.notifications = try arguments.integer("--notifications", in: 1_000...10_000_000) ?? bench.notifications
    bench.perMessage = try arguments.integer("--per-message", in: 1...10_000) ?? bench.perMessage
    bench.streams = try arguments.integer("--streams", in: 1...10_000) ?? bench.streams
    bench.connections = try arguments.integer("--connections", in: 1...64) ?? bench.connections
    switch arguments.positionals.first {
    case "responder":
      guard let directory = arguments.text("--dir") else { throw UsageProblem(text: "the responder needs --dir") }
      return try Responder.run(directory: directory, streams: bench.streams)
    case "dispatch", "registry": break
    default: throw UsageProblem(text: "say what to measure: fanfare bench dispatch or registry")
    }
    let measuresRegistry = arguments.positionals.first == "registry"
    var registry = RegistryBench()
    registry.devices = try arguments.integer("--devices", in: 1_000...20_000_000) ?? registry.devices
    if let name = arguments.text("--provider") {
      guard ["apns", "fcm"].contains(name) else { throw UsageProblem(text: "--provider is apns or fcm") }
      registry.provider = ProviderName(rawValue: name)
    }
    StopSignals.block()
    do {
      if measuresRegistry {
        registry.show(try registry.run(), json: arguments.wantsJSON)
        return .success
      }
      let result = try bench.run()
      show(result, bench, json: arguments.wantsJSON)
      return result.accepted == result.notifications ? .success : .failure
    } catch let failure as DispatchBench.Failure {
      Terminal.complain(failure.reason)
    } catch let failure as RegistryBench.Failure {
      Terminal.complain(failure.reason)
    } catch let failure as ChildProcess.StartFailure {
      Terminal.complain(failure.reason)
    } catch let failure as HTTPClientFailure {
      Terminal.complain(failure.reason)
    } catch let failure as StoreError {
      return ServeCommand.explain(.store(failure))
    } catch let faults as ConfigurationFaults {
      Setup.report(faults, json: arguments.wantsJSON)
    }
    return .failure
  }

  private static func show(_ result: DispatchBench.Result, _ bench: DispatchBench, json: Bool) {
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("notifications", result.notifications)
      writer.member("accepted", result.accepted)
      writer.member("requests", result.requests)
      writer.member("connections", result.connections)
      for (name, value) in [
        ("accept_seconds", result.acceptSeconds), ("dispatch_seconds", result.dispatchSeconds), ("rate", result.rate),
        ("worker_cpu_us", result.worker), ("redis_cpu_us", result.redis), ("responder_cpu_us", result.responder),
      ] {
        writer.key(name)
        writer.double(value)
      }
      if let h2load = result.h2load {
        writer.key("h2load_cpu_us")
        writer.double(h2load)
      }
      writer.member("worker_memory", result.workerMemory)
      writer.member("redis_memory", result.redisMemory)
      writer.member("debug_build", Machine.isDebugBuild)
      writer.endObject()
      return Terminal.print(writer.bytes)
    }
    var table = Table()
    table.row("notifications/s", "\(Int(result.rate))")
    table.row("CPU µs each: gateway", tenths(result.worker))
    table.row("CPU µs each: Redis", tenths(result.redis))
    table.row("CPU µs each: responder", tenths(result.responder))
    table.row("CPU µs each: h2load", result.h2load.map(tenths) ?? "not installed")
    table.row("gateway memory, MiB", "\(result.workerMemory >> 20)")
    table.row("Redis memory when queued, MiB", "\(result.redisMemory >> 20)")
    table.row("accepted/s (targets)", "\(Int(Double(result.notifications) / max(0.001, result.acceptSeconds)))")
    Terminal.print(table.text)
    Terminal.print(
      """

        \(result.notifications) notifications in messages of \(bench.perMessage); \(result.requests) requests over \
      \(result.connections) connections of \(bench.streams) streams
        \(Machine.processor), \(Machine.cores) cores, Linux \(Machine.kernel), fanfare \(Tool.version)\
      \(Machine.isDebugBuild ? ", DEBUG BUILD: figures mean little" : "")
      """)
  }

  private static func tenths(_ value: Double) -> String {
    let scaled = Int((value * 10).rounded())
    return "\(scaled / 10).\(scaled % 10)"
  }
}
