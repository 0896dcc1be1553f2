/// How an app means times of day.
package struct AppClock: Hashable, Sendable {
  /// Of devices that have told none.
  package var fallbackZone: String
  /// Of alerts that say nothing else.
  package var quietHours: QuietHours?
  /// `fallbackZone`: an IANA name.
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

  /// What a delivery may do at some time.
  package enum Decision: Hashable, Sendable {
    case go
    /// Not before then.
    case hold(until: WallTime)
    /// `skipped: quiet_hours`
    case skip
  }

  /// Why a delivery rests or is skipped in quiet hours.
  package static let quietReason = SkipReason.quietHours.rawValue
  /// Why a delivery rests until its device's clock shows the time of the start.
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

  /// What becomes of a device that has not been tried yet.
  package enum Plan: Hashable, Sendable {
    /// At once, and not behind `end`.
    case go(end: WallTime)
    case hold(until: WallTime, end: WallTime)
    case ended(Outcome, reason: String?)
  }

  /// `startedAt`: the message. `life`: milliseconds in which a first attempt may begin. `now`: not before the message has started.
  package func plan(_ zone: String?, startedAt: WallTime, life: Int64, now: WallTime) -> Plan {
    let end = (start(zone) ?? startedAt) + life
    guard end >= now else { return .ended(.expired, reason: local == nil ? nil : Self.localReason) }
    switch decide(zone, now: now) {
    case .go: return .go(end: end)
    case .hold(let due): return due <= end ? .hold(until: due, end: end) : .ended(.expired, reason: Self.quietReason)
    case .skip: return .ended(.skipped, reason: Self.quietReason)
    }
  }

  /// When the first device of these zones gets it, quiet hours heeded: not before `now`. A zone of nil has been told by
  /// none; so it is, too, where there are no devices. `life`: as in `plan`. If none of them gets it: when the first of
  /// their clocks shows the time.
  package func first(of zones: Set<String?>, life: Int64, now: WallTime) -> FirstStart {
    var reached: FirstStart?
    var shown: FirstStart?
    func earlier(_ time: WallTime, _ zone: String, _ known: FirstStart?) -> FirstStart {
      if let known, (known.time, known.zone) < (time, zone) { return known }
      return FirstStart(time: time, zone: zone)
    }
    for zone in zones.isEmpty ? [nil] : zones {
      let name = zone.flatMap { self.zones.rules($0) == nil ? nil : $0 } ?? fallback
      switch plan(zone, startedAt: now, life: life, now: now) {
      case .go: reached = earlier(now, name, reached)
      case .hold(let until, _): reached = earlier(until, name, reached)
      case .ended: shown = earlier(max(now, start(zone) ?? now), name, shown)
      }
    }
    return reached ?? shown ?? FirstStart(time: now, zone: fallback)
  }

  /// Some device may get nothing for its time: its quiet hours skip it, or end behind what the message has to live.
  package func mayExclude(life: Int64) -> Bool {
    local != nil || quiet?.action == .skip || life < Self.longestQuiet
  }
  /// Hours of a day on which clocks are put back.
  private static let longestQuiet: Int64 = 25 * 3_600_000

  /// For a device that may go at `time`: the quiet hours that begin before `end`.
  package func pause(_ zone: String?, after time: WallTime, until end: WallTime) -> QuietPause? {
    guard let quiet else { return nil }
    let rules = quietRules(zone)
    var times: [QuietPause.Time] = []
    var from = quiet.closing(after: time, rules)
    while from < end, times.count < QuietPause.mostTimes {
      let to = max(quiet.opening(at: from, rules) ?? from, from + 60_000)
      times.append(QuietPause.Time(from: from, to: to))
      from = quiet.closing(after: to, rules)
    }
    return times.isEmpty ? nil : QuietPause(times)
  }

  /// For a device that may go at `time`: when its quiet hours begin.
  package func closing(_ zone: String?, after time: WallTime) -> WallTime? {
    quiet?.closing(after: time, quietRules(zone))
  }
}

/// The quiet hours of each day in which a message is under way, for devices whose clocks agree. Each day's own, as a day on
/// which clocks change has 23 hours or 25.
package struct QuietPause: Hashable, Sendable {
  /// One stretch of quiet hours: from the first instant until pushes go again.
  package struct Time: Hashable, Sendable {
    package var from: WallTime
    package var to: WallTime
    package init(from: WallTime, to: WallTime) {
      self.from = from
      self.to = to
    }
  }
  /// In their order; none overlap.
  package let times: [Time]
  /// `times`: ascending, none overlapping.
  package init(_ times: [Time]) { self.times = times }
  package init(from: WallTime, to: WallTime) { times = [Time(from: from, to: to)] }

  /// A message lives for four weeks at most, and waits for its local time for a day more.
  package static let mostTimes = 32

  /// When they end, if they are now.
  package func end(now: WallTime) -> WallTime? { times.first { now < $0.to }.flatMap { $0.from <= now ? $0.to : nil } }
}
