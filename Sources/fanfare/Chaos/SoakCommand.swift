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
      let watch = try play(stack, minutes: minutes, rate: rate)
      return report(watch, minutes: minutes, json: arguments.wantsJSON)
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

  private static func play(_ stack: ChaosStack, minutes: Int, rate: Int) throws -> ResourceWatch {
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
        load: SoakLoad(loop: loop, gateway: gateway, rate: rate),
        redis: Redis(loop: loop, endpoint: RedisEndpoint(.unix(path: socket))))
    }
    try Blocking.on(loop) { try await clients.load.begin() }
    var watch = ResourceWatch(stack)
    var bar = ProgressBar("soak")
    let rounds = minutes * 60_000 / interval
    for round in 0..<rounds {
      usleep(UInt32(interval) * 1_000)
      if let ended = stack.ended { throw Campaign.Failure(reason: "\(ended) has ended by itself") }
      if StopSignals.isPending { throw Campaign.Failure(reason: "asked to stop") }
      let (used, sent) = try Blocking.on(loop) { (try await clients.usedMemory(), try clients.load.check()) }
      watch.look(redis: used)
      bar.draw(round + 1, of: rounds, "\(sent) deliveries")
    }
    let sent = try Blocking.on(loop) { () async throws -> Int in
      await clients.load.end()
      return try clients.load.check()
    }
    bar.end("\(sent) deliveries in \(minutes) min")
    return watch
  }

  private static func report(_ watch: ResourceWatch, minutes: Int, json: Bool) -> ExitCode {
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("minutes", minutes)
      watch.write(to: &writer)
      writer.endObject()
      Terminal.print(writer.bytes)
    } else {
      Terminal.print(watch.table)
    }
    return watch.isFlat ? .success : .failure
  }

  /// Touched on their loop only.
  private final class SoakClients: @unchecked Sendable {
    let load: SoakLoad
    private let redis: Redis
    init(load: SoakLoad, redis: Redis) {
      self.load = load
      self.redis = redis
    }
    func usedMemory() async throws -> Int64 { Int64(try await RedisMemory(of: redis).used) }
  }
}
