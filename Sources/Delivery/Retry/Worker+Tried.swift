import Loop
import Store

/// Deliveries whose attempts are to be told before they have an outcome.
struct TriedDeliveries {
  /// Beyond these, attempts of an outage that meets very many are told when they end.
  static let most = 10_000
  static let atOnce = 500
  fileprivate var waiting: [Delivery] = []
  fileprivate var isTelling = false
}

extension Worker {
  /// An answer has made the credential of these wait: they stay in memory, and whoever asks for them learns of their
  /// attempts.
  func tell(tried deliveries: [Delivery]) {
    guard tried.waiting.count + deliveries.count <= TriedDeliveries.most else { return }
    tried.waiting += deliveries
    guard !tried.isTelling else { return }
    tried.isTelling = true
    background {
      while !self.tried.waiting.isEmpty, !self.isStopped {
        let some = self.tried.waiting.prefix(TriedDeliveries.atOnce).map {
          TriedDelivery($0.id, slice: $0.slice?.key, attempts: $0.attempts, endsAt: $0.message.expiresAt)
        }
        self.tried.waiting.removeFirst(some.count)
        // Nothing depends on it: what cannot be told now is told with the outcome.
        _ = try? await self.store.outcomes.keep(some, now: self.loop.wallNow)
      }
      self.tried.isTelling = false
    }
  }
}
