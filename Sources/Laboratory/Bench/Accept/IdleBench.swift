import Domain
import GatewayClient
import Glibc
import Loop

/// A gateway with nothing to do, and single sends to it now and then: what it costs, and how soon a push is on its way.
struct IdleBench {
  private static let quiet: UInt32 = 5
  private static let sends = 300
  private static let pause: Int64 = 10

  static let figures: [Metric: Double] = [.idle: 1, .median: 2, .late: 10]
  static let about = "nothing to do; then single sends: from the client's request to the provider's door"

  /// On the main thread.
  func run(_ announce: (String) -> Void) throws -> Reading {
    let stage = try BenchStage(responders: [ResponderSettings()], connections: 2, fsync: "everysec")
    defer { stage.close() }
    announce(stage.configuration)
    let server = try GatewayProcess(config: stage.file, log: stage.log, core: BenchStage.workerCore)
    defer { server.stop() }
    // Leases are taken and connections made.
    sleep(2)
    var reading = Reading()
    let before = ProcessTimes.microseconds(of: server.id)
    sleep(Self.quiet)
    reading[.idle] = Double(ProcessTimes.microseconds(of: server.id) - before) / Double(Self.quiet) / 1e4
    let (url, key) = (server.url, stage.key)
    let sent = try Blocking.run { loop in
      let client = Client(loop: loop, base: url, key: key)
      defer { client.close() }
      var sent: [String: Int64] = [:]
      for number in 0..<Self.sends {
        let body = BenchMessage.listed(number..<number + 1, head: ResponderTally.mark)
        let began = Int64(loop.now.nanoseconds)
        let answer = try await client.call("POST", "/v1/messages", body)
        guard answer.isSuccess else { throw BenchFailure(reason: "a message was refused: \(answer.problem)") }
        // The first few open connections.
        if number >= 20 { sent[BenchMessage.token(number, head: ResponderTally.mark)] = began }
        await loop.sleep(milliseconds: Self.pause)
      }
      await loop.sleep(milliseconds: 500)
      return sent
    }
    guard let tally = try stage.responders[.apns]?.stop() else { return reading }
    let times = sent.compactMap { token, time in tally.marked[token].map { Double($0 - time) / 1e6 } }.sorted()
    guard times.count == sent.count else { throw BenchFailure(reason: "\(sent.count - times.count) did not arrive") }
    reading[.median] = times[times.count / 2]
    reading[.late] = times[times.count * 99 / 100]
    return reading
  }
}
