/// When a delivery goes again. Each provider declares what its vendor asks for (`PushProvider.retry`); an operator may replace single
/// values. Times are milliseconds.
package struct RetryRules: Hashable, Sendable {
  /// The first wait. Each further one of a delivery is twice as long, and chance adds up to a half.
  package var base: Int64
  /// The longest wait. A floor, or a longer `Retry-After`, goes before it.
  package var maximum: Int64
  /// The first wait after a cause, in place of `base`; none after it is shorter. After an unknown outcome it counts from the
  /// request, as the vendor may be at work on that for so long, and `base` from its end.
  package var floors: [Retry.Cause: Int64]
  /// How often a delivery goes again at once before it waits, where the vendor sets a bound: 0 after an unknown outcome, and else
  /// as often as the policy allows.
  package var resendsAtOnce: [Retry.Cause: Int]
  /// Attempts that count: those answered by a wait of the connection or the credential do not. Nil: as many as the message has
  /// time for.
  package var attempts: Int?
  /// How long after its first request a delivery is tried. Nil: as long as the message has time.
  package var giveUpAfter: Int64?

  /// The defaults suit a vendor that asks for nothing: 1 second doubled up to an hour, as often as the message has
  /// time.
  package init(
    base: Int64 = 1_000, maximum: Int64 = 3_600_000, floors: [Retry.Cause: Int64] = [:],
    resendsAtOnce: [Retry.Cause: Int] = [:], attempts: Int? = nil, giveUpAfter: Int64? = nil
  ) {
    self.base = base
    self.maximum = maximum
    self.floors = floors
    self.resendsAtOnce = resendsAtOnce
    self.attempts = attempts
    self.giveUpAfter = giveUpAfter
  }
}
