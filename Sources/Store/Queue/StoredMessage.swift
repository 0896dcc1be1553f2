package import Domain

/// The message of claimed jobs.
package struct StoredMessage: Sendable {
  package var id: MessageID
  package var app: AppID
  package var body: [UInt8]
  /// What was read of it, where this process has accepted it a moment ago.
  package var message: Message?
  package var acceptedAt: WallTime
  /// With acceptance, or when it was scheduled for. For devices with a time of their own sending starts then.
  package var startedAt: WallTime
  /// Nil: nobody touched it.
  package var control: Control?
  /// Nil: everyone gets the same.
  package var split: VariantSplit?
  /// Set for a message to an audience.
  package var audience: StoredAudience?
}

/// Whom an audience message is aimed at, as accepted.
package struct StoredAudience: Hashable, Sendable {
  /// Canonical, without named audiences.
  package var expression: String
  package var reach: Reach
}
