import CommandFrame
import Configuration
import Domain
import GatewayClient
import Glibc
import HTTPClient
import JSON
import Loop
import Processes
import Sandbox
import Store

/// The main job with faults playing, and the proof that nothing was lost.
enum DemoCommand {
  static let command = Command(
    name: "demo",
    summary: "send to 10,000 devices of three providers while faults play, and prove that nothing was lost",
    about: """
      Starts a private Redis, the sandbox and a gateway process. Registers devices and sends to each of them once, while
      the sandbox plays 429, 410, 503, GOAWAY and resets. Then compares the sandbox's log with the gateway's record,
      delivery by delivery. Retry waits are shortened to a third of a second (the vendors ask for up to 15 minutes).
      The exit code is 0 only if log and record agree and the gateway received every kind of fault.
      """,
    options: [Command.Option("--devices", "N", "how many devices (10000)"), Command.json],
    examples: ["fanfare-lab demo"]
  ) { arguments in try run(arguments) }

  private struct Summary: Sendable {
    var comparison: Comparison
    var differences: [String]
    var pruned: Int
    var milliseconds: Int64
  }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let count = try arguments.integer("--devices", in: 5_000...100_000) ?? 10_000
    StopSignals.block()
    let folder = ScratchFolder()
    do {
      let redis = try PrivateRedis(in: folder.path)
      defer { redis.stop() }
      var settings = SandboxSettings(directory: folder.folder("vendors"))
      settings.replaceBusyPorts = true
      let vendors = try Vendors(settings)
      defer { vendors.stop() }
      var app = SandboxApp(
        redisSocket: redis.socket, port: 0, vendors: vendors.ports, directory: vendors.directory)
      let retries = ShortenedRetries()
      app.more = retries.text
      let file = folder.write("fanfare.json5", app.text)
      let log = folder.file("gateway.log")
      let key = try GatewayProcess.makeKey(config: file, log: log)
      let server = try GatewayProcess(config: file, log: log)
      defer { server.stop() }
      Terminal.note(
        "Retry waits are shortened: first \(retries.first) ms, at most \(retries.maximum) ms.")
      let control = vendors.ports.control
      let summary = try Blocking.run { loop in
        let gateway = Client(loop: loop, base: server.url, key: key, connections: 32)
        let sandbox = Client(loop: loop, base: "http://127.0.0.1:\(control)")
        defer {
          gateway.close()
          sandbox.close()
        }
        return try await play(Campaign(loop: loop, gateway: gateway, sandbox: sandbox), devices: count)
      }
      return report(summary, json: arguments.wantsJSON)
    } catch let failure as ChildProcess.StartFailure {
      return failed(failure.reason, folder)
    } catch let failure as SandboxFailure {
      return failed(failure.reason, folder)
    } catch let failure as Campaign.Failure {
      return failed(failure.reason, folder)
    } catch let failure as HTTPClientFailure {
      return failed(failure.reason, folder)
    }
  }

  /// With the last words of the gateway, which are gone with the folder.
  private static func failed(_ reason: String, _ folder: ScratchFolder) -> ExitCode {
    Terminal.complain(reason)
    if let log = FileContent.read(folder.file("gateway.log")), !log.isEmpty {
      Terminal.note("the gateway's last lines:\n" + String(decoding: log.suffix(2_000), as: UTF8.self))
    }
    return .failure
  }

  private static func play(_ campaign: Campaign, devices: Int) async throws -> Summary {
    let population = Population(apns: devices / 2, fcm: devices * 2 / 5, oneSignal: devices / 10)
    let loop = campaign.loop
    let longBefore = loop.wallNow + -86_400_000
    try await campaign.register(population.members)
    await loop.sleep(milliseconds: 5)
    try await campaign.script(FaultScript.rules(registered: loop.wallNow, longBefore: longBefore))
    // Every device once, the providers mixed, in messages of 500: urgent direct sends.
    let mixed = population.members.enumerated().sorted { ($0.offset % 97, $0.offset) < ($1.offset % 97, $1.offset) }
    let groups = stride(from: 0, to: mixed.count, by: 500).map { start in
      mixed[start..<min(start + 500, mixed.count)].map(\.element.id)
    }
    let start = loop.now
    let ids = try await campaign.send(groups)
    _ = try await campaign.finish(ids, total: devices, timeout: 45_000)
    let time = loop.now - start
    let recorded = try await campaign.record(ids)
    let comparison = Comparison(
      members: population.members, recorded: recorded, received: try await campaign.log())
    let suspects = population.members.filter { $0.route != .healthy }
    let prunes = try await campaign.wronglyPruned(suspects)
    var differences = comparison.differences + prunes
    differences += FaultScript.missing(try await campaign.statistics()).map { "never received: \($0)" }
    return Summary(
      comparison: comparison, differences: differences,
      pruned: suspects.filter { $0.route == .dying }.count - prunes.filter { $0.contains("not pruned") }.count,
      milliseconds: time)
  }

  private static func report(_ summary: Summary, json: Bool) -> ExitCode {
    let comparison = summary.comparison
    let rate = Int64(comparison.deliveries) * 1_000 / max(1, summary.milliseconds)
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("deliveries", comparison.deliveries)
      writer.member("reached", comparison.outcomes["accepted", default: 0])
      writer.member("retried", comparison.retried)
      writer.member("pruned", summary.pruned)
      writer.member("duplicates", comparison.duplicates)
      writer.member("requests", comparison.requests)
      writer.member("duration_ms", summary.milliseconds)
      writer.objects("reasons", comparison.reasons.sorted(by: { $0.key < $1.key })) { writer, row in
        writer.member("reason", row.key)
        writer.member("count", row.value)
      }
      writer.key("differences")
      writer.beginArray()
      for difference in summary.differences { writer.string(difference) }
      writer.endArray()
      writer.endObject()
      Terminal.print(writer.bytes)
    } else {
      var table = Table()
      table.row("reached", "\(comparison.outcomes["accepted", default: 0])", "of \(comparison.deliveries) devices")
      table.row("retried", "\(comparison.retried)", "and then reached")
      table.row("pruned", "\(summary.pruned)", "dead tokens, which get no more pushes")
      for (reason, count) in comparison.reasons.sorted(by: { $0.key < $1.key }) {
        let parts = reason.split(separator: ":", maxSplits: 1).map(String.init)
        table.row(parts[0], "\(count)", parts.count > 1 ? parts[1].trimmingPrefix { $0 == " " }.description : "")
      }
      table.row("doubled", "\(comparison.duplicates)", "sent again because an answer was lost")
      table.row("requests", "\(comparison.requests)", "received by the sandbox")
      table.row("time", Campaign.seconds(summary.milliseconds), "first send to last outcome")
      table.row("rate", "\(rate)", "deliveries per second")
      Terminal.print(table.text)
    }
    guard summary.differences.isEmpty else {
      Terminal.complain("\(summary.differences.count) differences between the sandbox's log and the gateway's record:")
      for difference in summary.differences.prefix(20) { Terminal.note("  \(difference)") }
      return .failure
    }
    if !json { Terminal.print("  The sandbox's log and the gateway's record agree, delivery by delivery.") }
    return .success
  }
}
