import Domain

/// What becomes of the members of an audience by their zones: zones whose clocks agree are one class.
final class ZonePlans {
  enum Plan: Hashable {
    case send(Snapshot.Wave)
    case ended(Outcome, reason: String?)
  }
  private let timing: Timing
  private let startedAt: WallTime
  /// Milliseconds in which a first attempt may begin.
  private let life: Int64
  private let now: WallTime
  private var plans: [Plan] = []
  private var places: [Plan: Int] = [:]
  private var classes: [String?: Int] = [:]
  /// No first attempt to anybody begins after it.
  private(set) var until: WallTime

  init(_ timing: Timing, startedAt: WallTime, life: Int64, now: WallTime) {
    self.timing = timing
    self.startedAt = startedAt
    self.life = life
    self.now = now
    until = startedAt
  }

  /// One plan for whatever zone.
  convenience init(_ plan: Plan, _ timing: Timing, until: WallTime, now: WallTime) {
    self.init(timing, startedAt: now, life: until - now, now: now)
    plans = [plan]
    self.until = until
  }

  subscript(zoneClass: Int) -> Plan { plans[zoneClass] }

  func zoneClass(_ zone: String?) -> Int {
    if let known = classes[zone] { return known }
    let plan = plan(zone)
    let place = places[plan] ?? plans.count
    if place == plans.count {
      plans.append(plan)
      places[plan] = place
    }
    classes[zone] = place
    return place
  }

  private func plan(_ zone: String?) -> Plan {
    switch timing.plan(zone, startedAt: startedAt, life: life, now: now) {
    case .go(let end):
      until = max(until, end)
      return .send(Snapshot.Wave(due: nil, pause: timing.pause(zone, after: now, until: end)))
    case .hold(let due, let end):
      until = max(until, end)
      return .send(Snapshot.Wave(due: due, pause: timing.pause(zone, after: due, until: end)))
    case .ended(let outcome, let reason): return .ended(outcome, reason: reason)
    }
  }

  /// Who is in an audience is decided when it is time for the first of them; nil: now.
  func postponement(of groups: [AudienceGroup]) -> WallTime? {
    guard timing.local != nil else { return nil }
    var first: WallTime?
    for zone in groups.isEmpty ? [zoneClass(nil)] : groups.map(\.zoneClass) {
      guard case .send(let wave) = plans[zone], let due = wave.due else { return nil }
      first = min(first ?? due, due)
    }
    return first
  }
}
