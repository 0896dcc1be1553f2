import Domain

/// What a message to a broadcast channel of Live Activities may be.
enum ChannelRules {
  /// APNs keeps the newest message of a channel that keeps any for at most 8 hours; a channel that keeps none takes no
  /// other `ttl` than 0 (protocols/apns.md section 9).
  private static let longestChannelTTL = 8 * 3_600

  /// A channel takes updates and ends of Live Activities, nothing else.
  static func check(_ message: Message.Fields, _ fields: Fields, _ findings: inout Findings) {
    guard case .channel = message.to else { return }
    guard message.kind == .liveActivity else {
      let place = fields.place.member(fields.has("kind") ? "kind" : "to")
      return findings.refuse(place, .notAllowed, "a channel accepts only kind `live_activity`")
    }
    if message.liveActivity?.event == .start {
      findings.refuse(
        fields.place.member("live_activity").member("event"), .notAllowed,
        "a channel cannot start an activity: start it at push-to-start tokens, with this channel as "
          + "`input_push_channel`")
    }
    if message.collapseKey != nil {
      findings.refuse(
        fields.place.member("collapse_key"), .notAllowed, "a channel keeps at most its newest message: leave it out"
      )
    }
    if message.ttl > longestChannelTTL {
      findings.refuse(
        fields.place.member("ttl"), .outOfRange, "a channel keeps its newest message for at most \(longestChannelTTL) s"
      )
    }
  }
}
