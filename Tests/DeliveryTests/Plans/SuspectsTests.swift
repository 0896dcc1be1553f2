import Domain
import Support
import Testing

@testable import Delivery

@Suite("Suspects of a connection's end")
struct SuspectsTests {
  @Test("what stands on record tells a suspect, and one that was alone, from all others")
  func record() {
    let lost = Suspicion.ofEnd("the peer closed the connection", alone: false)
    let alone = Suspicion.ofEnd("the peer closed the connection", alone: true)
    #expect(Suspicion.isSuspect(lost) && !Suspicion.isBlamed(lost))
    #expect(Suspicion.isSuspect(alone) && Suspicion.isBlamed(alone))
    #expect(Suspicion.isSuspect(Suspicion.ofSilence("no answer in 5 ms", alone: false)))
    #expect(Suspicion.isBlamed(Suspicion.ofSilence("no answer in 5 ms", alone: true)))
    for other in [nil, "InternalServerError", "no answer in 30000 ms", "the stream was reset: PROTOCOL_ERROR"] {
      #expect(!Suspicion.isSuspect(other) && !Suspicion.isBlamed(other))
    }
  }

  @Test("they go alone until some were answered, those to blame always, and behind the others")
  func together() {
    var suspects = Suspects()
    for lane in 0..<100 { suspects.add(lane, isBlamed: false) }
    for lane in 100..<110 { suspects.add(lane, isBlamed: true) }
    var order: [Int] = []
    var most: [Int] = []
    while !suspects.isEmpty {
      most.append(suspects.together)
      order.append(suspects.next()!)
      suspects.answered()
    }
    #expect(Set(order) == Set(0..<110))
    #expect(Array(order.suffix(10)) == Array(100..<110))
    #expect(most.prefix(8).allSatisfy { $0 == 1 } && most[99] > 10 && most.suffix(10).allSatisfy { $0 == 1 })
    suspects.add(1, isBlamed: false)
    suspects.unanswered()
    #expect(suspects.together == 1)
  }

  /// A provider that ends every connection over which a poisoned request comes, and a credential's machines over it:
  /// who is healthy is answered, whatever stands where, and no connection of the others ends but by a request's first
  /// attempt.
  @Test("over random mixtures every healthy one is answered within a few ends of its own", arguments: 1...200)
  func mixtures(seed: Int) {
    var random = Seeded(seed: UInt64(seed))
    let poisoned = Set((0..<60).filter { _ in Bool.random(using: &random) })
    var fresh = Array(0..<200).shuffled(using: &random)
    var plan = PoolPlan(maximum: 2, cautious: Bool.random(using: &random), settings: PoolSettings())
    var suspects = Suspects()
    var blamed: Set<Int> = []
    var ends: [Int: Int] = [:]
    var answered: Set<Int> = []
    var now: UInt64 = 0
    let wide: (PoolPlan.ConnectionSlot) -> (free: Int, limit: Int) = { _ in (100, 100) }
    /// The requests go together; the peer answers all, or none as one is poisoned.
    func meet(_ connectionSlot: PoolPlan.ConnectionSlot, _ group: [Int]) {
      for _ in group { plan.submitted(connectionSlot, now: at(now)) }
      guard group.contains(where: poisoned.contains) else {
        for number in group {
          plan.ended(connectionSlot, answered: true)
          answered.insert(number)
        }
        return
      }
      for _ in group { plan.ended(connectionSlot, answered: false) }
      plan.closed(connectionSlot, failed: false, now: at(now), jitter: 0.5)
      for number in group {
        ends[number, default: 0] += 1
        if group.count == 1 { blamed.insert(number) } else { suspects.add(number, isBlamed: false) }
      }
    }
    var rounds = 0
    while !fresh.isEmpty || !suspects.isEmpty, rounds < 10_000 {
      rounds += 1
      now += 10
      if case .connect(let connectionSlot) = plan.demanded(now: at(now)) { plan.connected(connectionSlot) }
      if !fresh.isEmpty, let connectionSlot = plan.connectionSlot(avoiding: nil, reserve: 0, room: wide) {
        let isProving = plan.connections[connectionSlot]?.state == .proving
        let count = isProving ? 1 : min(fresh.count, Int.random(in: 1...30, using: &random))
        let youngest = plan.wantsAnother(connectionSlot)
        let group = youngest ? Array(fresh.suffix(1)) : Array(fresh.prefix(count))
        fresh.removeAll { group.contains($0) }
        meet(connectionSlot, group)
      }
      if case .connect(let connectionSlot) = plan.demandedAside(waiting: suspects.count, now: at(now)) {
        plan.connected(connectionSlot)
      }
      if let connectionSlot = plan.asideSlot(together: suspects.together, room: wide) {
        var group: [Int] = []
        let count = plan.connections[connectionSlot]?.state == .proving ? 1 : suspects.together
        while group.count < count, let next = suspects.next() { group.append(next) }
        let failed = group.contains(where: poisoned.contains)
        if !group.isEmpty { meet(connectionSlot, group) }
        for _ in group { if failed { suspects.unanswered() } else { suspects.answered() } }
      }
    }
    #expect(answered == Set(0..<200).subtracting(poisoned), "seed \(seed)")
    #expect(blamed == poisoned, "seed \(seed)")
    // Beside the first: once more for each time that others beside it were trusted too early.
    #expect(ends.allSatisfy { poisoned.contains($0.key) || $0.value <= 4 }, "seed \(seed)")
    #expect(now < 60_000, "seed \(seed): \(now)")
  }
}
