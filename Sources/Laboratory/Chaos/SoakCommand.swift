import CommandFrame
import Domain
import GatewayClient
import Glibc
import HTTPClient
import JSON
import Loop
import Processes
import RedisClient
import Sandbox
import Store

/// A steady load for a long time: memory, descriptors, Redis, and each family of its keys must stay as they are.
enum SoakCommand {
  static let command = Command(
    name: "soak",
    summary: "send at a steady rate while the clock jumps ahead, and check that memory, descriptors and keys stay flat",
    about: """
      Starts the stack of `fanfare-lab chaos` without its faults. Sends at an even rate: direct sends with and without
      idempotency keys, lists, long lists, audiences, scheduled and cancelled messages, while devices come and go, with
      some 429 and 503 answers and a GOAWAY now and then. Every few seconds the wall clock of all processes jumps
      forward, by more than a month in total (libfaketime; without it the clock does not jump). At each jump the command
      measures the memory and the descriptors of each process, and the keys, elements and bytes of each key family in
      Redis (docs/storage.md). It compares the middle of the second quarter with the middle of the last. The exit code
      is 0 if nothing grew, and if every record could be read (there is no `corrupt` key).
      """,
    options: [
      Command.Option("--minutes", "N", "how long (30)"),
      Command.Option("--seconds", "N", "duration, instead of --minutes"),
      Command.Option("--leaps", "N", "number of clock jumps (default: one every five seconds)"),
      Command.Option("--rate", "N", "approximate deliveries per second (500)"), Command.json,
    ],
    examples: [
      "fanfare-lab soak", "fanfare-lab soak --minutes 3", "fanfare-lab soak --seconds 40 --leaps 16 --rate 200",
    ]
  ) { arguments in try run(arguments) }

  /// A store whose finished messages go soon, so that what is kept has an end. Long lists are bulk.
  private static let settings = """
    retention: { time: "30m", bytes: "8MiB" },
    audit: { time: "30m", acts: 200, sends: 2000 },
    """
  private static let rules = """
    [{"provider":"apns","status":429,"reason":"TooManyRequests","share":0.01,"times_per_token":1},
     {"provider":"fcm","status":503,"reason":"UNAVAILABLE","share":0.005,"times_per_token":1},
     {"provider":"apns","action":"goaway","share":0.0001}]
    """
  /// Seconds that pass by the wall clock, at least: numbers of devices rest for a week, and the warm-up is a quarter.
  private static let least = 32 * 86_400
  private static let shortestLeap = 1_800
  private static let usualRound = 5_000

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let minutes = try arguments.integer("--minutes", in: 1...1_440) ?? 30
    let milliseconds = (try arguments.integer("--seconds", in: 10...3_600)).map { $0 * 1_000 } ?? minutes * 60_000
    let rounds = try arguments.integer("--leaps", in: 8...20_000) ?? max(8, milliseconds / usualRound)
    let rate = try arguments.integer("--rate", in: 50...100_000) ?? 500
    let leap = max(shortestLeap, least / rounds)
    let clock = SoakClock.take()
    defer { clock?.end() }
    StopSignals.block()
    let folder = ScratchFolder()
    do {
      let stack = try ChaosStack(
        in: folder, workers: 2, more: settings, logEntries: 50_000, ownClock: false, durable: false)
      defer { stack.stop() }
      let watches = try play(stack, clock, rounds: rounds, leap: leap, milliseconds: milliseconds, rate: rate)
      return report(watches, hours: clock == nil ? nil : rounds * leap / 3_600, json: arguments.wantsJSON)
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

  private static func play(
    _ stack: ChaosStack, _ moved: SoakClock?, rounds: Int, leap: Int, milliseconds: Int, rate: Int
  ) throws -> (resources: ResourceWatch, keys: KeyWatch) {
    var clock = moved
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
        load: SoakLoad(loop: loop, gateway: gateway, rate: rate, leap: leap),
        redis: Redis(loop: loop, endpoint: RedisEndpoint(.unix(path: socket))))
    }
    try Blocking.on(loop) { try await clients.load.begin() }
    var watches = (resources: ResourceWatch(stack), keys: KeyWatch())
    var bar = ProgressBar("soak")
    let began = Clock.milliseconds
    for round in 0..<rounds {
      // Nothing is on its way while the clocks differ.
      clock?.leap(seconds: leap)
      if clock != nil { usleep(SoakClock.settling) }
      let end = began + milliseconds * (round + 1) / rounds
      let sent = try Blocking.on(loop) { try await clients.load.play(milliseconds: max(500, end - Clock.milliseconds)) }
      if let ended = stack.ended { throw Campaign.Failure(reason: "\(ended) has ended by itself") }
      if StopSignals.isPending { throw Campaign.Failure(reason: "asked to stop") }
      let (used, held) = try Blocking.on(loop) { (try await clients.usedMemory(), try await clients.held()) }
      watches.resources.look(redis: used)
      watches.keys.look(held)
      bar.draw(round + 1, of: rounds, "\(sent) deliveries")
    }
    let sent = try Blocking.on(loop) { clients.load.sent }
    bar.end("\(sent) deliveries in \((Clock.milliseconds - began) / 1_000) s")
    return watches
  }

  /// `hours`: that have passed by the clock; nil: no more than there were.
  private static func report(
    _ watches: (resources: ResourceWatch, keys: KeyWatch), hours: Int?, json: Bool
  ) -> ExitCode {
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      if let hours { writer.member("duration_hours", hours) }
      watches.resources.write(to: &writer)
      watches.keys.write(to: &writer)
      writer.endObject()
      Terminal.print(writer.bytes)
    } else {
      Terminal.print(watches.resources.table)
      Terminal.print(watches.keys.table)
      Terminal.print(
        hours.map { "\($0) hours have passed by its clock" } ?? "libfaketime is not there: no time was left out")
    }
    return watches.resources.isFlat && watches.keys.isFlat ? .success : .failure
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
    func held() async throws -> (families: [KeyFamily: KeyWatch.Held], strangers: [String]) {
      try await KeyWatch.held(by: redis, prefix: "ff")
    }
  }
}
