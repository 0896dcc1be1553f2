import Domain
import Testing

@testable import Delivery

@Suite("The window of bulk")
struct BulkWindowTests {
  /// A peer that takes `delay` milliseconds for each answer, and gives at most `rate` a second, in order. Bulk keeps as
  /// many requests at work as it may, up to `capacity`.
  private struct Peer {
    var window = BulkWindow(BulkWindowSettings())
    var capacity = 1_000
    var hasUrgent = false
    private var now = 0.0
    private var free = 0.0
    private var inFlightRequests: [(began: Double, ends: Double)] = []
    private var first = 0

    private func instant(_ milliseconds: Double) -> Instant { Instant(nanoseconds: UInt64(milliseconds * 1e6)) }

    /// Answers a second, and the mean of the last thousand.
    mutating func run(_ answers: Int, rate: Double = 1e9, delay: (Double) -> Double) -> (rate: Double, time: Double) {
      let start = now
      var last: [Double] = []
      for number in 0..<answers {
        while inFlightRequests.count - first < min(capacity, window.bound ?? .max) {
          let ends = max(now + delay(now), free + 1_000 / rate)
          free = ends
          inFlightRequests.append((now, ends))
        }
        if hasUrgent { window.urgentCame(now: instant(now)) }
        let inFlight = inFlightRequests[first]
        let atWork = inFlightRequests.count - first
        first += 1
        now = max(now, inFlight.ends)
        let time = now - inFlight.began
        if number >= answers - 1_000 { last.append(time) }
        window.answered(
          took: time, began: instant(inFlight.began), atWork: atWork, capacity: capacity, now: instant(now))
      }
      return (Double(answers) * 1_000 / (now - start), last.reduce(0, +) / Double(last.count))
    }
  }

  @Test(
    "a peer that is as busy as can be stays so, and what comes new waits for few of the others",
    arguments: [(35_000.0, 0.5), (75_000, 1), (20_000, 3), (50_000, 6)])
  func busy(_ rate: Double, _ delay: Double) {
    var peer = Peer()
    let found = peer.run(60_000, rate: rate) { _ in delay }
    #expect(found.rate > rate * 0.97, "\(found)")
    #expect(found.time < 1.5 * max(2 * delay, delay + 5), "\(found)")
    let later = peer.run(200_000, rate: rate) { _ in delay }
    #expect(later.rate > rate * 0.97 && later.time < 1.5 * max(2 * delay, delay + 5), "\(later)")
  }

  @Test("while urgent requests come they wait for still fewer, and not for ever after")
  func besideUrgent() {
    var peer = Peer()
    let (rate, delay) = (50_000.0, 1.0)
    let alone = peer.run(60_000, rate: rate) { _ in delay }
    peer.hasUrgent = true
    let beside = peer.run(60_000, rate: rate) { _ in delay }
    #expect(beside.rate > rate * 0.97 && beside.time < 1.5 * (delay + 2), "\(beside)")
    #expect(beside.time < alone.time * 0.8, "\(beside), \(alone)")
    peer.hasUrgent = false
    let after = peer.run(400_000, rate: rate) { _ in delay }
    #expect(after.time > beside.time * 1.25, "\(after), \(beside)")
  }

  @Test("a peer that is far away, or is so from now on, is asked for as much as it takes")
  func far() {
    var peer = Peer()
    _ = peer.run(20_000) { _ in 50 }
    #expect(peer.window.bound == nil)
    let slower = peer.run(60_000) { _ in 160 }
    #expect(slower.rate > 0.9 * 1_000 / 0.16, "\(slower)")
    let quick = peer.run(60_000) { _ in 40 }
    #expect(quick.rate > 0.9 * 1_000 / 0.04 && peer.window.bound == nil, "\(quick)")
  }

  @Test("answers whose time goes up and down by itself cost little of the rate")
  func uneasy() {
    func run(_ settings: BulkWindowSettings) -> Double {
      var peer = Peer()
      peer.window = BulkWindow(settings)
      return peer.run(200_000) { now in Int(now / 700).isMultiple(of: 2) ? 40 : 130 }.rate
    }
    var free = BulkWindowSettings()
    free.minimum = 1_000
    #expect(run(BulkWindowSettings()) > 0.9 * run(free))
  }

  @Test("a bound that is not reached stays, and few requests are never fewer")
  func minimum() {
    var window = BulkWindow(BulkWindowSettings())
    func answer(took: UInt64, atWork: Int, from: UInt64) {
      for number in 0..<100 as Range<UInt64> {
        window.answered(
          took: Double(took), began: at(from + number), atWork: atWork, capacity: 1_000, now: at(from + number + took))
      }
    }
    answer(took: 1, atWork: 4, from: 0)
    answer(took: 400, atWork: 90, from: 100)
    #expect(window.bound == nil)
    answer(took: 40, atWork: 900, from: 1_000)
    #expect(window.bound == 450)
    answer(took: 10, atWork: 20, from: 2_000)
    #expect(window.bound == 450 && window.room(atWork: 449) == 1)
  }
}
