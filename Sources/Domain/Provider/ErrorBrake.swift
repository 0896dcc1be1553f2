/// When a message whose deliveries fail is paused.
package struct ErrorBrake: Hashable, Sendable {
  /// Of the outcomes that a provider has decided, those that failed.
  package var share: Double
  /// So many outcomes at least, before it says anything.
  package var minimum: Int

  /// `share`: 0 to 1. The defaults hold for apps that say nothing: a fifth of at least 500.
  package init(share: Double = 0.2, minimum: Int = 500) {
    self.share = share
    self.minimum = minimum
  }
  /// What a request or a configuration may ask for.
  package static let minimums = 1...10_000_000

  /// `failed`: the message's or the provider's fault, its retries exhausted among them. Dead tokens are `decided` and no
  /// failure.
  package func trips(failed: Int, decided: Int) -> Bool {
    decided >= minimum && Double(failed) > share * Double(decided)
  }
}
