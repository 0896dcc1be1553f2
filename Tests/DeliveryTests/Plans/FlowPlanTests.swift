import Domain
import Testing

@testable import Delivery
@testable import Store

@Suite("Flushes of one partition")
struct FlushPlanTests {
  @Test("one flush is at work at a time; a lost reply repeats it unchanged, with its number")
  func repeats() {
    var plan = FlushPlan(limit: 2)
    plan.add(Sample.final(1), prune: nil, finishedJob: nil)
    let first = plan.next(Sample.lease())!
    plan.add(Sample.final(2), prune: nil, finishedJob: nil)
    #expect(plan.next(Sample.lease()) == nil)
    let again = plan.again(Sample.lease())
    #expect(again.number == first.number && again.finals.map(\.delivery) == [Sample.delivery(1)])
    #expect(plan.unflushed == 2)
    #expect(plan.confirmed().finals.count == 1)
    let second = plan.next(Sample.lease())!
    #expect(second.number == 2 && second.finals.map(\.delivery) == [Sample.delivery(2)])
    _ = plan.confirmed()
    #expect(plan.isIdle && plan.unflushed == 0)
  }

  @Test("flushes keep to their size, but what belongs together stays together, and all comes out in order")
  func pieces() {
    var plan = FlushPlan(limit: 3)
    plan.add(Sample.final(1), prune: nil, finishedJob: nil)
    var piece = FlushPlan.Piece()
    piece.finals = (2...6).map(Sample.final)
    plan.add(piece)
    #expect(plan.isFull)
    plan.add(Sample.final(7), prune: nil, finishedJob: nil)
    var sizes: [Int] = []
    var all: [DeliveryID] = []
    while let flush = plan.next(Sample.lease()) {
      sizes.append(flush.finals.count)
      all += plan.confirmed().finals.map(\.delivery)
    }
    #expect(sizes == [1, 5, 1])
    #expect(all == (1...7).map { Sample.delivery($0) })
  }

  @Test("accepted members that come together fill flushes like any other, and their job ends with the last of them")
  func members() {
    var plan = FlushPlan(limit: 4)
    let message = Sample.delivery(1).message
    let job = JobID(
      stream: StreamID(partition: 0, credential: CredentialID(rawValue: "key"), urgency: .bulk), sequence: 1)
    plan.add(Sample.final(1), prune: nil, finishedJob: nil)
    plan.add(accepted: [1, 2], of: message, firstAttempt: WallTime(milliseconds: 1), finishedJob: nil)
    plan.add(accepted: Array(3...12), of: message, firstAttempt: WallTime(milliseconds: 2), finishedJob: job)
    #expect(plan.unflushed == 13 && plan.isFull)
    var pieces: [FlushPlan.Piece] = []
    while plan.next(Sample.lease()) != nil { pieces.append(plan.confirmed()) }
    #expect(pieces.map(\.outcomes) == [4, 4, 4, 1])
    #expect(pieces.flatMap(\.accepted).flatMap(\.indexes) == Array(1...12))
    #expect(pieces.map { $0.finishedJobs.count } == [0, 0, 0, 1])
    #expect(plan.isIdle && plan.unflushed == 0)
  }
}

@Suite("Slices")
struct SlicePlanTests {
  private func plan(limit: Int = 3) -> SlicePlan<Int> { SlicePlan(limit: limit, settings: SliceSettings()) }

  @Test("a slice closes when it is full, or after a moment, and is named by its first member")
  func gathers() {
    var plan = plan()
    #expect(plan.add(7, Sample.delivery(1, index: 7), recipientClass: "", now: at(0)) == nil)
    #expect(plan.add(5, Sample.delivery(1, index: 5), recipientClass: "", now: at(0)) == nil)
    #expect(plan.due(now: at(4)).isEmpty)
    #expect(plan.add(6, Sample.delivery(1, index: 6), recipientClass: "alias", now: at(4)) == nil)
    let full = plan.add(9, Sample.delivery(1, index: 9), recipientClass: "", now: at(4))
    #expect(full?.members == [5, 7, 9])
    #expect(full?.slice.members == [5, 7, 9])
    #expect(full?.slice.number == 5 && full?.stored == false)
    #expect(plan.nextDue == at(9))
    #expect(plan.due(now: at(9)).map(\.members) == [[6]])
    #expect(plan.isEmpty)
  }

