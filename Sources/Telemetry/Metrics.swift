import Synchronization

/// The process's metrics: named families of counters, gauges and histograms, safe from any thread, written in
/// Prometheus' text format. A family is made once; the handle of one label set is kept by who counts.
package final class Metrics: Sendable {
  package init() {}
  package func counter(_ name: String, _ help: String, _ labels: [(String, String)] = []) -> Counter {
    preconditionFailure("not built yet")
  }
  package func gauge(_ name: String, _ help: String, _ labels: [(String, String)] = []) -> Gauge {
    preconditionFailure("not built yet")
  }
  /// `bounds`: upper bounds in seconds, ascending.
  package func histogram(_ name: String, _ help: String, bounds: [Double], _ labels: [(String, String)] = [])
    -> Histogram
  {
    preconditionFailure("not built yet")
  }
  /// All families in the order of their names.
  package func exposition() -> [UInt8] { preconditionFailure("not built yet") }
}

package final class Counter: Sendable {
  private let count = Atomic<UInt64>(0)
  package func add(_ more: UInt64 = 1) { count.add(more, ordering: .relaxed) }
  package var value: UInt64 { count.load(ordering: .relaxed) }
}

package final class Gauge: Sendable {
  private let level = Atomic<Int64>(0)
  package func set(_ value: Int64) { level.store(value, ordering: .relaxed) }
  package func add(_ more: Int64) { level.add(more, ordering: .relaxed) }
  package var value: Int64 { level.load(ordering: .relaxed) }
}

package final class Histogram: Sendable {
  package func observe(seconds: Double) { preconditionFailure("not built yet") }
}
