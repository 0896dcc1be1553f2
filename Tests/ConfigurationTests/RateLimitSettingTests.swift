import Configuration
import Domain
import Testing

@Suite("Rate limits of keys and apps in the configuration")
struct RateLimitSettingTests {
  private func parse(_ settings: String, app: String = "") throws -> Configuration {
    let folder = Folder()
    folder.write("keys/google")
    return try folder.parse("{ \(settings) \(Folder.app.replacing("id:", with: "\(app) id:")) }")
  }

  @Test("limits of keys and apps hold for every app; an app's own replace single ones")
  func read() throws {
    let configuration = try parse(
      """
      limits: {
        keys: { requests: "600/60s", bytes: "1GiB/1d" },
        register_keys: { requests: "off", registrations: "10/1s" },
        apps: { requests: "1000/1s", deliveries: "5000000/30d" },
      },
      """, app: #"limits: { requests: "off", registrations: "7/2s" },"#)
    let minute: Int64 = 60_000
    let limits = try #require(configuration.apps.first?.app.limits)
    #expect(limits.keys[.requests] == RateLimit(quota: 600, window: minute))
    #expect(limits.keys[.bytes] == RateLimit(quota: 1 << 30, window: 1_440 * minute))
    #expect(limits.keys[.deliveries] == nil && limits.keys[.registrations] == nil)
    #expect(limits.registerKeys[.requests] == nil)
    #expect(limits.registerKeys[.registrations] == RateLimit(quota: 10, window: 1_000))
    #expect(configuration.tenantLimits.app[.requests] == RateLimit(quota: 1_000, window: 1_000))
    #expect(limits.app[.requests] == nil)
    #expect(limits.app[.deliveries] == RateLimit(quota: 5_000_000, window: 30 * 1_440 * minute))
    #expect(limits.app[.registrations] == RateLimit(quota: 7, window: 2_000))
    #expect(try parse("").apps.first?.app.limits == TenantLimits())
  }

  @Test(
    "what is no limit is refused with its place and the form",
    arguments: [
      "600", "600/", "/60s", "0/60s", "-1/60s", "1/500ms", "1/1500ms", "1/91d", "1/0s", "1GiB/1d", "600/60s/1", "none",
      "99999999999999999999/1s",
    ])
  func wrong(_ text: String) {
    do {
      _ = try parse("limits: { keys: { requests: \"\(text)\" } },")
      Issue.record("\(text) was read")
    } catch let faults as ConfigurationFaults {
      #expect(faults.faults.map(\.pointer) == ["/limits/keys/requests"])
      #expect(faults.faults[0].fix.contains("\"600/60s\""))
    } catch {
      Issue.record(error)
    }
  }

  @Test("what an app may have is a number, and 0 is any; an app's own replaces that of all")
  func stocks() throws {
    let limits = try #require(
      try parse(
        "limits: { keys: { counts: 3 }, apps: { counts: 0, devices: 1000, tags: 5, scheduled: 50 } },",
        app: "limits: { devices: 0, scheduled: 7 },"
      ).apps.first?.app.limits)
    #expect(limits.countsOfKey == 3 && limits.countsOfApp == nil)
    #expect(limits.devices == nil && limits.tags == 5 && limits.scheduled == 7)
    for wrong in ["devices: -1", "tags: 10001", "scheduled: 1.5", #"counts: "off""#, "counts: 1001"] {
      #expect(throws: ConfigurationFaults.self, "\(wrong)") { try parse("limits: { apps: { \(wrong) } },") }
    }
  }

  @Test("bytes have units, and a key that only registers sends nothing that could be limited")
  func others() {
    for settings in [
      #"limits: { keys: { bytes: "1000/1s" } },"#, #"limits: { register_keys: { deliveries: "1/1s" } },"#,
      #"limits: { apps: { reqests: "1/1s" } },"#,
    ] {
      #expect(throws: ConfigurationFaults.self, "\(settings)") { try parse(settings) }
    }
  }
}
