/// How an app means times of day.
package struct AppClock: Hashable, Sendable {
  /// Of devices that have told none.
  package var fallbackZone: String
  /// Of alerts that say nothing else.
  package var quietHours: QuietHours?
  package init(fallbackZone: String = ZoneBook.utc, quietHours: QuietHours? = nil) {
    self.fallbackZone = fallbackZone
    self.quietHours = quietHours
  }
}

/// When one message may go to a device of some zone. Exists only for messages that ask for each device's own time.
package struct Timing {
  package let local: LocalTime?
  package let quiet: QuietHours?
  private let fallback: String
  private let zones: ZoneBook

  package enum Decision: Hashable, Sendable {
    case go
    /// Not before then.
    case hold(until: WallTime)
    /// `skipped: quiet_hours`
    case skip
  }

  package static let quietReason = "quiet_hours"
  package static let localReason = "local_time"

  /// Nil: the message goes to all devices at the same time.
  package init?(_ message: Message, _ clock: AppClock, _ zones: ZoneBook) {
    quiet =
      switch message.quietHours {
      case .own(let hours): hours
      case .none: nil
      case .ofApp: message.kind == .alert ? clock.quietHours : nil
      }
    if case .local(let time)? = message.sendAt { local = time } else { local = nil }
    guard local != nil || quiet != nil else { return nil }
    fallback = clock.fallbackZone
    self.zones = zones
  }

  private func rules(_ zone: String?) -> ZoneRules {
    zone.flatMap { zones.rules($0) } ?? zones.rules(fallback) ?? .utc
  }
  private func quietRules(_ zone: String?) -> ZoneRules { rules(quiet?.zone ?? zone) }

  /// When sending to a device there begins: its `ttl` counts from then. Nil: with the message.
  package func start(_ zone: String?) -> WallTime? { local.map { rules(zone).instant(of: $0) } }

  /// `now`: not before the message itself has started.
  package func decide(_ zone: String?, now: WallTime) -> Decision {
    let begin = max(now, start(zone) ?? now)
    guard let quiet, let opening = quiet.opening(at: begin, quietRules(zone)) else {
      return begin > now ? .hold(until: begin) : .go
    }
    return quiet.action == .skip ? .skip : .hold(until: opening)
  }

  /// For a device that may go at `time`: the next quiet hours, which come each day.
  package func pause(_ zone: String?, after time: WallTime) -> QuietPause? {
    guard let quiet else { return nil }
    let rules = quietRules(zone)
    let closing = quiet.closing(after: time, rules)
    return QuietPause(from: closing, to: max(quiet.opening(at: closing, rules) ?? closing, closing + 60_000))
  }
}

/// Quiet hours of one day for devices whose clocks agree; a day later they come again.
package struct QuietPause: Hashable, Sendable {
  package var from: WallTime
  package var to: WallTime
  package init(from: WallTime, to: WallTime) {
    self.from = from
    self.to = to
  }

  private static let day: Int64 = 86_400_000

  /// When they end, if they are now.
  package func end(now: WallTime) -> WallTime? {
    guard now >= from else { return nil }
    let days = (now - from) / Self.day
    let end = to + days * Self.day
    return now < end ? end : nil
  }
}
