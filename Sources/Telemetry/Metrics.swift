import Synchronization

/// The process's metrics: named families of counters, gauges and histograms, safe from any thread, written in
/// Prometheus' text format. A family is made once; the handle of one label set is kept by who counts.
///
/// Asking again for the same name and labels gives the same handle. Looking one up takes a lock: keep it. Names and help
/// are the program's; label values may be any text, but each new one stays for ever, so they must come from a small set.
package final class Metrics: Sendable {
  private let families = Mutex<[String: Family]>([:])

  private struct Family {
    var help: String
    var bounds: [Double] = []
    var kind: Kind
    /// By the labels as they are written.
    var members: [String: Member] = [:]
  }
  private enum Kind: String { case counter, gauge, histogram }
  private enum Member {
    case counter(Counter)
    case gauge(Gauge)
    case histogram(Histogram)
  }

  package init() {}

  /// Traps where the name is no name for a metric or has another type, and where a label stands twice: such names are
  /// the program's own. `help` of the first call counts.
  package func counter(_ name: String, _ help: String, _ labels: [(String, String)] = []) -> Counter {
    guard case .counter(let counter) = member(name, Family(help: help, kind: .counter), labels, { .counter(Counter()) })
    else { preconditionFailure("\(name) is no counter") }
    return counter
  }

  /// Traps as `counter` does.
  package func gauge(_ name: String, _ help: String, _ labels: [(String, String)] = []) -> Gauge {
    guard case .gauge(let gauge) = member(name, Family(help: help, kind: .gauge), labels, { .gauge(Gauge()) })
    else { preconditionFailure("\(name) is no gauge") }
    return gauge
  }

  /// `bounds`: upper bounds in seconds, ascending.
  package func histogram(_ name: String, _ help: String, bounds: [Double], _ labels: [(String, String)] = [])
    -> Histogram
  {
    let family = Family(help: help, bounds: bounds, kind: .histogram)
    guard case .histogram(let histogram) = member(name, family, labels, { .histogram(Histogram(bounds: bounds)) })
    else { preconditionFailure("\(name) is no histogram") }
    return histogram
  }

  private func member(
    _ name: String, _ family: Family, _ labels: [(String, String)], _ make: () -> Member
  ) -> Member {
    precondition(Exposition.isName(name), "\(name) is no name for a metric")
    let written = Exposition.labels(labels)
    return families.withLock { families in
      var known = families.removeValue(forKey: name) ?? family
      precondition(known.kind == family.kind && known.bounds == family.bounds, "\(name) has two forms")
      let member = known.members[written] ?? make()
      known.members[written] = member
      families[name] = known
      return member
    }
  }

  /// All families in the order of their names.
  package func exposition() -> [UInt8] {
    let families = families.withLock { $0 }
    var page = Exposition()
    for (name, family) in families.sorted(by: { $0.key < $1.key }) {
      page.header(name, help: family.help, kind: family.kind.rawValue)
      for (labels, member) in family.members.sorted(by: { $0.key < $1.key }) {
        switch member {
        case .counter(let counter): page.sample(name, labels, "\(counter.value)")
        case .gauge(let gauge): page.sample(name, labels, "\(gauge.value)")
        case .histogram(let histogram): page.histogram(name, labels, histogram)
        }
      }
    }
    return page.bytes
  }
}

/// A number that only grows.
package final class Counter: Sendable {
  private let count = Atomic<UInt64>(0)
  /// Safe from any thread; wraps at 2^64.
  package func add(_ more: UInt64 = 1) { count.add(more, ordering: .relaxed) }
  package var value: UInt64 { count.load(ordering: .relaxed) }
}

/// A number that goes up and down.
package final class Gauge: Sendable {
  private let level = Atomic<Int64>(0)
  /// Safe from any thread; the last call wins.
  package func set(_ value: Int64) { level.store(value, ordering: .relaxed) }
  /// Safe from any thread. `more` may be negative.
  package func add(_ more: Int64) { level.add(more, ordering: .relaxed) }
  package var value: Int64 { level.load(ordering: .relaxed) }
}
