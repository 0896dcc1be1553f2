import Domain

/// Reads how an app means times of day: `fallback_zone` and `quiet_hours`.
struct ClockReader {
  let faults: FaultList

  func read(_ app: inout Section) -> AppClock {
    var clock = AppClock()
    if let zone = app.text("fallback_zone"), isZone(zone, at: app.place("fallback_zone")) { clock.fallbackZone = zone }
    guard app.has("quiet_hours") else { return clock }
    var hours = app.section("quiet_hours")
    let from = minutes("from", &hours)
    let to = minutes("to", &hours)
    let zone = hours.text("zone")
    let action = hours.word("else", of: QuietHours.Action.self) ?? .hold
    hours.close()
    if let zone, !isZone(zone, at: hours.place("zone")) { return clock }
    guard let from, let to else { return clock }
    guard from != to else {
      faults.add(
        hours.place("to"), "quiet hours cannot begin and end at the same time", fix: "Give `to` another time of day"
      )
      return clock
    }
    clock.quietHours = QuietHours(from: from, to: to, zone: zone, action: action)
    return clock
  }

  private func minutes(_ key: String, _ hours: inout Section) -> Int? {
    guard let text = hours.text(key) else {
      if !hours.has(key) { faults.add(hours.place(key), "quiet hours need \(key)", fix: "Write \"22:00\"") }
      return nil
    }
    guard let minutes = QuietHours.minutes(text) else {
      faults.add(hours.place(key), "\"\(text)\" is not a time of day", fix: "Write \"00:00\" to \"23:59\"")
      return nil
    }
    return minutes
  }

  private func isZone(_ name: String, at place: String) -> Bool {
    guard !ZoneName.exists(name) else { return true }
    faults.add(
      place, "there is no time zone \"\(name)\"",
      fix: ZoneName.nearest(to: name).map { "Did you mean \"\($0)\"?" } ?? "Use an IANA name such as Europe/Berlin")
    return false
  }
}
