import Domain
import Support
import Testing

@testable import Delivery

/// A pool whose peer has answered nothing yet, with requests before all others that it never answers.
@Suite("A pool without an answer")
struct ColdPoolTests {
  private let wide: (PoolPlan.ConnectionSlot) -> (free: Int, limit: Int) = { _ in (100, 100) }

  /// A credential's queue over a pool, by milliseconds: what is healthy is answered at once, all else after the
  /// time-out.
  private struct World {
    var plan: PoolPlan
    /// True: healthy.
    var queue: [Bool] = []
    var opened: [UInt64] = []
    var stuck: [(connectionSlot: PoolPlan.ConnectionSlot, since: UInt64)] = []
    var answered: UInt64?
    let answerTimeout: UInt64

    mutating func turn(_ now: UInt64, handshake: UInt64) {
      for (connectionSlot, _) in stuck.filter({ $0.since + answerTimeout <= now }) {
        plan.ended(connectionSlot, answered: false)
        plan.left(connectionSlot)
        plan.closed(connectionSlot, failed: false, now: at(now), jitter: 0.5)
      }
      stuck.removeAll { $0.since + answerTimeout <= now }
      for (connectionSlot, connection) in plan.connections where connection.state == .connecting {
        if opened[connectionSlot - 1] + handshake <= now { plan.connected(connectionSlot) }
      }
      while !queue.isEmpty, answered == nil {
        guard let connectionSlot = plan.connectionSlot(avoiding: nil, reserve: 0, room: { _ in (1, 1) }) else {
          if case .connect = plan.demanded(now: at(now)) { opened.append(now) }
          return
        }
        let isHealthy = plan.wantsAnother(connectionSlot) ? queue.removeLast() : queue.removeFirst()
        plan.submitted(connectionSlot, now: at(now))
        guard isHealthy else {
          stuck.append((connectionSlot, now))
          continue
        }
        plan.ended(connectionSlot, answered: true)
        answered = now
      }
    }
  }

  @Test("whenever healthy requests come, one is found by the second connection after that", arguments: 1...200)
  func healthyIsFound(seed: Int) {
    var random = Seeded(seed: UInt64(seed))
    let poisoned = Int.random(in: 1...120, using: &random)
    let comes = UInt64.random(in: 0...10_000, using: &random) * 10
    let handshake = UInt64.random(in: 1...200, using: &random)
    let isBehind = Bool.random(using: &random)
    var world = World(
      plan: PoolPlan(maximum: 2, cautious: true, settings: PoolSettings()), answerTimeout: 30_000)
    world.queue = Array(repeating: false, count: poisoned)
    var now: UInt64 = 0
    while world.answered == nil, now <= comes + 60_000 {
      // One after the other, a second apart, behind all others or before them.
      if now >= comes, (now - comes).isMultiple(of: 1_000) {
        world.queue.insert(true, at: isBehind ? world.queue.count : 0)
      }
      world.turn(now, handshake: handshake)
      #expect(world.stuck.count <= PoolSettings().stuckMaximum)
      now += 10
    }
    let patience = UInt64(PoolSettings().provePatience)
    let waited = world.answered.map { $0 - comes }
    #expect(waited.map { $0 <= 2 * (patience + handshake + 20) } == true, "seed \(seed): \(String(describing: waited))")
    for (number, time) in world.opened.enumerated() where number > 1 {
      #expect(time - world.opened[number - 2] >= 2 * patience, "seed \(seed): two connections a second at most")
    }
  }

  @Test("those that opened meanwhile are left once one is answered, the idle first, and no more than the maximum stay")
  func surplus() {
    var plan = PoolPlan(maximum: 2, cautious: true, settings: PoolSettings())
    for number in 1...10 {
      let now = at(UInt64(number) * 1_000)
      #expect(plan.demanded(now: now) == .connect(number))
      plan.connected(number)
      plan.submitted(number, now: now)
    }
    #expect(plan.surplus.isEmpty)
    plan.ended(3, answered: true)
    plan.ended(4, answered: true)
    #expect(plan.surplus.isEmpty)
    // Late, and without an answer.
    plan.ended(5, answered: false)
    #expect(plan.surplus == [5])
    plan.left(5)
    plan.submitted(3, now: at(11_000))
    plan.ended(6, answered: true)
    #expect(plan.surplus == [4])
  }

  @Test("in place of a silent connection another opens at once; who speaks again is left if it is one too many")
  func silent() {
    var plan = PoolPlan(maximum: 1, cautious: false, settings: PoolSettings())
    _ = plan.demanded(now: at(0))
    plan.connected(1)
    plan.submitted(1, now: at(0))
    plan.ended(1, answered: true)
    plan.submitted(1, now: at(1))
    #expect(plan.demanded(now: at(1)) == .none)
    plan.silenceChanged(1, isSilent: true)
    #expect(plan.demanded(now: at(2)) == .connect(2))
    plan.connected(2)
    #expect(plan.surplus.isEmpty)
    plan.silenceChanged(1, isSilent: false)
    #expect(plan.surplus == [2])
    // The other one is of more use by now.
    plan.submitted(2, now: at(3))
    plan.submitted(2, now: at(3))
    #expect(plan.surplus == [1])
  }
}