  @Test("a stored slice goes again when all its members are back or gone, with the same members and key")
  func reunites() {
    var plan = plan()
    let slice = StoredSlice(message: Sample.message(1), partition: 0, number: 2, revision: 1, members: [2, 3, 4])
    #expect(plan.add(4, Sample.delivery(1, index: 4), of: slice, now: at(0)) == nil)
    #expect(plan.absent(from: slice, now: at(0)) == nil)
    #expect(plan.reuniting == 1)
    let closed = plan.add(2, Sample.delivery(1, index: 2), of: slice, now: at(0))
    #expect(closed?.members == [2, 4] && closed?.slice == slice && closed?.stored == true)
    #expect(plan.isEmpty && plan.reuniting == 0)
  }

  @Test("a stored slice that waited long enough tells how many members it misses")
  func misses() {
    var plan = plan()
    let slice = StoredSlice(message: Sample.message(1), partition: 0, number: 2, revision: 0, members: [2, 3, 4, 5])
    #expect(plan.add(4, Sample.delivery(1, index: 4), of: slice, now: at(0)) == nil)
    #expect(plan.absent(from: slice, now: at(0)) == nil)
    let closed = plan.due(now: at(UInt64(SliceSettings().reunion)))
    #expect(closed.map(\.members) == [[4]])
    #expect(closed.first?.slice == slice && closed.first?.missing == 2)
  }

  @Test("the key of a slice follows its name, revision and members, the id of a delivery its place")
  func keys() {
    let slice = StoredSlice(message: Sample.message(1), partition: 0, number: 2, revision: 0, members: [2, 3])
    var revised = slice
    revised.revision = 1
    #expect(slice.key != revised.key)
    #expect(
      slice.key == StoredSlice(message: Sample.message(1), partition: 0, number: 2, revision: 0, members: [2, 3]).key)
    #expect(
      slice.key != StoredSlice(message: Sample.message(1), partition: 0, number: 2, revision: 0, members: [2]).key)
    #expect(Sample.delivery(1).requestID == Sample.delivery(1).requestID)
    #expect(Sample.delivery(1).requestID != Sample.delivery(1, index: 1).requestID)
  }
}

@Suite("The lease of a partition")
struct LeasePlanTests {
  @Test("it is renewed at a third, and no write goes out after its own deadline")
  func renewal() {
    var plan = LeasePlan(duration: 9_000, now: at(0))
    #expect(plan.ask(now: at(0)) == true)
    #expect(plan.ask(now: at(0)) == false)
    #expect(plan.answered(Sample.lease(deadline: 6_750), now: at(0)) == .acquired)
    #expect(plan.ask(now: at(2_999)) == false)
    #expect(plan.ask(now: at(3_000)) == true)
    plan.failed(now: at(3_100))
    #expect(plan.permitsWrites(now: at(6_749)))
    #expect(!plan.permitsWrites(now: at(6_750)))
    #expect(plan.ask(now: at(7_000)) == true)
    #expect(plan.answered(Sample.lease(deadline: 13_000), now: at(7_010)) == .renewed)
    #expect(plan.permitsWrites(now: at(7_010)))
  }

  @Test("another owner, or a lease under another nonce, voids what is known")
  func loss() {
    var plan = LeasePlan(duration: 9_000, now: at(0))
    _ = plan.ask(now: at(0))
    _ = plan.answered(Sample.lease(1), now: at(0))
    _ = plan.ask(now: at(3_000))
    #expect(plan.answered(Sample.lease(2), now: at(3_000)) == .replaced)
    _ = plan.ask(now: at(6_000))
    #expect(plan.answered(nil, now: at(6_000)) == .lost)
    #expect(!plan.permitsWrites(now: at(6_000)))
  }

  @Test("a lease under which a write was refused is never used again: its flush numbers are spent")
  func refused() {
    var plan = LeasePlan(duration: 9_000, now: at(0))
    _ = plan.ask(now: at(0))
    _ = plan.answered(Sample.lease(1), now: at(0))
    _ = plan.ask(now: at(3_000))
    #expect(plan.taken(now: at(3_001)) == .lost)
    #expect(plan.answered(Sample.lease(1), now: at(3_002)) == .none)
    #expect(!plan.permitsWrites(now: at(3_003)))
  }
}
