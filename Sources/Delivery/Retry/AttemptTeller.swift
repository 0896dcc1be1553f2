import Loop
import Store

/// Tells of attempts of deliveries that have no outcome yet.
final class AttemptTeller: WorkerPart {
  private var waiting: [Delivery] = []
  private var isTelling = false
  /// Beyond these, attempts of an outage that meets very many are told when they end.
  private static let most = 10_000
  private static let atOnce = 500

  /// An answer has made the credential of these wait: they stay in memory, and whoever asks for them learns of their
  /// attempts.
  func tell(tried deliveries: [Delivery]) {
    guard waiting.count + deliveries.count <= Self.most else { return }
    waiting += deliveries
    guard !isTelling else { return }
    isTelling = true
    background {
      while !self.waiting.isEmpty, !self.isStopped {
        let some = self.waiting.prefix(Self.atOnce).map {
          TriedDelivery($0.id, slice: $0.slice?.key, attempts: $0.attempts, endsAt: $0.message.expiresAt)
        }
        self.waiting.removeFirst(some.count)
        // Nothing depends on it: what cannot be told now is told with the outcome.
        _ = try? await self.store.outcomes.keep(some, now: self.loop.wallNow)
      }
      self.isTelling = false
    }
  }
}
