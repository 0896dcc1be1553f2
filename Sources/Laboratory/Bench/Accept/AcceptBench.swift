import Domain
import Glibc
import JSON
import Loop

/// How fast the API accepts: it has a core of its own, the client and Redis share the other. The client is one thread that
/// makes nothing but requests.
struct AcceptBench {
  let scenario: AcceptScenario
  var messages = 100_000

  private static let connections = 64
  private static let bulkConnections = 4
  private static let seconds = 5.0

  /// On the main thread.
  func run(_ announce: (String) -> Void) throws -> Reading {
    var settings = ResponderSettings()
    settings.milestone = messages
    let stage = try BenchStage(responders: [settings], connections: 2, fsync: scenario.fsync)
    defer { stage.close() }
    announce(stage.configuration)
    let server = try GatewayProcess(
      config: stage.file, log: stage.log, core: BenchStage.workerCore,
      arguments: scenario.dispatches ? [] : ["--api-only"])
    defer { server.stop() }
    guard let port = server.url.split(separator: ":").last.flatMap({ Int($0) }) else {
      throw BenchFailure(reason: "the API reported no port")
    }
    let paced = scenario.rate.map { Int($0 * Self.seconds) }
    var total = paced ?? messages
    var connections = Self.connections
    var each = 1
    if case .bulk(let lines) = scenario.way {
      each = lines
      total = max(1, messages / lines)
      connections = Self.bulkConnections
    }
    let (way, rate, key) = (scenario.way, scenario.rate, stage.key)
    let (count, width) = (total, connections)
    let before = Double(ProcessTimes.microseconds(of: server.id))
    let redisBefore = Double(ProcessTimes.microseconds(of: stage.redis.id))
    let outcome = try Blocking.run { loop in
      // Made before, so that nothing but sending is measured.
      let requests = (0..<count).map { Self.request($0, way, key: key) }
      let client = LoadClient(loop: loop, port: port, total: count, rate: rate) { requests[$0] }
      return try await client.run(connections: width)
    }
    var reading = Reading()
    if outcome.refused > 0 { reading.faults.append("\(outcome.refused) refused: \(outcome.firstRefusal ?? "")") }
    let accepted = Double((outcome.answered - outcome.refused) * each)
    reading[.accepts] = accepted / outcome.seconds
    reading[.median] = outcome.time(0.5)
    reading[.late] = outcome.time(0.99)
    if scenario.dispatches { try dispatched(Int(accepted), stage, server, &reading) }
    reading[scenario.dispatches ? .gateway : .acceptCPU] =
      (Double(ProcessTimes.microseconds(of: server.id)) - before) / accepted
    reading[.redis] = (Double(ProcessTimes.microseconds(of: stage.redis.id)) - redisBefore) / accepted
    reading[.memory] = Double(ProcessTimes.peakMemory(of: server.id) >> 20)
    server.stop()
    try H2Load.compare(&reading, requests: 100_000, folder: stage.folder, log: stage.log)
    return reading
  }

  /// Messages that are sent before anything is counted, and those that are.
  private static let (uncounted, counted) = (600, 2_000)

  /// Instructions that the gateway spends on a message, from its request to its answer; with a worker, to its outcome. Nil
  /// where they cannot be counted.
  func instructions() throws -> Double? {
    guard InstructionCount.isAvailable, scenario.rate == nil else { return nil }
    let stage = try BenchStage(responders: [ResponderSettings()], connections: 2, fsync: scenario.fsync)
    defer { stage.close() }
    let count = try InstructionCount(stage, arguments: scenario.dispatches ? [] : ["--api-only"])
    defer { count.gateway.stop() }
    guard let port = count.gateway.url.split(separator: ":").last.flatMap({ Int($0) }) else {
      throw BenchFailure(reason: "the API reported no port")
    }
    var (way, first, second) = (scenario.way, Self.uncounted, Self.counted)
    if case .bulk = way { (way, first, second) = (.bulk(lines: 500), 2, 8) }
    let key = stage.key
    func send(_ numbers: Range<Int>) throws {
      let outcome = try Blocking.run { [way] loop in
        let client = LoadClient(loop: loop, port: port, total: numbers.count, rate: nil) {
          Self.request(numbers.lowerBound + $0, way, key: key)
        }
        return try await client.run(connections: numbers.count < Self.connections ? 1 : Self.connections)
      }
      guard outcome.refused == 0 else { throw BenchFailure(reason: outcome.firstRefusal ?? "refused") }
      if let responder = stage.responders[.apns], scenario.dispatches { Self.waitForRest(of: responder.id) }
    }
    try send(0..<first)
    try count.begin()
    try send(first..<first + second)
    let sum = try count.end()
    if case .bulk(let lines) = way { return sum / Double(second * lines) }
    return sum / Double(second)
  }

  /// Once its time stands still everything has come, or nothing more will.
  private static func waitForRest(of process: pid_t) {
    var last: Int64 = -1
    while case let now = ProcessTimes.microseconds(of: process), now != last {
      last = now
      usleep(500_000)
    }
  }

  /// Waits until all has come to the provider. The rate: accepted and sent, from the first request there to the last.
  private func dispatched(_ count: Int, _ stage: BenchStage, _ server: GatewayProcess, _ reading: inout Reading) throws
  {
    guard let responder = stage.responders[.apns] else { return }
    Self.waitForRest(of: responder.id)
    let tally = try responder.stop()
    guard let first = tally.first, let end = tally.milestone ?? tally.last, first < end else { return }
    reading[.rate] = Double(min(count, tally.recipients)) / (Double(end.nanoseconds - first.nanoseconds) / 1e9)
    if tally.recipients < count { reading.faults.append("\(tally.recipients) of \(count) came") }
  }

  private static func request(_ number: Int, _ way: AcceptScenario.Way, key: String) -> [UInt8] {
    let (path, type, body): (String, String, [UInt8])
    switch way {
    case .single:
      (path, type) = ("/v1/messages", "application/json")
      body = BenchMessage.listed(number..<number + 1)
    case .bulk(let lines):
      (path, type) = ("/v1/messages/bulk", "application/x-ndjson")
      body = (number * lines..<(number + 1) * lines).flatMap { BenchMessage.listed($0..<$0 + 1) + [0x0a] }
    }
    let head = """
      POST \(path) HTTP/1.1\r
      Host: 127.0.0.1\r
      Authorization: Bearer \(key)\r
      Content-Type: \(type)\r
      Content-Length: \(body.count)\r
      \r

      """
    return Array(head.utf8) + body
  }
}
