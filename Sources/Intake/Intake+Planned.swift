import Domain

extension Intake {
  /// Fields of the schema that later versions carry out: their shape is checked, and what asks for something is
  /// postponed.
  static func readPlanned(_ fields: Fields, _ findings: inout Findings) {
    func postpone(_ name: String, _ what: String, to version: LaterVersion, _ findings: inout Findings) {
      findings.postpone(fields.place.member(name), what, to: version)
    }

    if let time = fields.text("send_at", .line(64), &findings) {
      if WallTime(rfc3339: time) == nil {
        findings.refuse(
          fields.place.member("send_at"), .invalidFormat,
          "`send_at` must be a time with its offset (RFC 3339), such as 2026-12-01T09:00:00Z")
      }
      postpone("send_at", "a scheduled send", to: .campaigns, &findings)
    }
    if let time = fields.text("send_at_local", .line(64), &findings) {
      // A time without an offset is one that becomes valid with it.
      if WallTime(rfc3339: time + "Z") == nil {
        findings.refuse(
          fields.place.member("send_at_local"), .invalidFormat,
          "`send_at_local` must be a time without offset, such as 2026-12-01T09:00:00")
      }
      postpone("send_at_local", "a send at each device's own time", to: .campaigns, &findings)
    }
    if fields.has("send_at"), fields.has("send_at_local") {
      findings.refuse(fields.place.member("send_at_local"), .notAllowed, "give `send_at` or `send_at_local`, not both")
    }
    if fields.integer("rate_per_second", in: 1...1_000_000, &findings) != nil {
      postpone("rate_per_second", "a pace", to: .campaigns, &findings)
    }
    if fields.members("quiet_hours", &findings) != nil {
      postpone("quiet_hours", "quiet hours", to: .campaigns, &findings)
    }
    if fields.members("cap", &findings) != nil { postpone("cap", "a cap", to: .campaigns, &findings) }
    if fields.text("topic", .line(64), &findings) != nil {
      postpone("topic", "a topic for caps", to: .campaigns, &findings)
    }
  }
}
