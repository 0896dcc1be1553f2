import Domain
import Testing

@testable import Delivery

@Suite("The connections of a credential")
struct PoolPlanTests {
  private func plan(maximum: Int = 2, cautious: Bool = false) -> PoolPlan {
    PoolPlan(maximum: maximum, cautious: cautious, settings: PoolSettings())
  }
  private let wide: (PoolPlan.ConnectionSlot) -> (free: Int, limit: Int) = { _ in (100, 100) }

  @Test("one connection opens on demand, the next only when that one is full, never more than the maximum")
  func demand() {
    var plan = plan()
    #expect(plan.demanded(now: at(0)) == .connect(1))
    #expect(plan.demanded(now: at(1)) == .none)
    plan.connected(1)
    #expect(plan.connectionSlot(avoiding: nil, reserve: 0, room: wide) == 1)
    #expect(plan.demanded(now: at(2)) == .connect(2))
    plan.connected(2)
    #expect(plan.demanded(now: at(3)) == .none)
  }

  @Test("under token authentication the first request goes alone, and its answer opens the rest")
  func cautious() {
    var plan = plan(cautious: true)
    _ = plan.demanded(now: at(0))
    plan.connected(1)
    #expect(plan.connectionSlot(avoiding: nil, reserve: 0.1, room: wide) == 1)
    plan.submitted(1, now: at(1))
    #expect(plan.connectionSlot(avoiding: nil, reserve: 0, room: wide) == nil)
    #expect(plan.demanded(now: at(1)) == .wait(until: at(1 + 500)))
    plan.ended(1, answered: false)
    #expect(plan.connectionSlot(avoiding: nil, reserve: 0, room: wide) == 1)
    plan.submitted(1, now: at(1))
    plan.ended(1, answered: true)
    plan.submitted(1, now: at(1))
    #expect(plan.connectionSlot(avoiding: nil, reserve: 0, room: wide) == 1)
  }

  @Test("streams spread by room, bulk leaves its share, and a resend goes round the connection that failed it")
  func connectionSlots() {
    var plan = plan()
    _ = plan.demanded(now: at(0))
    plan.connected(1)
    _ = plan.demanded(now: at(0))
    plan.connected(2)
    let room: (PoolPlan.ConnectionSlot) -> (free: Int, limit: Int) = { ($0 == 1 ? 10 : 40, 100) }
    #expect(plan.connectionSlot(avoiding: nil, reserve: 0, room: room) == 2)
    #expect(plan.connectionSlot(avoiding: 2, reserve: 0, room: room) == 1)
    let last: (PoolPlan.ConnectionSlot) -> (free: Int, limit: Int) = { _ in (10, 100) }
    #expect(plan.connectionSlot(avoiding: nil, reserve: 0.1, room: last) == nil)
    #expect(plan.connectionSlot(avoiding: nil, reserve: 0, room: last) != nil)
  }

  @Test("when the header changes, those leave that have carried the present one for too short a time")
  func headerChanges() {
    var plan = plan(maximum: 4)
    for number in 1...4 {
      _ = plan.demanded(now: at(0))
      plan.connected(number)
    }
    plan.submitted(1, now: at(1_000))
    plan.submitted(2, now: at(2_000))
    plan.submitted(1, now: at(2_500))
    plan.submitted(4, now: at(2_500))
    plan.left(4)
    // By the first request with it, not by the last one, or by when they opened.
    #expect(plan.headerChanges(interval: 1_000, now: at(2_999)) == [2])
    plan.left(2)
    plan.submitted(1, now: at(5_000))
    plan.submitted(3, now: at(5_500))
    // Back to the former one: the first has had the other for a moment only.
    #expect(plan.headerChanges(interval: 1_000, now: at(5_900)).sorted() == [1, 3])
    #expect(plan.headerChanges(interval: 1_000, now: at(5_900)) == [])
  }

  @Test("the only connection serves even what would rather go round it")
  func only() {
    var plan = plan()
    _ = plan.demanded(now: at(0))
    plan.connected(1)
    #expect(plan.connectionSlot(avoiding: 1, reserve: 0, room: wide) == 1)
  }

  @Test("a draining connection is replaced at once and takes no more streams")
  func draining() {
    var plan = plan(maximum: 1)
    _ = plan.demanded(now: at(0))
    plan.connected(1)
    plan.submitted(1, now: at(1))
    plan.left(1)
    #expect(plan.connectionSlot(avoiding: nil, reserve: 0, room: wide) == nil)
    #expect(plan.demanded(now: at(1)) == .connect(2))
    plan.ended(1, answered: true)
    plan.closed(1, failed: false, now: at(2), jitter: 1)
    plan.connected(2)
    #expect(plan.connectionSlot(avoiding: nil, reserve: 0, room: wide) == 2)
  }

