import CommandFrame
import Domain
import GatewayClient
import JSON
import Loop

/// Waits for messages to end and watches Redis meanwhile; rarely, as it shares a core with it.
struct CampaignWatch {
  let loop: EventLoop
  let client: Client
  let gauge: RedisGauge
  let bytesBefore: Int
  private(set) var seen = Seen()

  struct Seen: Sendable {
    /// Deliveries with an outcome.
    var ended = 0
    /// Redis bytes beyond those before: at most, and in the end.
    var most = 0
    var left = 0
    var slow = 0
    var slowest: Int64 = 0
    /// Urgent sends: by token, when the request was made, in nanoseconds.
    var sent: [String: Int64] = [:]
    /// … and how long it took to be accepted, in milliseconds.
    var taken: [Double] = []
  }

  init(loop: EventLoop, client: Client, gauge: RedisGauge, bytesBefore: Int) {
    self.loop = loop
    self.client = client
    self.gauge = gauge
    self.bytesBefore = bytesBefore
  }

  private static let pause: Int64 = 50
  /// What is left to do for the owner when the last outcome is written.
  private static let settling: Int64 = 300

  mutating func finish(_ ids: [String], expected: Int, urgent: Bool, timeout: Int64) async throws {
    defer { client.close() }
    var bar = ProgressBar("dispatching")
    let deadline = loop.now + timeout
    let load = UrgentLoad(loop: loop, client: client)
    defer { (seen.sent, seen.taken) = (load.sent, load.taken) }
    var done = 0
    for id in ids {
      while true {
        let answer = try await client.call("GET", "/v1/messages/\(id)")
        guard answer.isSuccess, let report = answer.document else {
          throw BenchFailure(reason: "a message cannot be read: \(answer.problem)")
        }
        let counts = MessageCounts(report)
        let ended = counts.outcomes.values.reduce(0, +)
        seen.ended = done + ended
        bar.draw(seen.ended, of: expected)
        if report["state"]?.string == "completed" || seen.ended >= expected { break }
        guard loop.now < deadline else {
          throw BenchFailure(reason: "not dispatched after \(timeout / 1_000) s\(counts.text)")
        }
        seen.most = max(seen.most, try await gauge.stored() - bytesBefore)
        if urgent { try await load.send(for: Self.pause * 2) } else { await loop.sleep(milliseconds: Self.pause) }
      }
      done = seen.ended
    }
    bar.end("\(seen.ended) ended")
    await loop.sleep(milliseconds: Self.settling)
    seen.left = try await gauge.stored() - bytesBefore
    (seen.slow, seen.slowest) = try await gauge.slow()
  }
}
