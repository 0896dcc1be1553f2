import Domain

extension Intake {
  private static let seconds: ClosedRange<Int64> = 0...4_102_444_800

  /// Read as far as its shape; carried out by a later version, as its kind is.
  static func readLiveActivity(_ message: Fields, _ findings: inout Findings) -> LiveActivity? {
    guard let fields = message.object("live_activity", of: .liveActivity, &findings) else { return nil }
    for name in ["event", "timestamp"] where !fields.has(name) {
      findings.refuse(fields.place.member(name), .required, "a live activity needs `\(name)`")
    }
    let event = fields.choice("event", LiveActivity.Event.self, &findings)
    let timestamp = fields.integer("timestamp", in: seconds, &findings)
    var activity = LiveActivity(
      event: event ?? .update, contentState: fields.members("content_state", &findings) ?? [],
      timestamp: timestamp ?? 0)
    activity.attributesType = fields.text("attributes_type", .line(256), &findings)
    activity.attributes = fields.members("attributes", &findings) ?? []
    activity.staleDate = fields.integer("stale_date", in: seconds, &findings)
    activity.dismissalDate = fields.integer("dismissal_date", in: seconds, &findings)
    if event == .start {
      for name in ["attributes_type", "attributes"] where !fields.has(name) {
        findings.refuse(fields.place.member(name), .required, "the start of a live activity needs `\(name)`")
      }
    }
    if event != .end, event != nil, fields.has("dismissal_date") {
      findings.refuse(fields.place.member("dismissal_date"), .notAllowed, "belongs to event `end` only")
    }
    return activity
  }
}
