import Domain
import Testing

@testable import Store

@Suite("The attempts of a delivery")
struct AttemptLogTests {
  private func attempt(_ number: Int, counts: Bool = true, status: Int = 503) -> Attempt {
    Attempt(
      at: WallTime(milliseconds: Int64(number)), verdict: counts ? "retry" : Attempt.deferred, reason: "Busy",
      status: status)
  }

  @Test("the first and the last are kept, and all are counted, however many there are")
  func bounded() throws {
    var log = AttemptLog()
    for number in 0..<10_000 { log.add(attempt(number, counts: number % 2 == 0, status: number % 3 == 0 ? 0 : 503)) }
    #expect(log.count == 10_000 && log.spent == 5_000 && log.unanswered == 1_667)
    #expect(log.kept.count == AttemptLog.firstKept + AttemptLog.lastKept)
    #expect(log.kept.map(\.at.milliseconds) == Array(0..<8) + Array(9_976..<10_000))
    #expect(log.first?.at.milliseconds == 0 && log.last?.at.milliseconds == 9_999)
    #expect(log.packed.count < 1_000)
    var reader = Unpacker(log.packed)
    var back = try AttemptLog(&reader)
    #expect(back == log)
    back.add(attempt(10_000))
    #expect(back.count == 10_001 && back.spent == 5_001)
  }

  @Test("the first that counts is found behind those that only made the credential wait")
  func firstThatCounts() {
    var log = AttemptLog()
    #expect(log.firstThatCounts == nil)
    for number in 0..<3 { log.add(attempt(number, counts: false)) }
    #expect(log.firstThatCounts == nil)
    for number in 3..<100 { log.add(attempt(number, counts: number % 2 == 1)) }
    #expect(log.firstThatCounts?.at.milliseconds == 3 && log.first?.at.milliseconds == 0)
  }

  @Test("what is damaged is refused, and no count of it overflows")
  func damaged() {
    var packer = Packer()
    for number in 0..<8 {
      packer.time(Int64(number))
      packer.text("retry")
      packer.optional(nil)
      packer.number(0)
    }
    for counts in [[1 << 62, 0, 0], [0, 0, 0], [3, 4, 0], [3, 0, 4]] {
      var bad = packer
      for number in [1 << 53] + counts { bad.number(number) }
      bad.time(9)
      bad.text("retry")
      bad.optional(nil)
      bad.number(0)
      var reader = Unpacker(bad.bytes)
      #expect(throws: Corrupt.self) { try AttemptLog(&reader) }
    }
  }
}

/// A delivery that fails for so long that not all of its attempts are kept.
enum Weeks {
  static let requests = 500

  /// Retries until it fails at last, each an hour after the other.
  static func tryForWeeks(
    _ store: Store, _ lease: Lease, _ target: ClaimedTarget, of job: ClaimedJob?, from now: WallTime
  ) async throws {
    var target = target
    for number in 1...Self.requests {
      var log = target.attempts
      let at = now + Int64(number) * 3_600_000
      log.add(Attempt(at: at, verdict: number < Self.requests ? "retry" : "accepted", reason: "Busy", status: 503))
      var flush = Flush(lease: lease, number: UInt64(number))
      if number == 1, let job { flush.finishedJobs = [job.id] }
      guard number < Self.requests else {
        // Of an audience what failed keeps its attempts in any case.
        flush.finals = [final(target, job == nil ? .failed : .accepted, reason: "Busy", attempts: log)]
        _ = try await store.outcomes.flush(flush)
        return
      }
      flush.retries = [Flush.RetryEntry(target: target, due: at, reason: "Busy", attempts: log)]
      _ = try await store.outcomes.flush(flush)
      target = try #require(try await store.queue.dueRetries(lease, now: at, limit: 5).first)
      #expect(target.attempts.spent == number)
    }
  }

  static func expectBounded(_ attempts: AttemptLog, from now: WallTime) {
    #expect(attempts.count == Self.requests && attempts.kept.count == 32 && attempts.omitted.count == 468)
    #expect(attempts.kept.map { ($0.at - now) / 3_600_000 } == Array(1...8) + Array(477...500))
    #expect(attempts.packed.count < 1_500)
  }
}
