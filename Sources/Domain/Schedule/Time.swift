/// A point on the wall clock, for what is stored or told: milliseconds since 1970, UTC.
package struct WallTime: Hashable, Comparable, Sendable {
  package var milliseconds: Int64
  package init(milliseconds: Int64) { self.milliseconds = milliseconds }
  /// What lies beyond the end of time is taken for the end.
  package init(seconds: Int64) {
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
  }

  package var seconds: Int64 { milliseconds / 1000 }

  package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
  /// Times come from files, peers and the store: what would overflow stays at the end of time.
  package static func + (left: Self, milliseconds: Int64) -> Self {
    let (sum, overflow) = left.milliseconds.addingReportingOverflow(milliseconds)
    return Self(milliseconds: overflow ? (milliseconds < 0 ? .min : .max) : sum)
  }
  /// Milliseconds from `right` to `left`, negative if `left` is earlier; stays at the ends of `Int64`.
  package static func - (left: Self, right: Self) -> Int64 {
    let (span, overflow) = left.milliseconds.subtractingReportingOverflow(right.milliseconds)
    return overflow ? (left < right ? .min : .max) : span
  }
}

/// A point on the monotonic clock, for what is waited on: nanoseconds since an arbitrary start, comparable within one
/// process only.
package struct Instant: Hashable, Comparable, Sendable {
  package var nanoseconds: UInt64
  /// For tests and tables; the loop's clock gives all others.
  package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
  /// Negative `milliseconds` count as 0: there is nothing to wait for. What lies beyond the end of time stays there.
  package static func + (left: Self, milliseconds: Int64) -> Self {
    let (span, isLong) = UInt64(clamping: milliseconds).multipliedReportingOverflow(by: 1_000_000)
    let (sum, isBeyond) = left.nanoseconds.addingReportingOverflow(span)
    return Self(nanoseconds: isLong || isBeyond ? .max : sum)
  }
  /// Milliseconds from `right` to `left`, rounded up; 0 if `left` is not later.
  package static func - (left: Self, right: Self) -> Int64 {
    left <= right ? 0 : Int64((left.nanoseconds - right.nanoseconds - 1) / 1_000_000) + 1
  }
}
