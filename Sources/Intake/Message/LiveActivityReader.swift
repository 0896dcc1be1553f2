import Domain

/// Reads `live_activity`: how a Live Activity starts, changes or ends.
enum LiveActivityReader {
  private static let seconds: ClosedRange<Int64> = 0...4_102_444_800
  private static let finite = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
  /// A device removes an ended activity after this time at the latest (protocols/apns.md section 5).
  private static let longestDismissal: Int64 = 4 * 3_600

  static func read(_ message: Fields, _ findings: inout Findings) -> LiveActivity? {
    guard let fields = message.object("live_activity", of: .liveActivity, &findings) else { return nil }
    fields.require("event", "a live activity needs `event`: start, update or end", &findings)
    let event = fields.choice("event", LiveActivity.Event.self, &findings)
    let timestamp = fields.seconds("timestamp", in: seconds, &findings)
    var activity = LiveActivity(
      event: event ?? .update, contentState: fields.members("content_state", .payload, &findings) ?? [],
      timestamp: timestamp ?? 0)
    activity.activityID = fields.text("activity_id", .identifier(256), &findings)
    activity.attributesType = fields.text("attributes_type", .identifier(256), &findings)
    activity.attributes = fields.members("attributes", .payload, &findings) ?? []
    activity.staleDate = fields.seconds("stale_date", in: seconds, &findings)
    activity.dismissalDate = fields.seconds("dismissal_date", in: seconds, &findings)
    activity.relevanceScore = fields.number("relevance_score", in: finite, &findings)
    activity.inputPushToken = fields.flag("input_push_token", &findings) ?? false
    activity.inputPushChannel = fields.text("input_push_channel", .base64, &findings)
    if let event { check(activity, event, fields, &findings) }
    return activity
  }

  private static func check(
    _ activity: LiveActivity, _ event: LiveActivity.Event, _ fields: Fields, _ findings: inout Findings
  ) {
    let needed =
      switch event {
      case .start: ["content_state", "attributes_type", "attributes"]
      case .update: ["content_state"]
      case .end: [String]()
      }
    for name in needed { fields.require(name, "event `\(event.rawValue)` needs `\(name)`", &findings) }
    if event != .start {
      for name in ["attributes_type", "attributes", "input_push_token", "input_push_channel"] where fields.has(name) {
        findings.refuse(fields.place.member(name), .notAllowed, "belongs to event `start` only")
      }
    }
    if activity.inputPushToken, activity.inputPushChannel != nil {
      findings.refuse(
        fields.place.member("input_push_channel"), .notAllowed,
        "an activity gets its updates by its own token or by a channel: give only one of the two")
    }
    guard let dismissal = activity.dismissalDate else { return }
    if event != .end {
      findings.refuse(fields.place.member("dismissal_date"), .notAllowed, "belongs to event `end` only")
    } else if let end = fields.has("timestamp") ? activity.timestamp : findings.now?.seconds,
      dismissal - end > longestDismissal
    {
      findings.warn(
        fields.place.member("dismissal_date"), "shortened",
        "devices remove an ended activity after 4 hours at the latest")
    }
  }

  /// Seconds that a clock may be wrong, or a time be late, before it is taken for a slip.
  private static let tolerance: Int64 = 3_600
  /// A Live Activity is active for 8 hours, and then 4 more on the lock screen.
  private static let longestLife: Int64 = 12 * 3_600

  /// Times that have passed, or that lie too far ahead to be meant: devices take them without a word.
  static func warnOfTimes(_ message: Message.Fields, _ fields: Fields, _ findings: inout Findings) {
    guard let activity = message.liveActivity, let now = findings.now?.seconds else { return }
    let start = max(now, message.sendAt?.earliest.seconds ?? now)
    let place = fields.place.member("live_activity")
    let isGiven = { (name: String) in fields["live_activity"]?[name] != nil }
    func warn(_ name: String, _ time: Int64, in range: ClosedRange<Int64>, _ past: String, _ future: String) {
      guard isGiven(name), !range.contains(time) else { return }
      let isPast = time < range.lowerBound
      findings.warn(
        place.member(name), isPast ? "in_the_past" : "far_in_the_future",
        "`\(name)` is \(WallTime(seconds: time).rfc3339), and it is now \(WallTime(seconds: now).rfc3339) (\(now)): "
          + (isPast ? past : future))
    }
    warn(
      "timestamp", activity.timestamp, in: (now - tolerance)...(start + tolerance),
      "devices ignore what is older than what they show; leave it out for the time of sending",
      "devices ignore later updates until then; leave it out for the time of sending")
    if let time = activity.staleDate {
      warn(
        "stale_date", time, in: now...(start + longestLife), "devices show the activity as outdated at once",
        "no activity lasts longer than 12 hours")
    }
    if let time = activity.dismissalDate {
      warn(
        "dismissal_date", time, in: (now - 24 * 3_600)...Int64.max,
        "devices remove the activity at once; a time that has just passed does the same", "")
    }
  }
}
