import CommandFrame
import Domain
import GatewayClient
import JSON
import Loop

/// Audiences over 24 zones that start together while urgent sends go on, and before that what an audience costs Redis while it
/// is scheduled and while it is held. More recipients than devices come from more audiences of the same devices.
struct ZonesBench: Sendable {
  var devices: Int
  var audiences: Int

  static let name = "zones"
  static let figures: [Metric: Double] = [.late: 50, .scheduled: 2_000_000, .held: 2_000_000]
  var about: String {
    "\(audiences) audiences of the same \(devices) devices in 24 zones start beside urgent sends: from the request to the "
      + "provider's door"
  }

  /// Milliseconds.
  private static let longest: Int64 = 900_000
  /// Before the first zone's hour, so that all are accepted by then.
  private static let ahead: Int64 = 3_000

  /// On the main thread.
  func run(_ populations: Populations, _ announce: (String) -> Void) throws -> Reading {
    var responder = ResponderSettings()
    responder.provider = .apns
    let dump = try populations.dump([(.apns, devices)], isEven: true)
    let stage = try BenchStage(responders: [responder], connections: 2, dump: dump)
    defer { stage.close() }
    announce(stage.configuration)
    let url = try stage.url()
    let worker = try stage.worker()
    defer { worker.stop() }
    let (key, socket) = (stage.key, stage.redis.socket)
    var (reading, sent, taken) = try Blocking.run { [self] loop in
      let gauge = try await RedisGauge(loop, socket: socket)
      defer { gauge.close() }
      let client = Client(loop: loop, base: url, key: key)
      defer { client.close() }
      var reading = Reading()
      let load = UrgentLoad(loop: loop, client: Client(loop: loop, base: url, key: key))
      try await load.send(for: 1_000)
      try await bytes(client, gauge, loop, &reading)
      try await start(client, load, loop, &reading)
      let slow = try await gauge.slow()
      reading[.slow] = Double(slow.count)
      reading[.slowest] = Double(slow.longest)
      return (reading, load.sent, load.taken)
    }
    reading[.memory] = Double(ProcessTimes.peakMemory(of: worker.id) >> 20)
    worker.stop()
    let tally = try stage.responders[.apns]?.stop()
    reading.latency(sent, taken, tally?.marked ?? [:])
    return reading
  }

  /// What one costs: scheduled in an hour, and held by quiet hours.
  private func bytes(_ client: Client, _ gauge: RedisGauge, _ loop: EventLoop, _ reading: inout Reading) async throws {
    var before = try await settled(gauge, loop)
    let hour = loop.wallNow + 3_600_000
    let waiting = try await send(client, [JSONMember("send_at", .string(hour.rfc3339))])
    reading[.scheduled] = Double(try await settled(gauge, loop) - before)
    let answer = try await client.call("POST", "/v1/messages/\(waiting)/cancel")
    guard answer.isSuccess else { throw BenchFailure(reason: "it cannot be cancelled: \(answer.problem)") }
    before = try await settled(gauge, loop)
    func clock(_ time: WallTime) -> JSONValue { .string(String(time.rfc3339.dropFirst(11).prefix(5))) }
    let quiet = JSONValue.object([
      JSONMember("from", clock(loop.wallNow + -3_600_000)), JSONMember("to", clock(hour + 3_600_000)),
      JSONMember("else", .string("hold")), JSONMember("zone", .string("Etc/UTC")),
    ])
    let held = try await send(client, [JSONMember("quiet_hours", quiet)])
    reading[.held] = Double(try await settled(gauge, loop) - before)
    let counts = try await report(client, held)
    if counts.outcomes.values.contains(where: { $0 > 0 }) { reading.faults.append("what was to be held was sent") }
  }

