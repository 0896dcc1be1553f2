import Domain
import Testing

@testable import Delivery

@Suite("Retries of a credential that does not send")
struct RetryPausesTests {
  @Test("they look again each minute, and no later than the credential is to be tried")
  func few() {
    var pauses = RetryPauses()
    for number in 0..<100 {
      let now = Instant(nanoseconds: UInt64(number) * 5_000_000_000)
      #expect(pauses.next(wait: 3_600_000, now: now) == 60_000)
      #expect(pauses.next(wait: 1_500, now: now) == 1_500)
    }
  }

  @Test("however many wait, a thousand look in a second, and each as soon as it can", arguments: [30_000, 100_000])
  func many(_ count: Int) {
    var pauses = RetryPauses()
    let hours = 3 * 3_600
    // Those that look in each second; all come due in the first one.
    var due = [Int](repeating: 0, count: hours + 3_600)
    due[0] = count
    var longest = 0
    for second in 0..<hours {
      let now = Instant(nanoseconds: UInt64(second) * 1_000_000_000)
      let most = second == 0 ? 0 : due[second]
      #expect(most <= 1_000, "second \(second)")
      for _ in 0..<due[second] {
        let pause = Int(pauses.next(wait: 3_600_000, now: now))
        longest = max(longest, pause)
        due[second + pause / 1_000] += 1
      }
    }
    #expect(longest <= max(60_000, count) + 60_000, "\(longest)")
    #expect(due[hours...].reduce(0, +) == count)
  }
}
