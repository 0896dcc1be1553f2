import Domain
import GatewayClient
import Glibc
import JSON
import Loop
import Processes

/// How fast one worker loop sends what was accepted before, and what each part costs. The message is accepted with no worker
/// running; then one starts on a core of its own, while Redis, the API and the responders share the other. The rate is the
/// responders': between the first request and the last.
struct DispatchBench {
  let scenario: DispatchScenario
  let populations: Populations
  var devices = 100_000
  var measuresH2Load = true

  /// Milliseconds.
  private static let longest = 600_000

  /// On the main thread.
  func run(_ announce: (String) -> Void = { _ in }) throws -> Reading {
    let expected = scenario.reachable(of: devices)
    let stage = try BenchStage(
      responders: scenario.providers.map { responder($0) }, connections: scenario.connections,
      dump: try populations.dump(scenario, count: devices), shortened: scenario.faults)
    defer { stage.close() }
    announce(stage.configuration)
    let url = try stage.url()
    let (key, socket) = (stage.key, stage.redis.socket)
    let messages = self.messages
    let accepting = Clock.milliseconds
    let acceptingCPU = ProcessTimes.microseconds(of: stage.apiID)
    let (ids, before) = try Blocking.run { loop in
      let gauge = try await RedisGauge(loop, socket: socket)
      defer { gauge.close() }
      let before = try await gauge.stored()
      return (try await Self.accept(messages, Client(loop: loop, base: url, key: key)), before)
    }
    let accepted = Clock.milliseconds - accepting
    let acceptedCPU = ProcessTimes.microseconds(of: stage.apiID) - acceptingCPU

    let worker = try stage.worker()
    defer { worker.stop() }
    let began = Costs(stage, worker.id)
    let urgent = scenario.urgent
    let watched = try Blocking.run { loop in
      let gauge = try await RedisGauge(loop, socket: socket)
      defer { gauge.close() }
      var watch = CampaignWatch(
        loop: loop, client: Client(loop: loop, base: url, key: key), gauge: gauge, bytesBefore: before)
      try await watch.finish(ids, expected: expected, urgent: urgent, timeout: Int64(Self.longest))
      return watch.seen
    }
    let spent = Costs(stage, worker.id) - began
    var reading = Reading()
    reading[.memory] = Double(ProcessTimes.peakMemory(of: worker.id) >> 20)
    worker.stop()
    let tallies = try stage.responders.mapValues { try $0.stop() }
    for (provider, tally) in tallies where provider != scenario.stalled {
      let share = scenario.devices(provider, of: devices)
      if tally.recipients < share {
        reading.faults.append("\(provider.rawValue): \(tally.recipients) of \(share) came")
      }
    }
    if watched.ended < expected { reading.faults.append("\(watched.ended) of \(expected) have ended") }
    try rate(tallies, expected: expected, &reading)
    let each = Double(expected)
    reading[.gateway] = spent.worker / each
    reading[.redis] = spent.redis / each
    reading[.together] = (spent.worker + spent.redis) / each
    reading[.responder] = spent.responders / each
    reading[.queued] = Double(watched.most)
    reading[.proof] = Double(watched.left)
    reading[.slow] = Double(watched.slow)
    reading[.slowest] = Double(watched.slowest)
    if scenario.listed != nil {
      reading[.accepts] = each * 1_000 / Double(max(1, accepted))
      reading[.acceptCPU] = Double(acceptedCPU) / each
    }
    reading.latency(watched.sent, watched.taken, tallies[.apns]?.marked ?? [:])
    if measuresH2Load {
      try H2Load.compare(&reading, requests: max(50_000, expected / 2), folder: stage.folder, log: stage.log)
    }
    return reading
  }

  private func responder(_ provider: ProviderName) -> ResponderSettings {
    var settings = ResponderSettings()
    settings.provider = provider
    settings.streams = scenario.streams
    settings.delay = scenario.delay
    settings.faults = scenario.faults
    settings.goaway = scenario.goaway
    settings.stalled = scenario.stalled == provider
    settings.milestone = scenario.devices(provider, of: devices)
    return settings
  }

  /// Until each provider's requests had come as often as it has devices: what comes later are repetitions.
  private func rate(_ tallies: [ProviderName: ResponderTally], expected: Int, _ reading: inout Reading) throws {
    var rate = 0.0
    for (provider, tally) in tallies where provider != scenario.stalled {
      guard let first = tally.first, let end = tally.milestone ?? tally.last, first < end else { continue }
      let seconds = Double(end.nanoseconds - first.nanoseconds) / 1e9
      rate += Double(min(tally.recipients, scenario.devices(provider, of: devices))) / seconds
    }
    reading[.rate] = rate
  }

  private var messages: [[UInt8]] {
    guard let size = scenario.listed else { return [BenchMessage.audience(personal: scenario.personal)] }
    return stride(from: 0, to: devices, by: size).map { BenchMessage.listed($0..<min(devices, $0 + size)) }
  }

  /// One after the other; their ids.
  private static func accept(_ messages: [[UInt8]], _ client: Client) async throws -> [String] {
    defer { client.close() }
    var ids: [String] = []
    for message in messages {
      let answer = try await client.call("POST", "/v1/messages", message)
      guard answer.isSuccess, let id = answer.document?["id"]?.string else {
        throw BenchFailure(reason: "a message was refused: \(answer.problem)")
      }
      ids.append(id)
    }
    return ids
  }
}

/// CPU microseconds of all who take part.
struct Costs {
  var worker: Double
  var redis: Double
  var responders: Double

  init(_ stage: BenchStage, _ id: pid_t) {
    worker = Double(ProcessTimes.microseconds(of: id))
    redis = Double(ProcessTimes.microseconds(of: stage.redis.id))
    responders = stage.responders.values.reduce(0) { $0 + Double(ProcessTimes.microseconds(of: $1.id)) }
  }

  static func - (left: Costs, right: Costs) -> Costs {
    var difference = left
    difference.worker -= right.worker
    difference.redis -= right.redis
    difference.responders -= right.responders
    return difference
  }
}
