import Testing

@testable import Laboratory

@Suite("What chaos holds against what arrived")
struct ChaosLedgerTests {
  private func send(_ number: Int, _ aim: ChaosSend.Aim, accepted: Int, overtaken: Bool = false) -> ChaosSend {
    ChaosSend(
      number: number, id: "m\(number)", aim: aim, targets: accepted, outcomes: ["accepted": accepted],
      overtaken: overtaken)
  }
  private func arrival(_ number: Int, _ token: String, answered: Bool = true) -> ChaosArrival {
    ChaosArrival(provider: "apns", token: token, message: number, answered: answered, isKnown: false)
  }
  private func ledger(_ sends: [ChaosSend], _ arrivals: [ChaosArrival], crashes: Int = 0) -> ChaosLedger {
    ChaosLedger(sends: sends, arrivals: arrivals, everyone: ["apns d1", "apns d2"], crashes: crashes)
  }

  @Test("agrees where everything arrived once, in its order")
  func agreement() {
    let ledger = ledger(
      [
        send(1, .ordered("apns a"), accepted: 1), send(2, .list(["apns a", "apns b"]), accepted: 2),
        send(3, .ordered("apns a"), accepted: 1), send(4, .everyone, accepted: 2),
      ],
      [
        arrival(4, "d1"), arrival(2, "b"), arrival(1, "a"), arrival(3, "a"), arrival(2, "a"), arrival(4, "d2"),
      ])
    #expect(ledger.differences == [] && ledger.deliveries == 6 && ledger.duplicates == 0)
  }

  @Test("a delivery that never arrived is lost, one that nobody asked for is told")
  func lost() {
    let lost = ledger([send(1, .list(["apns a", "apns b"]), accepted: 2)], [arrival(1, "a")])
    #expect(lost.lost == 1 && lost.differences.contains { $0.contains("never reached 1 of 2, as apns b") })
    let strange = ledger(
      [send(1, .ordered("apns a"), accepted: 1)], [arrival(1, "a"), arrival(1, "z"), arrival(9, "a")])
    #expect(strange.differences.contains { $0.contains("reached 2 tokens and was sent to 1") })
    #expect(strange.differences.contains { $0.contains("message 9 arrived and was never accepted") })
  }

  @Test("first arrivals out of order are told, unless the send was overtaken")
  func order() {
    let arrivals = [arrival(2, "a"), arrival(1, "a")]
    let wrong = ledger([send(1, .ordered("apns a"), accepted: 1), send(2, .ordered("apns a"), accepted: 1)], arrivals)
    #expect(wrong.outOfOrder == 1 && wrong.differences.count == 1)
    let passed = ledger(
      [send(1, .ordered("apns a"), accepted: 1, overtaken: true), send(2, .ordered("apns a"), accepted: 1)], arrivals)
    #expect(passed.outOfOrder == 0 && passed.overtaken == 1 && passed.differences == [])
    let again = ledger(
      [send(1, .ordered("apns a"), accepted: 1), send(2, .ordered("apns a"), accepted: 1)],
      [arrival(1, "a", answered: false), arrival(2, "a"), arrival(1, "a")])
    #expect(again.outOfOrder == 0, "what counts is when it came first")
  }

  @Test("duplicates need a crash or a lost answer")
  func doubles() {
    let sends = [send(1, .ordered("apns a"), accepted: 1)]
    #expect(ledger(sends, [arrival(1, "a"), arrival(1, "a")]).differences.count == 1)
    #expect(ledger(sends, [arrival(1, "a"), arrival(1, "a")], crashes: 1).differences == [])
    let unanswered = ledger(sends, [arrival(1, "a", answered: false), arrival(1, "a")])
    #expect(unanswered.differences == [] && unanswered.duplicates == 1 && unanswered.unanswered == 1)
  }

  @Test("sums that are not the targets, and live tokens that were not reached, are told")
  func sums() {
    var short = send(1, .list(["apns a", "apns b"]), accepted: 1)
    short.targets = 2
    #expect(
      ledger([short], [arrival(1, "a"), arrival(1, "b")]).differences.contains { $0.contains("outcomes sum to 1") })
    var dead = send(1, .ordered("apns a"), accepted: 0)
    dead.targets = 1
    dead.outcomes = ["dead": 1]
    #expect(ledger([dead], [arrival(1, "a")]).differences.contains { $0.contains("all its tokens live") })
  }

  @Test("the same seed plays the same faults; each round plays all of them")
  func seeds() {
    var (one, other) = (ChaosRandom(seed: 7), ChaosRandom(seed: 7))
    #expect(one.round() == other.round() && one.below(1_000) == other.below(1_000))
    #expect(Set(one.round()) == Set(ChaosFault.allCases))
    var third = ChaosRandom(seed: 8)
    #expect((0..<8).map { _ in third.below(1_000) } != (0..<8).map { _ in one.below(1_000) })
  }

  @Test("soak calls flat what wavers, and grows what grows")
  func flat() {
    var (flat, grows) = (ResourceSeries("x", slack: 1 << 20), ResourceSeries("y", slack: 1 << 20))
    for step in 0..<100 {
      flat.add(100 << 20 + Int64(step % 7) << 10)
      grows.add((100 + Int64(step)) << 20)
    }
    #expect(flat.isFlat && !grows.isFlat)
  }
}
