import Domain

/// Reads `overrides`: what a client adds to one provider's request in that provider's own words.
enum OverridesReader {
  /// Members of OneSignal's body that say who is meant, or that make a repeat safe: overriding them would widen the
  /// audience or double the push.
  private static func isReserved(oneSignal name: String) -> Bool {
    name.hasPrefix("include") || name.hasPrefix("excluded_") || reservedOfOneSignal.contains(name)
  }
  private static let reservedOfOneSignal: Set<String> = [
    "app_id", "email_to", "filters", "idempotency_key", "external_id", "target_channel",
    "channel_for_external_user_ids", "send_after", "delayed_option", "delivery_time_of_day",
  ]

  static func read(_ message: Fields, into overrides: inout Overrides, _ findings: inout Findings) {
    guard let fields = message.object("overrides", of: .overrides, &findings) else { return }
    if let apns = fields.object("apns", of: .apnsOverrides, &findings) {
      overrides.aps = apns.members("aps", .payload, &findings) ?? []
      overrides.apnsHeaders = HeaderReader.ofAPNs(apns, &findings)
    }
    if let fcm = fields.object("fcm", of: .fcmOverrides, &findings) {
      overrides.fcmAndroid = fcm.members("android", .payload, &findings) ?? []
      overrides.fcmWebpush = fcm.members("webpush", .payload, &findings) ?? []
      overrides.fcmAPNs = fcm.members("apns", .payload, &findings) ?? []
      overrides.fcmValidateOnly = fcm.flag("validate_only", &findings) ?? false
      HeaderReader.check(of: overrides.fcmWebpush, at: fcm.place.member("webpush"), &findings)
      HeaderReader.check(of: overrides.fcmAPNs, at: fcm.place.member("apns"), &findings)
    }
    overrides.oneSignal = fields.members("onesignal", .oneSignal, &findings) ?? []
    for member in overrides.oneSignal where isReserved(oneSignal: member.key) {
      findings.refuse(
        fields.place.member("onesignal").member(member.key), .notAllowed,
        "Fanfare sets `\(member.key)`; it controls recipients, time or idempotency and cannot be overridden")
    }
  }
}
