import Configuration
import Domain
import Testing

@Suite("Faults of the configuration")
struct FaultTests {
  @Test("all are found at once, each with its place and its fix")
  func allAtOnce() {
    let folder = Folder()
    folder.write("keys/open", mode: 0o644)
    let faults = folder.faults(
      """
      {
        redis: { url: "http://x", databse: 1 },
        listen: { port: 70000 },
        retention: { time: 7 },
        lanes: { order_hold: "1 week" },
        log_level: "warn",
        apps: [
          { id: "Shop!", credentials: [] },
          {
            id: "shop",
            credentials: [
              { name: "apple", provider: "apsn" },
              { name: "google", provider: "fcm", service_account_file: "keys/open" },
              { name: "one", provider: "onesignal", api_key_file: "keys/none" },
            ],
          },
        ],
      }
      """)
    #expect(
      faults.map(\.pointer) == [
        "/redis/url", "/redis/databse", "/listen/port", "/retention/time", "/lanes/order_hold", "/log_level",
        "/apps/0/id", "/apps/0/credentials", "/apps/1/credentials/0/provider",
        "/apps/1/credentials/1/service_account_file",
        "/apps/1/credentials/2/app_id", "/apps/1/credentials/2/api_key_file",
      ])
    #expect(faults[1].fix == "Did you mean \"database\"?")
    #expect(faults[5].fix == "Did you mean \"warning\"?")
    #expect(faults[8].fix == "Did you mean \"apns\"?")
    #expect(faults[9].fix == "Run: chmod 600 \(folder.path)/keys/open")
    #expect(faults[11].problem == "no file at \(folder.path)/keys/none")
  }

  @Test(
    "clocks, rates, brakes and quotas that cannot be are refused with what to write",
    arguments: [
      (#"fallback_zone: "Europe/Berlni""#, "/apps/0/fallback_zone", "Did you mean \"Europe/Berlin\"?"),
      (#"fallback_zone: "Mars/Olympus""#, "/apps/0/fallback_zone", "Use an IANA name such as Europe/Berlin"),
      (#"quiet_hours: { from: "22:00", to: "22:00" }"#, "/apps/0/quiet_hours/to", "Give `to` another time of day"),
      (#"quiet_hours: { from: "22:00" }"#, "/apps/0/quiet_hours/to", "Write \"22:00\""),
      (#"quiet_hours: { from: "25:00", to: "8" }"#, "/apps/0/quiet_hours/from", "Write \"00:00\" to \"23:59\""),
      (
        #"quiet_hours: { from: "22:00", to: "08:00", zone: "Mars" }"#, "/apps/0/quiet_hours/zone",
        "Use an IANA name such as Europe/Berlin"
      ),
      (#"quiet_hours: { from: "22:00", to: "08:00", else: "drop" }"#, "/apps/0/quiet_hours/else", "Choose one of them"),
      (#"quiet_hours: { from: "22:00", until: "08:00" }"#, "/apps/0/quiet_hours/until", ""),
      ("rate_per_second: 0", "/apps/0/rate_per_second", "1"),
      ("rate_per_second: 2000000", "/apps/0/rate_per_second", "1000000"),
      (#"rate_per_second: "fast""#, "/apps/0/rate_per_second", "number"),
      ("error_brake: { share: 2 }", "/apps/0/error_brake/share", "1"),
      ("error_brake: { minimum: 0 }", "/apps/0/error_brake/minimum", "1"),
      ("approval: { }", "/apps/0/approval/above", "more devices"),
      ("approval: { above: -1 }", "/apps/0/approval/above", "0"),
    ])
  func campaigns(_ setting: String, _ pointer: String, _ fix: String) throws {
    let folder = Folder()
    folder.write("keys/google")
    let app = Folder.app.replacing(#"id: "shop","#, with: #"id: "shop", \#(setting),"#)
    let faults = folder.faults("{ \(app) }")
    let fault = try #require(faults.first { $0.pointer == pointer }, "\(faults.map(\.text))")
    #expect(!fault.problem.isEmpty && fault.fix.contains(fix), "\(fault.text)")
    #expect(faults.allSatisfy { $0.pointer.hasPrefix("/apps/0/") })
  }

  @Test(
    "quotas are whole numbers of requests a minute, ramps durations, of known providers",
    arguments: [
      ("fcm: { per_minute: -1 }", "/quotas/fcm/per_minute"), ("fcm: { per_minute: 1.5 }", "/quotas/fcm/per_minute"),
      ("fcm: { ramp_up: 60 }", "/quotas/fcm/ramp_up"), (#"fcm: { ramp_up: "2h" }"#, "/quotas/fcm/ramp_up"),
      ("fcm: { per_second: 1 }", "/quotas/fcm/per_second"), ("gcm: { per_minute: 1 }", "/quotas/gcm"),
    ])
  func quotas(_ setting: String, _ pointer: String) {
    let folder = Folder()
    folder.write("keys/google")
    let faults = folder.faults("{ quotas: { \(setting) }, \(Folder.app) }")
    #expect(faults.map(\.pointer) == [pointer], "\(faults.map(\.text))")
    #expect(faults.allSatisfy { !$0.fix.isEmpty })
  }

  @Test(
    "a syntax error is told with line and column",
    arguments: [
      ("{\n  listen: { port: 80 80 }\n}", 2, 22),
      ("{\n  apps: [1, 2\n}", 3, 1),
      ("{ a: 'x", 1, 6),
      ("{ a: yes }", 1, 6),
      ("{}\n}", 2, 1),
      ("{ /* never", 1, 3),
      ("", 1, 1),
      ("{ ü: 1, b 2 }", 1, 11),
    ])
  func syntax(_ text: String, line: Int, column: Int) throws {
    let fault = try #require(Folder().faults(text).first)
    #expect(fault.line == line && fault.column == column, "\(fault.text)")
    #expect(!fault.fix.isEmpty)
  }

  @Test("a key that stands twice is refused, as one of them would be ignored in silence")
  func twice() throws {
    let fault = try #require(Folder().faults("{ partitions: 4,\n partitions: 8 }").first)
    #expect(fault.line == 2 && fault.problem.contains("\"partitions\" is given twice"))
  }

  @Test("deep nesting and bytes that are no UTF-8 are faults, not crashes")
  func hostile() {
    #expect(!Folder().faults(String(repeating: "[", count: 100_000)).isEmpty)
    do {
      _ = try Configuration.parse([0x7b, 0xff, 0x7d], folder: "/", file: "test", providers: providers)
      Issue.record("taken")
    } catch { #expect(error.faults.first?.problem == "the file is not UTF-8") }
  }

  @Test("a password inside the URL is refused")
  func passwordInURL() {
    let folder = Folder()
    folder.write("keys/google")
    let faults = folder.faults("{ redis: { url: \"redis://user:secret@host\" }, \(Folder.app) }")
    #expect(faults.map(\.pointer) == ["/redis/url"])
    #expect(faults.allSatisfy { !$0.text.contains("secret") })
  }

  @Test("a file that is not there is told with what to do")
  func noFile() {
    do {
      _ = try Configuration.load(path: "/nowhere/fanfare.json5", providers: providers)
      Issue.record("taken")
    } catch { #expect(error.faults.first?.fix.contains("fanfare.example.json5") == true) }
  }
}
