import Domain
import Glibc
import Loop
import Store

/// What this worker tells of itself with each heartbeat, for `fanfare status` and `/readyz`.
extension Worker {
  var report: WorkerReport {
    var report = WorkerReport(serial: serial, host: Self.host, process: Int(getpid()), startedAt: startedAt)
    report.sendings = senders.values.filter(\.isWorthTelling).sorted { $0.id.rawValue < $1.id.rawValue }.map(\.sending)
    return report
  }

  private static let host: String = {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }()
}

extension Sender {
  fileprivate var isWorthTelling: Bool {
    !status.breaker.isClosed || transport.connections > 0 || usage.inMemory > 0 || limits.limit.bound != nil
      || status.isUnreachable || !unproven.isEmpty
  }

  fileprivate var sending: WorkerReport.Sending {
    var (state, reason) = status.breaker.told
    if status.breaker.isClosed, let unreachableReason = status.unreachableReason {
      (state, reason) = ("unreachable", unreachableReason)
    }
    return .init(
      credential: id, state: state, reason: reason, connections: transport.connections, atWork: usage.atWork,
      limit: limits.concurrency, inMemory: usage.inMemory, waitingPrunes: unproven.reasons)
  }
}

extension CircuitBreaker {
  /// For operators, in words of the credential, not of the breaker: `open` means that it sends.
  var told: (state: String, reason: String?) {
    switch state {
    case .closed: ("open", nil)
    case .waiting(_, let reason): ("waiting", reason)
    case .blocked(let reason, _): ("blocked", reason)
    case .halfOpen(let reason, _): ("probing", reason)
    }
  }
}
