import CommandFrame
import Configuration
import Domain
import Glibc
import HTTPClient
import HTTPServer
import JSON
import Loop
import Processes
import Store
import TLS

enum BenchCommand {
  static let command = Command(
    name: "bench", summary: "measure on this machine (see Benchmarks/)",
    about: """
      bench dispatch measures how many notifications a second one worker loop sends, how many messages the API accepts,
      and the CPU time of each part. Minimal responders on loopback stand in for the providers. Build with -c release.
      Scenarios: \(names).
      bench registry measures the import of devices with ten tags each, Redis memory per device, audience counts, tag
      changes and export.
      bench responder runs only the responder, until SIGTERM.
      """,
    positionals: ["dispatch|registry|responder"],
    options: [
      Command.Option("--scenario", "NAME", repeats: true, "dispatch: run this scenario (default: all)"),
      Command.Option("--devices", "N", "number of devices (dispatch: 100000, registry: 200000)"),
      Command.Option("--runs", "N", "dispatch: runs of each scenario (3)"),
      Command.Option(
        "--audiences", "N", "dispatch, zones: number of audiences that start together, each with all devices (10)"),
      Command.Option("--keep", "DIR", "dispatch: keep registered devices in this folder, and reuse those it holds"),
      Command.Option("--store", "FILE", "dispatch: write the results to this file as JSON"),
      Command.Option("--check", "FILE", "dispatch: fail if ratios are worse than in these results"),
      Command.Option("--streams", "N", "responder: streams allowed per connection (500)"),
      Command.Option("--provider", "NAME", "registry: provider of the tokens, apns or fcm (apns)"),
      Command.Option("--registered", "FILE", "registry: use the devices that dispatch --keep saved; import nothing"),
      Command.json,
    ] + ResponderSettings.options,
    examples: ["make bench", "fanfare-lab bench dispatch --scenario audience --devices 1000000"]
  ) { arguments in try run(arguments) }

  private static var names: String { BenchSuite.all.joined(separator: " ") }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    switch arguments.positionals.first {
    case "responder":
      let streams = try arguments.integer("--streams", in: 1...10_000) ?? 500
      return try ResponderCommand.run(try ResponderSettings(arguments, streams: streams))
    case "dispatch": return try explained(arguments) { try dispatch(arguments) }
    case "registry": return try explained(arguments) { try registry(arguments) }
    default: throw UsageProblem(text: "say what to measure: fanfare-lab bench dispatch or registry")
    }
  }

  private static func dispatch(_ arguments: Arguments) throws -> ExitCode {
    let asked = arguments.texts("--scenario")
    if let odd = asked.first(where: { !BenchSuite.all.contains($0) }) {
      throw UsageProblem(text: "there is no scenario \(odd); there are \(names)")
    }
    var suite = BenchSuite(names: asked.isEmpty ? BenchSuite.all : asked)
    suite.devices = try arguments.integer("--devices", in: 1_000...20_000_000) ?? suite.devices
    suite.runs = try arguments.integer("--runs", in: 1...100) ?? suite.runs
    suite.audiences = try arguments.integer("--audiences", in: 1...1_000) ?? suite.audiences
    suite.json = arguments.wantsJSON
    suite.kept = arguments.text("--keep")
    // Before half an hour of registering.
    if let kept = suite.kept, access(kept, W_OK | X_OK) != 0 {
      throw UsageProblem(text: "--keep: \(kept) is not a folder that you can write to; create it first")
    }
    return try suite.run(check: arguments.text("--check"), store: arguments.text("--store"))
  }

  private static func registry(_ arguments: Arguments) throws -> ExitCode {
    var registry = RegistryBench()
    registry.devices = try arguments.integer("--devices", in: 1_000...20_000_000) ?? registry.devices
    if let name = arguments.text("--provider") {
      guard ["apns", "fcm"].contains(name) else { throw UsageProblem(text: "--provider is apns or fcm") }
      registry.provider = ProviderName(rawValue: name)
    }
    registry.registered = arguments.text("--registered")
    registry.show(try registry.run(), json: arguments.wantsJSON)
    return .success
  }

  /// What can go wrong, in words.
  private static func explained(_ arguments: Arguments, _ measure: () throws -> ExitCode) throws -> ExitCode {
    StopSignals.block()
    do {
      return try measure()
    } catch let failure as BenchFailure {
      Terminal.complain(failure.reason)
    } catch let failure as SocketFailure {
      Terminal.complain(failure.reason)
    } catch let failure as RegistryBench.Failure {
      Terminal.complain(failure.reason)
    } catch let failure as ChildProcess.StartFailure {
      Terminal.complain(failure.reason)
    } catch let failure as HTTPClientFailure {
      Terminal.complain(failure.reason)
    } catch let failure as StoreError {
      Terminal.complain("the store of the benchmark cannot be used: \(failure)")
    }
    return .failure
  }
}
