import Glibc

/// How much processor time an input may take: so much, and more for each byte. Generous, as instrumented code is several times as slow.
package enum FuzzCost {
  /// Nanoseconds.
  private static let fixed = 20_000_000
  private static let perByte = 20_000

  package static func bound(bytes: Int) -> Int { fixed + perByte * bytes }

  /// Nanoseconds of the calling thread.
  package static func measure(_ work: () -> Void) -> Int {
    let began = now()
    work()
    return now() - began
  }

  private static func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
