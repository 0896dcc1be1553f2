import Domain
import Testing

@testable import Delivery

@Suite("What the log tells of a credential that waits")
struct WaitLogTests {
  private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: 0) + milliseconds }

  @Test("a wait is told once, however many deliveries try it, and its end tells how often")
  func once() {
    var log = WaitLog()
    #expect(log.began("QUOTA_EXCEEDED", now: at(0)) == 1)
    for try_ in 1...500 { #expect(log.began("QUOTA_EXCEEDED", now: at(Int64(try_) * 60_000)) == nil) }
    #expect(log.ended() == 500)
    #expect(log.ended() == nil)
  }

  @Test("a credential that waits after each push is told once a minute, with a count")
  func flapping() {
    var log = WaitLog()
    var told: [Int] = []
    var ends = 0
    for second in 0..<180 {
      if let waits = log.began("TooManyRequests", now: at(Int64(second) * 1_000)) { told.append(waits) }
      if log.ended() != nil { ends += 1 }
    }
    #expect(told == [1, 60, 60] && ends == 3)
  }

  @Test("another reason and a refusal are news")
  func news() {
    var log = WaitLog()
    #expect(log.began("QUOTA_EXCEEDED", now: at(0)) == 1)
    #expect(log.began("InternalServerError", now: at(10)) == 1)
    log.blocked()
    #expect(log.began("InternalServerError", now: at(20)) == 1)
    #expect(log.ended() == 0)
  }
}