  @Test("failures wait longer each time, up to the maximum; an answer ends that")
  func backoff() {
    var plan = plan()
    var now: UInt64 = 0
    var waits: [Int64] = []
    for _ in 0..<10 {
      guard case .connect(let connectionSlot) = plan.demanded(now: at(now)) else {
        return #expect(Bool(false), "no connection")
      }
      plan.closed(connectionSlot, failed: true, now: at(now), jitter: 1)
      guard case .wait(let until) = plan.demanded(now: at(now)) else { return #expect(Bool(false), "no connection") }
      waits.append(until - at(now))
      now += UInt64(waits.last!)
    }
    #expect(waits.prefix(4) == [250, 500, 1_000, 2_000])
    #expect(waits.last == 30_000)
  }

  @Test("an operator's wish ends the wait for the next connection; if that fails, the waits go on from where they were")
  func hurry() {
    var plan = plan()
    for _ in 0..<10 {
      plan.hurry()
      guard case .connect(let connectionSlot) = plan.demanded(now: at(0)) else {
        return #expect(Bool(false), "no connection")
      }
      plan.closed(connectionSlot, failed: true, now: at(0), jitter: 1)
    }
    #expect(plan.demanded(now: at(1)) == .wait(until: at(30_000)))
    plan.hurry()
    #expect(plan.demanded(now: at(1)) == .connect(11))
  }

  @Test("a connection that is lost after it was of use is replaced at once; one that never was is a failure")
  func lost() {
    var plan = plan()
    _ = plan.demanded(now: at(0))
    plan.connected(1)
    plan.submitted(1, now: at(1))
    plan.ended(1, answered: true)
    plan.closed(1, failed: false, now: at(1), jitter: 1)
    #expect(plan.demanded(now: at(1)) == .connect(2))
    plan.connected(2)
    plan.closed(2, failed: false, now: at(2), jitter: 1)
    #expect(plan.demanded(now: at(2)) == .wait(until: at(252)))
  }

  /// One connection after the other that ends with its first request: what the plan says each time.
  private func refuse(_ plan: inout PoolPlan, times: Int, from now: inout UInt64) -> [Int64] {
    var waits: [Int64] = []
    for _ in 0..<times {
      var action = plan.demanded(now: at(now))
      if case .wait(let until) = action {
        waits.append(until - at(now))
        now += UInt64(until - at(now))
        action = plan.demanded(now: at(now))
      } else {
        waits.append(0)
      }
      guard case .connect(let connectionSlot) = action else { return waits }
      plan.connected(connectionSlot)
      plan.submitted(connectionSlot, now: at(now))
      plan.ended(connectionSlot, answered: false)
      plan.closed(connectionSlot, failed: false, now: at(now), jitter: 1)
    }
    return waits
  }

  @Test("connections that end with their first request are replaced at once a few times, and then wait up to a second")
  func refusals() {
    var plan = plan(cautious: true)
    var now: UInt64 = 0
    #expect(refuse(&plan, times: 10, from: &now) == [0, 0, 0, 0, 0, 250, 500, 1_000, 1_000, 1_000])
    // One answer, and nothing waits.
    now += 1_000
    guard case .connect(let connectionSlot) = plan.demanded(now: at(now)) else {
      return #expect(Bool(false), "no connection")
    }
    plan.connected(connectionSlot)
    plan.submitted(connectionSlot, now: at(now))
    plan.ended(connectionSlot, answered: true)
    plan.closed(connectionSlot, failed: false, now: at(now), jitter: 1)
    #expect(refuse(&plan, times: 5, from: &now) == [0, 0, 0, 0, 0])
  }

  @Test("who goes first over a new connection is the oldest and the youngest in turns while none is answered")
  func turns() {
    var plan = plan(cautious: true)
    var found: [Bool] = []
    for number in 1...4 {
      _ = plan.demanded(now: at(0))
      plan.connected(number)
      found.append(plan.wantsAnother(number))
      plan.submitted(number, now: at(0))
      plan.ended(number, answered: false)
      plan.closed(number, failed: false, now: at(0), jitter: 0)
    }
    #expect(found == [false, true, false, true])
    // The same where the requests end and the connection stays.
    _ = plan.demanded(now: at(0))
    plan.connected(5)
    found = []
    for _ in 0..<4 {
      found.append(plan.wantsAnother(5))
      plan.submitted(5, now: at(0))
      plan.ended(5, answered: false)
    }
    #expect(found == [false, true, false, true])
  }

  @Test("a first request that is not answered keeps the others waiting for half a second, not for its whole time")
  func stuck() {
    var plan = plan(maximum: 1, cautious: true)
    _ = plan.demanded(now: at(0))
    plan.connected(1)
    plan.submitted(1, now: at(10))
    #expect(plan.demanded(now: at(11)) == .wait(until: at(510)))
    #expect(plan.demanded(now: at(510)) == .connect(2))
    plan.connected(2)
    #expect(plan.wantsAnother(2))
    #expect(plan.connectionSlot(avoiding: nil, reserve: 0, room: wide) == 2)
    plan.ended(1, answered: false)
  }

  @Test("suspects go alone over connections aside, of which there are few, and whose ends hold up nobody")
  func asides() {
    var plan = plan(maximum: 1)
    _ = plan.demanded(now: at(0))
    plan.connected(1)
    plan.submitted(1, now: at(0))
    plan.ended(1, answered: true)
    #expect(plan.demandedAside(waiting: 2, now: at(1)) == .connect(2))
    #expect(plan.demandedAside(waiting: 2, now: at(1)) == .connect(3))
    #expect(plan.demandedAside(waiting: 2, now: at(1)) == .none)
    plan.connected(2)
    plan.connected(3)
    #expect(plan.connectionSlot(avoiding: nil, reserve: 0, room: wide) == 1)
    #expect(plan.asideSlot(together: 1, room: wide) == 2)
    plan.submitted(2, now: at(1))
    #expect(plan.asideSlot(together: 1, room: wide) == 3)
    plan.submitted(3, now: at(1))
    #expect(plan.asideSlot(together: 8, room: wide) == nil)
    for connectionSlot in [2, 3] {
      plan.ended(connectionSlot, answered: false)
      plan.closed(connectionSlot, failed: false, now: at(2), jitter: 1)
    }
    #expect(plan.demandedAside(waiting: 1, now: at(2)) == .connect(4))
    #expect(plan.connectionSlot(avoiding: nil, reserve: 0, room: wide) == 1)
  }
}
