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
    } else if dismissal - activity.timestamp > longestDismissal {
      findings.warn(
        fields.place.member("dismissal_date"), "shortened",
        "devices remove an ended activity after 4 hours at the latest")
    }
  }
}
