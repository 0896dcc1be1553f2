import Domain

/// Reads `send_at` and `send_at_local`.
enum SendTimeReader {
  static func read(_ fields: Fields, _ findings: inout Findings) -> SendTime? {
    var at: SendTime?
    if let text = fields.text("send_at", .line(64), &findings) {
      let place = fields.place.member("send_at")
      if let time = WallTime(rfc3339: text) {
        at = .at(time)
        if let now = findings.now {
          check(time, time, now, at: place, past: "has passed", &findings)
        }
      } else {
        let hint =
          LocalTime(text) == nil ? "" : "; for this time by each device's clock use `send_at_local`"
        findings.refuse(
          place, .invalidFormat,
          WallTime.calendarFault(in: text) ?? "`send_at` needs \(TimeAdvice.absolute(text))\(hint)")
      }
    }
    if let text = fields.text("send_at_local", .line(64), &findings) {
      let place = fields.place.member("send_at_local")
      if let time = LocalTime(text) {
        if at == nil { at = .local(time) }
        if let now = findings.now {
          check(
            time.earliest, time.latest, now, at: place, past: "has passed in every time zone", &findings)
        }
      } else {
        findings.refuse(
          place, .invalidFormat,
          WallTime.calendarFault(in: text) ?? "`send_at_local` needs \(TimeAdvice.local(text))")
      }
    }
    if fields.has("send_at"), fields.has("send_at_local") {
      findings.refuse(fields.place.member("send_at_local"), .notAllowed, "give `send_at` or `send_at_local`, not both")
    }
    return at
  }

  private static func check(
    _ earliest: WallTime, _ latest: WallTime, _ now: WallTime, at place: Place, past: String,
    _ findings: inout Findings
  ) {
    if latest < now + -SendTime.tolerance {
      findings.refuse(
        place, .outOfRange, "this time \(past) (it is now \(now.rfc3339)): leave it out to send at once")
    } else if earliest > now + SendTime.furthest {
      findings.refuse(
        place, .outOfRange,
        "messages are scheduled at most \(SendTime.furthest / 86_400_000) days ahead: until "
          + "\((now + SendTime.furthest).rfc3339)")
    }
  }
}
