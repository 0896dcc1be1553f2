import Domain
import Testing

@testable import Delivery

@Suite("The connections of a credential")
struct PoolPlanTests {
  private func plan(maximum: Int = 2, cautious: Bool = false) -> PoolPlan {
    PoolPlan(maximum: maximum, cautious: cautious, settings: PoolSettings())
  }
  private let wide: (PoolPlan.Berth) -> (free: Int, limit: Int) = { _ in (100, 100) }

  @Test("one connection opens on demand, the next only when that one is full, never more than the maximum")
  func demand() {
    var plan = plan()
    #expect(plan.demanded(now: at(0)) == .connect(1))
    #expect(plan.demanded(now: at(1)) == .none)
    plan.connected(1)
    #expect(plan.berth(avoiding: nil, reserve: 0, room: wide) == 1)
    #expect(plan.demanded(now: at(2)) == .connect(2))
    plan.connected(2)
    #expect(plan.demanded(now: at(3)) == .none)
  }

  @Test("under token authentication the first request goes alone, and its answer opens the rest")
  func cautious() {
    var plan = plan(cautious: true)
    _ = plan.demanded(now: at(0))
    plan.connected(1)
    #expect(plan.berth(avoiding: nil, reserve: 0.1, room: wide) == 1)
    plan.submitted(1)
    #expect(plan.berth(avoiding: nil, reserve: 0, room: wide) == nil)
    #expect(plan.demanded(now: at(1)) == .none)
    plan.ended(1, answered: false)
    #expect(plan.berth(avoiding: nil, reserve: 0, room: wide) == 1)
    plan.submitted(1)
    plan.ended(1, answered: true)
    plan.submitted(1)
    #expect(plan.berth(avoiding: nil, reserve: 0, room: wide) == 1)
  }

  @Test("streams spread by room, bulk leaves its share, and a resend goes round the connection that failed it")
  func berths() {
    var plan = plan()
    _ = plan.demanded(now: at(0))
    plan.connected(1)
    _ = plan.demanded(now: at(0))
    plan.connected(2)
    let room: (PoolPlan.Berth) -> (free: Int, limit: Int) = { ($0 == 1 ? 10 : 40, 100) }
    #expect(plan.berth(avoiding: nil, reserve: 0, room: room) == 2)
    #expect(plan.berth(avoiding: 2, reserve: 0, room: room) == 1)
    let last: (PoolPlan.Berth) -> (free: Int, limit: Int) = { _ in (10, 100) }
    #expect(plan.berth(avoiding: nil, reserve: 0.1, room: last) == nil)
    #expect(plan.berth(avoiding: nil, reserve: 0, room: last) != nil)
  }

  @Test("the only connection serves even what would rather go round it")
  func only() {
    var plan = plan()
    _ = plan.demanded(now: at(0))
    plan.connected(1)
    #expect(plan.berth(avoiding: 1, reserve: 0, room: wide) == 1)
  }

  @Test("a draining connection is replaced at once and takes no more streams")
  func draining() {
    var plan = plan(maximum: 1)
    _ = plan.demanded(now: at(0))
    plan.connected(1)
    plan.submitted(1)
    plan.left(1)
    #expect(plan.berth(avoiding: nil, reserve: 0, room: wide) == nil)
    #expect(plan.demanded(now: at(1)) == .connect(2))
    plan.ended(1, answered: true)
    plan.closed(1, failed: false, now: at(2), jitter: 1)
    plan.connected(2)
    #expect(plan.berth(avoiding: nil, reserve: 0, room: wide) == 2)
  }

  @Test("failures wait longer each time, up to the maximum; an answer ends that")
  func backoff() {
    var plan = plan()
    var now: UInt64 = 0
    var waits: [Int64] = []
    for _ in 0..<10 {
      guard case .connect(let berth) = plan.demanded(now: at(now)) else { return #expect(Bool(false), "no connection") }
      plan.closed(berth, failed: true, now: at(now), jitter: 1)
      guard case .wait(let until) = plan.demanded(now: at(now)) else { return #expect(Bool(false), "no connection") }
      waits.append(until - at(now))
      now += UInt64(waits.last!)
    }
    #expect(waits.prefix(4) == [250, 500, 1_000, 2_000])
    #expect(waits.last == 30_000)
  }

  @Test("a connection that is lost after it was of use is replaced at once; one that never was is a failure")
  func lost() {
    var plan = plan()
    _ = plan.demanded(now: at(0))
    plan.connected(1)
    plan.submitted(1)
    plan.ended(1, answered: true)
    plan.closed(1, failed: false, now: at(1), jitter: 1)
    #expect(plan.demanded(now: at(1)) == .connect(2))
    plan.connected(2)
    plan.closed(2, failed: false, now: at(2), jitter: 1)
    #expect(plan.demanded(now: at(2)) == .wait(until: at(252)))
  }
}
