import Configuration
import Domain
import Testing

@Suite("Settings of the configuration")
struct SettingTests {
  private func parse(_ settings: String) throws -> Configuration {
    let folder = Folder()
    folder.write("keys/google")
    folder.write("keys/password", "hunter2\n")
    return try folder.parse("{ \(settings), \(Folder.app) }")
  }

  @Test(
    "Redis is found by socket, host or TLS",
    arguments: [
      ("unix:/run/redis.sock", Configuration.Redis.Place.unix(path: "/run/redis.sock")),
      ("redis://cache", .tcp(host: "cache", port: 6379, tls: false)),
      ("rediss://cache:7000", .tcp(host: "cache", port: 7000, tls: true)),
      ("redis://[::1]:6380", .tcp(host: "::1", port: 6380, tls: false)),
    ])
  func redis(_ url: String, place: Configuration.Redis.Place) throws {
    #expect(try parse("redis: { url: \"\(url)\" }").redis.place == place)
  }

  @Test("the password is the file's text without its line end")
  func password() throws {
    #expect(try parse("redis: { password_file: \"keys/password\" }").redis.password == "hunter2")
  }

  @Test("units give durations and sizes one meaning")
  func units() throws {
    let configuration = try parse("retention: { time: \"36h\", bytes: \"512MiB\" }, lanes: { order_hold: \"250ms\" }")
    #expect(configuration.retention.time == 129_600_000)
    #expect(configuration.retention.bytes == 536_870_912)
    #expect(configuration.lanes.orderHold == 250)
  }

  @Test("the audit is kept as long and as many as is said, within bounds; the log has no sends unless it is said")
  func audit() throws {
    let configuration = try parse("audit: { time: \"36h\", acts: 1000, sends: 2000 }")
    #expect(configuration.audit.time == 129_600_000)
    #expect(configuration.audit.acts == 1_000 && configuration.audit.sends == 2_000)
    #expect(!configuration.audit.logSends)
    #expect(try parse("audit: { log_sends: true }").audit.logSends)
    for wrong in ["time: \"1s\"", "acts: 99", "sends: 0"] {
      #expect(throws: ConfigurationFaults.self) { try parse("audit: { \(wrong) }") }
    }
  }

  @Test("the console has its environment and the lives of its sessions")
  func console() throws {
    let usual = try parse("partitions: 4").console
    #expect(usual.isServed && usual.environment.isEmpty && usual.idle == 1_800_000 && usual.life == 43_200_000)
    let console = try parse(
      #"console: { enabled: false, environment: "staging", colour: "amber", idle: "5m", life: "1h" }"#
    ).console
    #expect(!console.isServed && console.environment == "staging" && console.colour == .amber)
    #expect(console.idle == 300_000 && console.life == 3_600_000)
    for wrong in [#"colour: "pink""#, #"idle: "1s""#, #"life: "1y""#, "name: 1"] {
      #expect(throws: ConfigurationFaults.self) { try parse("console: { \(wrong) }") }
    }
  }

  @Test("what the API may hold has bounds, and a body always fits")
  func bytesInFlight() throws {
    let limits = try parse(
      """
      limits: { bytes_in_flight: "64MiB", key_share: 0.5, address_share: 0.1, connections_per_address: 7, failed_keys: 9 },
      listen: { trusted_proxies: ["10.0.0.0/8", "2001:db8::7"] }
      """)
    #expect(limits.limits.bytesInFlight == 64 << 20)
    #expect(limits.limits.keyShare == 0.5 && limits.limits.addressShare == 0.1)
    #expect(limits.limits.connectionsPerAddress == 7 && limits.limits.failedKeys == 9)
    #expect(limits.listen.trustedProxies == [AddressRange("10.0.0.0/8"), AddressRange("2001:db8::7")])
    for wrong in [
      #"limits: { bytes_in_flight: "19MiB" }"#, "limits: { key_share: 1.5 }", "limits: { failed_keys: 0 }",
      "limits: { connections_per_address: 0 }", #"listen: { trusted_proxies: ["proxy"] }"#,
    ] {
      #expect(throws: ConfigurationFaults.self, "\(wrong)") { try parse(wrong) }
    }
  }

  @Test("what an operator may set of brake and probes has bounds")
  func brakes() throws {
    let configuration = try parse("prune_brake: { normal_percent: 40 }, workers: { probe: \"5m\" }")
    #expect(configuration.pruneBrake.normalPercent == 40 && configuration.pruneBrake.factor == 5)
    #expect(configuration.workers.probe == 300_000)
    for wrong in ["prune_brake: { normal_percent: 100 }", "prune_brake: { factor: 1 }", "prune_brake: { sample: 1 }"] {
      #expect(throws: ConfigurationFaults.self) { try parse(wrong) }
    }
  }

