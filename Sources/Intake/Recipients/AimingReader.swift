import Domain

/// Reads what a message says of its audience beside `to`.
enum AimingReader {
  /// The fields of a message that only an audience can have.
  static func read(_ fields: Fields, _ message: inout Message.Fields, _ findings: inout Findings) {
    message.reach = fields.choice("reach", Reach.self, &findings) ?? .allDevices
    message.keepReceipts = fields.flag("keep_receipts", &findings) ?? false
    message.oneSignalTargeting =
      fields.choice("onesignal_targeting", OneSignalTargeting.self, &findings) ?? .fanfare
    guard message.reach != .allDevices || message.oneSignalTargeting == .provider else { return }
    let isAudience =
      switch message.to {
      case .audience, .everyone: true
      case .devices, .users, .tokens, .channel: false
      }
    // Where `to` itself could not be read, nothing is said about what it asks for.
    guard
      fields["to"]?.object?.contains(where: {
        $0.key == "audience" || $0.key == "filters" || $0.key == "everyone" || $0.key == "activity"
      })
        != true || isAudience
    else { return }
    if !isAudience, message.reach != .allDevices {
      findings.refuse(
        fields.place.member("reach"), .notAllowed, "`reach` applies only to audiences: leave it out")
    }
    guard message.oneSignalTargeting == .provider else { return }
    let place = fields.place.member("onesignal_targeting")
    if !isAudience {
      findings.refuse(place, .notAllowed, "OneSignal can select only audiences: leave it out")
    }
    if message.providers != [.oneSignal] {
      findings.refuse(
        place, .notAllowed,
        "OneSignal selects only its own subscribers: give `providers: [\"\(ProviderName.oneSignal.rawValue)\"]`, and "
          + "send a second message to the other providers"
      )
    }
    if message.reach != .allDevices {
      findings.refuse(
        fields.place.member("reach"), .notAllowed, "OneSignal sends to all devices of a user: leave it out")
    }
  }
}
