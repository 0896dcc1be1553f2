/// The configuration of an app whose accounts are the sandbox's: for whoever starts the sandbox and a gateway together.
package struct SandboxApp {
  /// The app that API keys are made for.
  package static let id = "demo"

  let redisSocket: String
  /// Of the API; 0: any that is free.
  package var port: Int
  let vendors: Sandbox.Ports
  let directory: String
  package var logLevel = "warning"
  /// More settings, each with a comma behind it.
  package var more = ""
  /// Settings of the app for keys with scope `register`, with a comma behind them.
  package var registration = ""

  /// `directory`: where the sandbox has left its certificate and keys.
  package init(redisSocket: String, port: Int, vendors: Sandbox.Ports, directory: String) {
    self.redisSocket = redisSocket
    self.port = port
    self.vendors = vendors
    self.directory = directory
  }

  package var text: String {
    """
    // Made for one run; removed with it.
    {
      redis: { url: "unix:\(redisSocket)" },
      listen: { address: "127.0.0.1", port: \(port) },
      partitions: 16,
      ca_file: "\(directory)/ca.pem",
      log_level: "\(logLevel)",
      \(more)
      // Vendors' quotas and ramp-up are off: nobody counts here.
      quotas: { fcm: { per_minute: 0 }, onesignal: { per_minute: 0, times_subscribers: 0 } },
      apps: [
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
}
