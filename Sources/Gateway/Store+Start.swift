import Configuration
import Domain
import Loop
import Processes
import Store
import Telemetry

extension Store {
  private static let reportMilliseconds: Int64 = 5_000

  /// Opens at the start of a service: Redis may come later than this process, or still read its data. Says what it waits for,
  /// and gives up when asked to stop.
  func open(of setup: Setup, _ log: Log) async throws(StoreError) {
    var nextReport = EventLoop.monotonicNow + Self.reportMilliseconds / 10
    try await open(timeout: max(1, setup.configuration.redis.startTimeout)) { condition in
      let now = EventLoop.monotonicNow
      if now >= nextReport {
        nextReport = now + Self.reportMilliseconds
        log(.warning, "waiting_for_redis", ["condition": condition.word, "detail": condition.detail])
      }
      return !StopSignals.isPending
    }
  }
}
