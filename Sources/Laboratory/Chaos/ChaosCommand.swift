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
import Synchronization

/// Breaks everything that can break while sends go on, and holds what was accepted against what arrived.
enum ChaosCommand {
  static let command = Command(
    name: "chaos", summary: "inject every kind of fault while sending, and prove that nothing was lost",
    about: """
      Starts a private Redis that writes to disk, the sandbox, an API and several workers, each in its own process.
      While direct sends, lists and audiences are sent, it kills, stops and restarts workers, the API and Redis, fills
      the disk, stalls and resets the vendors, sends storms of GOAWAY, expires certificates, moves a clock and lets a
      replica take over. It plays each kind of fault once, in an order drawn from the seed, and repeats until
      --deliveries are sent. A fault that had no effect counts as a difference. Then it compares the accepted messages
      with the requests that the sandbox received: lost, out of order, doubled (at most what the crashes can explain),
      pruned, sums. The exit code is 0 only if nothing differs. The same --seed plays the same faults.
      """,
    options: [
      Command.Option("--deliveries", "N", "minimum number of deliveries (100000)"),
      Command.Option("--workers", "N", "worker processes (3)"),
      Command.Option("--seed", "N", "seed of the order and times of the faults (default: random, printed)"),
      Command.json,
    ],
    examples: ["fanfare-lab chaos", "fanfare-lab chaos --deliveries 1000000 --seed 7"]
  ) { arguments in try run(arguments) }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let deliveries = try arguments.integer("--deliveries", in: 1_000...10_000_000) ?? 100_000
    let workers = try arguments.integer("--workers", in: 2...16) ?? 3
    let seed = UInt64(try arguments.integer("--seed", in: 0...Int.max) ?? Int.random(in: 0..<1_000_000_000))
    StopSignals.block()
    Terminal.note("seed \(seed)")
    let folder = ScratchFolder()
    do {
      let stack = try ChaosStack(in: folder, workers: workers, hasReplica: true, logEntries: deliveries * 4 + 100_000)
      defer { stack.stop() }
      let result = try play(stack, deliveries, seed)
      return report(result, seed: seed, json: arguments.wantsJSON)
    } catch {
      switch error {
      case let failure as Campaign.Failure: Terminal.complain(failure.reason)
      case let failure as ChildProcess.StartFailure: Terminal.complain(failure.reason)
      case let failure as SandboxFailure: Terminal.complain(failure.reason)
      case let failure as HTTPClientFailure: Terminal.complain(failure.reason)
      default: throw error
      }
      Terminal.note(ChaosStack.lastWords(in: folder))
      Terminal.note("seed \(seed)")
      return .failure
    }
  }

  private struct Result {
    var ledger: ChaosLedger
    var differences: [String]
    var faults: [ChaosFault: Int]
    var skipped: [String]
    var repeats: Int
    var milliseconds: Int
  }

  private static func play(_ stack: ChaosStack, _ deliveries: Int, _ seed: UInt64) throws -> Result {
    let began = Clock.milliseconds
    let loop = EventLoop(name: "clients")
    let thread = loop.start()
    defer {
      loop.stop()
      thread.join()
    }
    let progress = Shared()
    let (url, key, control) = (stack.url, stack.key, stack.vendors.ports.control)
    let clients = try Blocking.on(loop) {
      Clients(
        ChaosLoad(
          loop: loop, gateway: Client(loop: loop, base: url, key: key, connections: 16), deliveries: deliveries
        ) { now in progress.value.withLock { $0 = now } },
        Campaign(
          loop: loop, gateway: Client(loop: loop, base: url, key: key),
          sandbox: Client(loop: loop, base: "http://127.0.0.1:\(control)")))
    }
    let load = loop.spawn { await clients.load.run() }
    var random = ChaosRandom(seed: seed)
    var played: [ChaosFault: Int] = [:]
    var differences: [String] = []
    var round = random.round()
    var isFirst = true
    var bar = ProgressBar("chaos")
    while progress.now.failure == nil {
      let now = progress.now
      bar.draw(min(now.ended, deliveries), of: deliveries, round.first?.rawValue ?? "")
      if now.sent == 0 {
        usleep(20_000)
        continue
      }
      if round.isEmpty {
        isFirst = false
        round = random.round()
      }
      if !isFirst, now.sent >= deliveries { break }
      let fault = round.removeFirst()
      if fault == .clockJump, stack.clock == nil { continue }
      let hands = ChaosHands(
        rules: { rules in try Blocking.on(loop) { try await clients.campaign.script(Array(rules.utf8)) } },
        played: { kind in try Blocking.on(loop) { try await clients.campaign.played(kind) } },
        insist: { isOn in try Blocking.on(loop) { clients.load.asksReplicas = isOn } },
        unconfirmed: { try Blocking.on(loop) { clients.load.unconfirmed } },
        sent: { progress.now.sent },
        open: { progress.now.sent - progress.now.ended }, failed: { progress.now.failure != nil })
      let trouble = try fault.play(stack, &random, hands)
      if let ended = stack.ended { throw Campaign.Failure(reason: "\(ended) has ended by itself") }
      if let trouble { differences.append("\(fault.rawValue): \(trouble)") }
      played[fault, default: 0] += 1
      usleep(UInt32(100 + random.below(300)) * 1_000)
    }
    try Blocking.on(loop) { clients.load.finish() }
    while !progress.now.isOver { usleep(20_000) }
    _ = load
    bar.end("\(progress.now.ended) deliveries, \(played.values.reduce(0, +)) faults")
    if let failure = progress.now.failure { throw Campaign.Failure(reason: failure) }
    let audit = try Blocking.on(loop) {
      Audit(
        sends: clients.load.sends, arrivals: try await arrivals(clients.campaign), everyone: clients.load.everyone,
        living: try await clients.load.living(), repeats: clients.load.repeats)
    }
    let ledger = ChaosLedger(
      sends: audit.sends, arrivals: audit.arrivals, everyone: audit.everyone,
      crashes: played.reduce(0) { $0 + $1.key.losers(of: stack.workers.count) * $1.value })
    if audit.living != audit.everyone.count {
      differences.append("\(audit.everyone.count - audit.living) live tokens were pruned")
    }
    return Result(
      ledger: ledger, differences: differences + ledger.differences, faults: played,
      skipped: stack.clock == nil
        ? ["a clock that jumps: libfaketime is not installed, or a sanitizer leaves it no room"] : [],
      repeats: audit.repeats,
      milliseconds: Clock.milliseconds - began)
  }

  /// What the stand-ins took, oldest first.
  private static func arrivals(_ campaign: Campaign) async throws -> [ChaosArrival] {
    var found: [ChaosArrival] = []
    try await campaign.eachEntry { entry in
      guard entry["accepted"]?.bool == true, let text = entry["body"]?.string,
        let body = try? JSON.parse(Array(text.utf8))
      else { return }
      let data = body["n"] ?? body["message"]?["data"]?["n"] ?? body["data"]?["n"]
      found.append(
        ChaosArrival(
          provider: entry["provider"]?.string ?? "", token: entry["token"]?.string ?? "",
          message: data?.string.flatMap { Int($0) } ?? -1, answered: entry["status"]?.integer ?? 0 != 0,
          isKnown: entry["provider"]?.string == "onesignal" && entry["duplicate"]?.bool == true))
    }
    return found
  }

  private struct Audit: Sendable {
    var sends: [ChaosSend]
    var arrivals: [ChaosArrival]
    var everyone: [String]
    var living: Int
    var repeats: Int
  }

  /// Touched on their loop only.
  private final class Clients: @unchecked Sendable {
    let load: ChaosLoad
    let campaign: Campaign
    init(_ load: ChaosLoad, _ campaign: Campaign) {
      self.load = load
      self.campaign = campaign
    }
  }

  private final class Shared: Sendable {
    let value = Mutex(ChaosProgress())
    var now: ChaosProgress { value.withLock { $0 } }
  }

  private static func report(_ result: Result, seed: UInt64, json: Bool) -> ExitCode {
    let ledger = result.ledger
    let faults = result.faults.map { ($0.key.rawValue, $0.value) }.sorted { $0.0 < $1.0 }
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("seed", seed)
      writer.member("deliveries", ledger.deliveries)
      writer.member("lost", ledger.lost)
      writer.member("out_of_order", ledger.outOfOrder)
      writer.member("overtaken", ledger.overtaken)
      writer.member("duplicates", ledger.duplicates)
      writer.member("duplicates_bound", ledger.bound)
      writer.member("answers_lost", ledger.unanswered)
      writer.member("requests_repeated", result.repeats)
      writer.member("duration_ms", result.milliseconds)
      writer.objects("faults", faults) { writer, item in
        writer.member("fault", item.0)
        writer.member("count", item.1)
      }
      writer.key("differences")
      writer.beginArray()
      for difference in result.differences { writer.string(difference) }
      writer.endArray()
      writer.endObject()
      Terminal.print(writer.bytes)
    } else {
      var table = Table()
      table.row("deliveries", "\(ledger.deliveries)", "accepted with 202")
      table.row("lost", "\(ledger.lost)", "")
      table.row("out of order", "\(ledger.outOfOrder)", "first arrivals of direct sends; \(ledger.overtaken) overtaken")
      table.row("doubled", "\(ledger.duplicates)", "at most \(ledger.bound) by the crashes and lost answers")
      table.row("repeated", "\(result.repeats)", "requests refused with 503 or unanswered, sent again by the clients")
      table.row("time", Campaign.seconds(Int64(result.milliseconds)), "seed \(seed)")
      for (name, count) in faults { table.row("fault", "\(count)", name) }
      Terminal.print(table.text)
    }
    for skipped in result.skipped { Terminal.note("  not played: \(skipped)") }
    guard result.differences.isEmpty else {
      Terminal.complain("\(result.differences.count) differences (seed \(seed)):")
      for difference in result.differences.prefix(20) { Terminal.note("  \(difference)") }
      return .failure
    }
    if !json { Terminal.print("  Nothing lost, nothing out of order, no live token pruned, all sums exact.") }
    return .success
  }
}
