import Sandbox

/// The configuration of an app whose accounts are the sandbox's: for `dev`, `demo` and benchmarks.
struct SandboxApp {
  static let id = "demo"

  var redisSocket: String
  var port: Int
  var vendors: Sandbox.Ports
  var directory: String
  /// Retry waits of all providers; nil: the vendors' own.
  var shortened: Floors?
  var logLevel = "warning"
  var partitions = 16
  /// More settings, each with a comma behind it.
  var more = ""
  /// Settings of the app for keys with scope `register`, with a comma behind them.
  var registration = ""

  /// Waits in milliseconds.
  struct Floors {
    var first = 300
    var maximum = 2_000
    var attempts = 12
  }

  var text: String {
    """
    // Made for one run; removed with it.
    {
      redis: { url: "unix:\(redisSocket)" },
      listen: { address: "127.0.0.1", port: \(port) },
      partitions: \(partitions),
      ca_file: "\(directory)/ca.pem",
      log_level: "\(logLevel)",
      \(more)
      // Vendors' quotas and ramp-up are off: nobody counts here.
      quotas: { fcm: { per_minute: 0 }, onesignal: { per_minute: 0, times_subscribers: 0 } },
    \(retry)  apps: [
        {
          id: "\(Self.id)",
          \(registration)
          credentials: [
            {
              name: "apple", provider: "apns", environments: ["production", "sandbox"],
              key_file: "\(directory)/apns-key.p8", key_id: "SANDBOXKEY", team_id: "FANFARE001",
              topic: "com.example.app", origin: "localhost:\(vendors.apns)",
              channels_origin: "localhost:\(vendors.channels)",
            },
            {
              name: "google", provider: "fcm", service_account_file: "\(directory)/service-account.json",
              origin: "localhost:\(vendors.fcm)",
            },
            {
              name: "onesignal", provider: "onesignal", app_id: "\(Self.oneSignalApp)",
              api_key_file: "\(directory)/onesignal.key", origin: "localhost:\(vendors.oneSignal)",
            },
            {
              name: "browsers", provider: "webpush", key_file: "\(directory)/vapid-key.pem",
              subject: "mailto:push@example.com", services: ["localhost:\(vendors.webPush)"],
            },
          ],
        },
      ],
    }

    """
  }

  static let oneSignalApp = "8250eaf6-1a58-489e-b136-7c74a864b434"

  private var retry: String {
    guard let shortened else { return "" }
    let floors = ["token_busy", "quota", "server_fault", "closing", "unknown_outcome", "authorization_too_new"]
      .map { "\($0): \"\(shortened.first)ms\"" }.joined(separator: ", ")
    let rules =
      "{ base: \"\(shortened.first)ms\", maximum: \"\(shortened.maximum)ms\", attempts: \(shortened.attempts), "
      + "floors: { \(floors) } }"
    return "  retry: { apns: \(rules), fcm: \(rules), onesignal: \(rules), webpush: \(rules) },\n"
  }
}