  /// All start together: in one zone at its hour, in those further east at once.
  private func start(_ client: Client, _ load: UrgentLoad, _ loop: EventLoop, _ reading: inout Reading) async throws {
    let hour = WallTime(seconds: (loop.wallNow + Self.ahead).seconds)
    var expected: [(id: String, due: Int)] = []
    (load.sent, load.taken) = ([:], [])
    let urgent = loop.spawn { await load.run() }
    for number in 0..<audiences {
      let zone = number % BenchPopulation.zones
      let local = hour + Int64(BenchPopulation.hoursAhead(zone)) * 3_600_000
      let id = try await send(client, [JSONMember("send_at_local", .string(String(local.rfc3339.prefix(19))))])
      expected.append(
        (id, (0...zone).reduce(0) { $0 + (devices - $1 + BenchPopulation.zones - 1) / BenchPopulation.zones }))
    }
    let began = loop.now
    let all = expected.reduce(0) { $0 + $1.due }
    var bar = ProgressBar("starting")
    var done = 0
    for (id, due) in expected {
      var ended = 0
      while ended < due {
        ended = try await report(client, id).outcomes["accepted", default: 0]
        bar.draw(done + ended, of: all)
        guard loop.now - began < Self.longest else { throw BenchFailure(reason: "\(id): \(ended) of \(due) sent") }
        await loop.sleep(milliseconds: 200)
      }
      if ended > due { reading.faults.append("\(ended) of \(due) were sent") }
      done += ended
    }
    reading[.rate] = Double(all) * 1_000 / Double(max(1, loop.now - began))
    load.isOver = true
    await urgent.value
    bar.end("\(done) of \(audiences * devices) were due")
    if let failure = load.failure { reading.faults.append(failure) }
  }

  private func send(_ client: Client, _ timing: [JSONMember]) async throws -> String {
    let answer = try await client.call("POST", "/v1/messages", BenchMessage.audience(timing: timing))
    guard answer.isSuccess, let id = answer.document?["id"]?.string else {
      throw BenchFailure(reason: "a message was refused: \(answer.problem)")
    }
    return id
  }

  private func report(_ client: Client, _ id: String) async throws -> MessageCounts {
    let answer = try await client.call("GET", "/v1/messages/\(id)")
    guard answer.isSuccess, let report = answer.document else {
      throw BenchFailure(reason: "a message cannot be read: \(answer.problem)")
    }
    return MessageCounts(report)
  }

  /// Bytes stored, once they have not changed for two seconds.
  private func settled(_ gauge: RedisGauge, _ loop: EventLoop) async throws -> Int {
    var (last, same) = (0, 0)
    while same < 10 {
      await loop.sleep(milliseconds: 200)
      let now = try await gauge.stored()
      same = abs(now - last) < Self.noise ? same + 1 : 0
      if same == 0 { last = now }
    }
    return last
  }
  /// Heartbeats and buffers come and go.
  private static let noise = 8_192
}

/// Direct sends to single tokens, one after the other, each with the time of its request.
final class UrgentLoad {
  private let loop: EventLoop
  private let client: Client
  private var number = 0
  var sent: [String: Int64] = [:]
  /// Milliseconds until each was accepted.
  var taken: [Double] = []
  var isOver = false
  private(set) var failure: String?
  private static let pause: Int64 = 10

  init(loop: EventLoop, client: Client) {
    self.loop = loop
    self.client = client
  }

  /// Until it is over.
  func run() async {
    defer { client.close() }
    do {
      while !isOver { try await send(for: 100) }
    } catch {
      failure = "an urgent send failed: \(error)"
    }
  }

  func send(for milliseconds: Int64) async throws {
    let end = loop.now + milliseconds
    while loop.now < end {
      number += 1
      let body = BenchMessage.listed(number..<number + 1, head: ResponderTally.mark)
      let began = loop.now.nanoseconds
      sent[BenchMessage.token(number, head: ResponderTally.mark)] = Int64(began)
      let answer = try await client.call("POST", "/v1/messages", body)
      guard answer.isSuccess else { throw BenchFailure(reason: "an urgent message was refused: \(answer.problem)") }
      taken.append(Double(loop.now.nanoseconds - began) / 1e6)
      await loop.sleep(milliseconds: Self.pause)
    }
  }
}
