import Domain
import Glibc
import HTTPClient
import JSON
import Loop
import RedisClient
import Sandbox

/// A steady load for a long time: memory, descriptors and Redis must stay as they are.
enum SoakCommand {
  static let command = Command(
    name: "soak", summary: "a steady load for half an hour: memory, descriptors and Redis stay flat",
    about: """
      Starts the stack of `fanfare chaos` and breaks nothing: lists, audiences and direct sends at an even pace, with some
      429 and 503, and a GOAWAY now and then. Every five seconds it looks at the memory and the descriptors of each process
      and at Redis. After a warm-up of a quarter of the time the middle of the second quarter is compared with that of the
      last. Exit code 0 if nothing grew.
      """,
    options: [
      Command.Option("--minutes", "N", "how long (30)"),
      Command.Option("--rate", "N", "deliveries a second, about (500)"), Command.json,
    ],
    examples: ["fanfare soak", "fanfare soak --minutes 3"]
  ) { arguments in try run(arguments) }

  /// A store whose finished messages go soon, so that what is kept has an end.
  private static let retention = #"retention: { time: "60s", bytes: "8MiB" },"#
  private static let rules = """
    [{"provider":"apns","status":429,"reason":"TooManyRequests","share":0.01,"times_per_token":1},
     {"provider":"fcm","status":503,"reason":"UNAVAILABLE","share":0.005,"times_per_token":1},
     {"provider":"apns","action":"goaway","share":0.0001}]
    """
  private static let interval = 5_000

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let minutes = try arguments.integer("--minutes", in: 2...1_440) ?? 30
    let rate = try arguments.integer("--rate", in: 50...100_000) ?? 500
    StopSignals.block()
    let folder = ScratchFolder()
    do {
      let stack = try ChaosStack(in: folder, workers: 2, more: retention, logEntries: 50_000)
      defer { stack.stop() }
      let series = try play(stack, minutes: minutes, rate: rate)
      return report(series, minutes: minutes, json: arguments.wantsJSON)
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

  private static func play(_ stack: ChaosStack, minutes: Int, rate: Int) throws -> [SoakSeries] {
    let loop = EventLoop(name: "clients")
    let thread = loop.start()
    defer {
      loop.stop()
      thread.join()
    }
    let (url, key, control, socket) = (stack.url, stack.key, stack.vendors.ports.control, stack.redis.socket)
    let clients = try Blocking.on(loop) {
      let gateway = Client(loop: loop, base: url, key: key)
      let sandbox = Client(loop: loop, base: "http://127.0.0.1:\(control)")
      try await Campaign(loop: loop, gateway: gateway, sandbox: sandbox).script(Array(rules.utf8))
      return SoakClients(
        loop: loop, load: SoakLoad(loop: loop, gateway: gateway, rate: rate),
        redis: Redis(loop: loop, endpoint: RedisEndpoint(.unix(path: socket))))
    }
    try Blocking.on(loop) { try await clients.load.begin() }
    var memory = SoakSeries("Redis' memory", slack: 4 << 20)
    var processes: [(name: String, id: pid_t)] = [("api", stack.api.id)]
    for (place, worker) in stack.workers.enumerated() { processes.append(("worker \(place + 1)", worker.id)) }
    var resident = processes.map { SoakSeries("\($0.name), memory", slack: 8 << 20) }
    var descriptors = processes.map { SoakSeries("\($0.name), descriptors", slack: 5, isCount: true) }
    var bar = ProgressBar("soak")
    let rounds = minutes * 60_000 / interval
    for round in 0..<rounds {
      usleep(UInt32(interval) * 1_000)
      if let ended = stack.ended { throw Campaign.Failure(reason: "\(ended) has ended by itself") }
      if StopSignals.isPending { throw Campaign.Failure(reason: "asked to stop") }
      let (used, sent) = try Blocking.on(loop) { (try await clients.usedMemory(), try clients.load.check()) }
      memory.add(used)
      for (place, process) in processes.enumerated() {
        resident[place].add(ProcessTimes.memory(of: process.id))
        descriptors[place].add(ProcessTimes.descriptors(of: process.id))
      }
      bar.draw(round + 1, of: rounds, "\(sent) deliveries")
    }
    let sent = try Blocking.on(loop) { () async throws -> Int in
      await clients.load.end()
      return try clients.load.check()
    }
    bar.end("\(sent) deliveries in \(minutes) min")
    return resident + descriptors + [memory]
  }

  private static func report(_ series: [SoakSeries], minutes: Int, json: Bool) -> ExitCode {
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("minutes", minutes)
      for one in series {
        writer.key(one.name)
        writer.beginObject()
        writer.member("begin", one.begin)
        writer.member("early", one.early)
        writer.member("late", one.late)
        writer.member("flat", one.isFlat)
        writer.endObject()
      }
      writer.endObject()
      Terminal.print(writer.bytes)
    } else {
      var table = Table()
      table.row("", "begin", "early", "late", "")
      for one in series {
        let figures = [one.begin, one.early, one.late].map(one.text)
        table.row([one.name] + figures + [one.isFlat ? "flat" : "GROWS"])
      }
      Terminal.print(table.text)
    }
    return series.allSatisfy(\.isFlat) ? .success : .failure
  }

  /// Touched on their loop only.
  private final class SoakClients: @unchecked Sendable {
    let loop: EventLoop
    let load: SoakLoad
    private let redis: Redis
    init(loop: EventLoop, load: SoakLoad, redis: Redis) {
      self.loop = loop
      self.load = load
      self.redis = redis
    }
    func usedMemory() async throws -> Int64 {
      let info = try await redis.call(RedisCommand("INFO", "memory")).text ?? ""
      let line = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix("used_memory:") }
      return line.flatMap { Int64($0.dropFirst("used_memory:".count)) } ?? 0
    }
  }
}

/// One figure over time: the median of the second quarter against that of the last.
struct SoakSeries {
  let name: String
  private let slack: Int64
  private let isCount: Bool
  private var values: [Int64] = []

  init(_ name: String, slack: Int64, isCount: Bool = false) {
    self.name = name
    self.slack = slack
    self.isCount = isCount
  }

  mutating func add(_ value: Int64) { values.append(value) }

  private func median(from: Int, to: Int) -> Int64 {
    let part = values[from..<max(from, to)].sorted()
    return part.isEmpty ? 0 : part[part.count / 2]
  }
  /// Before it is warm.
  var begin: Int64 { median(from: 0, to: min(3, values.count)) }
  var early: Int64 { median(from: values.count / 4, to: values.count / 2) }
  var late: Int64 { median(from: values.count * 3 / 4, to: values.count) }
  /// Within a twentieth and what a single figure may waver by.
  var isFlat: Bool { late <= early + early / 20 + slack }

  func text(_ value: Int64) -> String {
    isCount ? "\(value)" : "\(value >> 20).\((value & 0xfffff) * 10 >> 20) MiB"
  }
}
