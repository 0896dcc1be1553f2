import Domain

/// Reads when a message goes, and how often a device may hear of its topic.
enum TimingReader {
  static func read(_ fields: Fields, _ message: inout Message.Fields, _ findings: inout Findings) {
    message.sendAt = SendTimeReader.read(fields, &findings)
    message.quietHours = readQuietHours(fields, &findings)
    message.cap = readCap(fields, &findings)
    checkTiming(message, fields, &findings)
  }

  private static func readQuietHours(_ fields: Fields, _ findings: inout Findings) -> MessageQuietHours {
    guard let value = fields["quiet_hours"] else { return .ofApp }
    let place = fields.place.member("quiet_hours")
    if case .bool(let given) = value {
      if given {
        findings.refuse(
          place, .notAllowed, "leave it out for the app's quiet hours, or give {\"from\":\"22:00\",\"to\":\"08:00\"}")
      }
      return .none
    }
    guard let hours = Fields(value, at: place, of: .quietHours, &findings) else { return .ofApp }
    let from = readMinutes("from", hours, &findings)
    let to = readMinutes("to", hours, &findings)
    let zone = hours.text("zone", .line(64), &findings)
    let action = hours.choice("else", QuietHours.Action.self, &findings) ?? .hold
    if let zone, !ZoneName.exists(zone) {
      let hint = findings.faults.suggestion { ZoneName.nearest(to: zone) }.map { "; did you mean `\($0)`?" } ?? ""
      findings.refuse(
        place.member("zone"), .unknownValue, "is not the name of an IANA time zone, such as Europe/Vienna\(hint)")
      return .ofApp
    }
    guard let from, let to else { return .ofApp }
    guard from != to else {
      findings.refuse(
        place.member("to"), .outOfRange,
        "quiet hours cannot begin and end at the same time: give `to` another time of day")
      return .ofApp
    }
    return .own(QuietHours(from: from, to: to, zone: zone, action: action))
  }

  private static func readMinutes(_ name: String, _ hours: Fields, _ findings: inout Findings) -> Int? {
    guard hours.has(name) else {
      findings.refuse(hours.place.member(name), .required, "quiet hours need `from` and `to`, such as 22:00")
      return nil
    }
    guard let text = hours.text(name, .line(16), &findings) else { return nil }
    guard let minutes = QuietHours.minutes(text) else {
      findings.refuse(hours.place.member(name), .invalidFormat, "must be a time of day from 00:00 to 23:59")
      return nil
    }
    return minutes
  }

  private static func readCap(_ fields: Fields, _ findings: inout Findings) -> Cap? {
    let topic = fields.text("topic", .line(64), &findings)
    guard let cap = fields.object("cap", of: .cap, &findings) else {
      if fields.has("topic"), !fields.has("cap") {
        findings.refuse(
          fields.place.member("topic"), .notAllowed, "has a meaning only with `cap`: give `cap` too, or leave it out")
      }
      return nil
    }
    let limit = cap.integer("max", in: 1...Int64(Cap.maximum), &findings)
    let period = cap.choice("per", Cap.Period.self, &findings)
    for name in ["max", "per"] { cap.require(name, #"a cap is {"max":2,"per":"day"} (or "week")"#, &findings) }
    fields.require("topic", #"a cap counts the messages of a topic, such as "offers""#, &findings)
    guard let limit, let period, let topic else { return nil }
    return Cap(limit: Int(limit), period: period, topic: topic)
  }

  /// What needs to know each device is of no use where others aim.
  private static func checkTiming(_ message: Message.Fields, _ fields: Fields, _ findings: inout Findings) {
    let reason: String
    if case .channel = message.to {
      reason = "a channel is one address, and only Apple knows its devices"
    } else if message.oneSignalTargeting == .provider {
      reason = "OneSignal selects the devices, and Fanfare does not know them"
    } else {
      return
    }
    for name in ["send_at_local", "cap", "quiet_hours"] where fields.has(name) && fields[name] != .bool(false) {
      findings.refuse(fields.place.member(name), .notAllowed, reason)
    }
  }
}
