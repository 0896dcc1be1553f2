// These are no `RawRepresentable`: the standard library hashes and compares those through their raw values' protocols, which is
// slower, and each delivery is looked up by them several times.

/// A tenant: it owns credentials, keys, devices and messages. Named in the configuration, 1–64 of `[a-z0-9_-]`.
package struct AppID: Hashable, Sendable {
  package let rawValue: String
  /// Not checked: the configuration's reader does that.
  package init(rawValue: String) { self.rawValue = rawValue }
}

/// A device within its app: chosen by the client (1–128 bytes of printable ASCII without space or slash), or derived from
/// provider, environment and token (a UUIDv5).
package struct DeviceID: Hashable, Sendable {
  package let rawValue: String
  /// Not checked: device requests are read by Intake.
  package init(rawValue: String) { self.rawValue = rawValue }
}

/// One provider account of an app in one environment, unique over all apps: `<app>/<name>`, with `:production` or
/// `:sandbox` behind it where the account serves both environments of APNs, or what a setting opens it for (`Form.each`).
package struct CredentialID: Hashable, Sendable {
  package let rawValue: String
  /// Not checked: the configuration's reader builds it.
  package init(rawValue: String) { self.rawValue = rawValue }

  /// Whose it is: what stands before the slash.
  package var app: AppID { AppID(rawValue: String(rawValue.prefix { $0 != "/" })) }
}

/// The name of a push provider as clients write it. An open set: a fourth provider needs no change here.
package struct ProviderName: Hashable, Sendable {
  package let rawValue: String
  /// Not checked: a name that no provider has is an address nobody serves.
  package init(rawValue: String) { self.rawValue = rawValue }

  /// Apple Push Notification service.
  package static let apns = Self(rawValue: "apns")
  /// Firebase Cloud Messaging.
  package static let fcm = Self(rawValue: "fcm")
  package static let oneSignal = Self(rawValue: "onesignal")
}