  @Test("each value of a vendor's waits can be replaced alone, and all others stay in force")
  func single() throws {
    let vendors = providers.mapValues(\.retry)
    typealias Change = (setting: String, make: (inout RetryRules) -> Void)
    let changes: [Change] = [
      (#"base: "3s""#, { $0.base = 3_000 }), (#"maximum: "2m""#, { $0.maximum = 120_000 }),
      ("attempts: 4", { $0.attempts = 4 }), (#"give_up_after: "5m""#, { $0.giveUpAfter = 300_000 }),
      (#"floors: { server_fault: "9s" }"#, { $0.floors[.serverFault] = 9_000 }),
      (#"floors: { authorization_too_new: "0s" }"#, { $0.floors[.authorizationTooNew] = 0 }),
      ("resends_at_once: { unknown_outcome: 0 }", { $0.resendsAtOnce[.unknownOutcome] = 0 }),
      ("resends_at_once: { closing: 5 }", { $0.resendsAtOnce[.closing] = 5 }), ("", { _ in }),
    ]
    for provider in [ProviderName.apns, .fcm, .oneSignal] {
      for change in changes {
        var expected = vendors
        change.make(&expected[provider]!)
        let read = try parse("retry: { \(provider.rawValue): { \(change.setting) } }").retry
        #expect(read == expected, "\(provider.rawValue): \(change.setting)")
      }
    }
    for wrong in [
      "attempts: 0", "resends_at_once: { closing: 6 }", "resends_at_once: { quota: 1 }", "give_up_after: 60",
    ] {
      #expect(throws: ConfigurationFaults.self) { try parse("retry: { apns: { \(wrong) } }") }
    }
  }

  @Test("a changed floor leaves the vendor's other floors in force")
  func floors() throws {
    let rules = try parse("retry: { fcm: { attempts: 3, floors: { server_fault: \"1s\" } } }").retry
    #expect(rules[.fcm]?.floors[.serverFault] == 1_000)
    #expect(rules[.fcm]?.floors[.quota] == 60_000)
    #expect(rules[.fcm]?.attempts == 3)
    #expect(rules[.apns]?.floors[.serverFault] == 900_000)
  }

  @Test("a changed quota leaves the ramp that its vendor asks for; 0 turns both off; APNs may be given one")
  func quotas() throws {
    #expect(try parse("partitions: 16").quotas == providers.mapValues(\.quota))
    let quotas = try parse(
      "quotas: { fcm: { per_minute: 9000 }, onesignal: { per_minute: 0 }, apns: { per_minute: 100 } }"
    )
    .quotas
    #expect(quotas[.fcm]?.perMinute == 9_000 && quotas[.fcm]?.rampUp == 60_000)
    #expect(quotas[.oneSignal]?.perMinute == 0 && quotas[.apns]?.perMinute == 100)
    #expect(quotas[.apns]?.rampUp == 0)
    // What was not said stays, also where the quota of requests is off.
    #expect(quotas[.oneSignal]?.timesSubscribers == 10 && quotas[.fcm]?.timesSubscribers == 0)
    let calm = try parse("quotas: { onesignal: { times_subscribers: 0 } }").quotas
    #expect(calm[.oneSignal]?.timesSubscribers == 0 && calm[.oneSignal]?.perMinute == 360_000)
  }

  @Test("an app has its clock, its rate and its brake")
  func clock() throws {
    let folder = Folder()
    folder.write("keys/google")
    let text = """
      id: "shop", fallback_zone: "Asia/Tokyo", rate_per_second: 500, error_brake: { share: 0.5, minimum: 10 },
      approval: { above: 10000, exempt_keys: ["key_1"] },
      quiet_hours: { from: "22:00", to: "08:00", zone: "Europe/Berlin", else: "skip" },
      """
    let app = try folder.parse("{ \(Folder.app.replacing(#"id: "shop","#, with: text)) }").apps[0].app
    #expect(app.clock.fallbackZone == "Asia/Tokyo" && app.ratePerSecond == 500)
    #expect(app.errorBrake == ErrorBrake(share: 0.5, minimum: 10))
    #expect(app.approval?.above == 10_000 && app.approval?.exempt == ["key_1"])
    #expect(app.clock.quietHours == QuietHours(from: 1_320, to: 480, zone: "Europe/Berlin", action: .skip))
  }

  @Test("an origin stands in for the vendor's host")
  func origin() throws {
    let folder = Folder()
    folder.write("keys/google")
    let configuration = try folder.parse(
      """
      { apps: [{ id: "shop", credentials: [
        { name: "g", provider: "fcm", service_account_file: "keys/google", origin: "localhost:8444" } ] }] }
      """)
    #expect(configuration.apps[0].credentials[0].origin == Origin(host: "localhost", port: 8444))
  }

  @Test("a misspelt word finds its neighbour, a foreign one finds none")
  func suggestions() {
    #expect(Suggestion.nearest(to: "credentails", among: ["credentials", "id"]) == "credentials")
    #expect(Suggestion.nearest(to: "colour", among: ["credentials", "id"]) == nil)
  }
}
