import Domain
import Intake
import Support
import Testing

@Suite("A device is read as it was registered")
struct DeviceTests {
  @Test("every field arrives, the registration's time is the server's")
  func wholeDevice() throws {
    let device = try DeviceReader.read(
      document(
        #"""
        {"id":"d1","provider":"apns","token":"AB12","token_kind":"device","environment":"sandbox",
         "bundle_id":"com.example.app","platform":"iOS","app_version":"2.1","language":"de-AT","tz":"Europe/Vienna",
         "user":"u 17","tags":["plan:pro","plan:pro","x"],"attributes":{"first_name":"Ana","n":1.5,"ok":true},
         "enabled":false,"live_activity_token":"80a1","activity_id":"m7","authorization":["time-sensitive","provisional"],"last_seen_at":"2026-11-21T09:00:00.5+01:00"}
        """#), id: DeviceID(rawValue: "d1"), now: noon, providers: knownProviders
    ).device
    #expect(
      device.address
        == Address(
          provider: .apns, token: "ab12", environment: .sandbox, bundleID: "com.example.app",
          liveActivityToken: "80a1"))
    #expect(device.id.rawValue == "d1")
    #expect(device.platform == "ios")
    #expect(device.appVersion == "2.1")
    #expect(device.language == "de-AT")
    #expect(device.timeZone == "Europe/Vienna")
    #expect(device.user == "u 17")
    #expect(device.tags == ["plan:pro", "x"])
    #expect(device.attributes.count == 3)
    #expect(!device.enabled)
    #expect(device.liveActivityToken == "80a1")
    #expect(device.activityID == "m7")
    #expect(device.permissions.all == [.provisional, .timeSensitive])
    #expect(device.registeredAt == noon)
    #expect(device.lastSeen?.rfc3339 == "2026-11-21T08:00:00.500Z")
  }

  @Test("without an id in path and body the id is left to the caller")
  func noID() throws {
    let reading = try DeviceReader.read(document(registration(#""user":null"#)), id: nil, now: noon)
    #expect(reading.device.id.rawValue == "")
    #expect(reading.device.user == nil)
    #expect(reading.given == ["provider", "token", "user"])
  }

  @Test("a clock that runs ahead is put right, with a warning")
  func clockAhead() throws {
    let reading = try DeviceReader.read(
      document(registration(#""last_seen_at":"2199-01-01T00:00:00Z""#)), id: nil, now: noon)
    #expect(reading.device.lastSeen == noon)
    #expect(reading.warnings.map(\.code) == ["clock_ahead"])
  }

  @Test(
    "an import may say when the app registered, if that is a time that has come; without it that is now",
    arguments: [
      (#""registered_at":"2024-02-29T23:30:00.125+01:00""#, "2024-02-29T22:30:00.125Z", []),
      (#""registered_at":"\#(noon.rfc3339)""#, noon.rfc3339, []), (#""enabled":true"#, noon.rfc3339, []),
      (#""registered_at":"\#((noon + 1).rfc3339)""#, nil, ["/registered_at not_allowed"]),
      (#""registered_at":"2024-02-30T00:00:00Z""#, nil, ["/registered_at invalid_format"]),
      (#""registered_at":"2024-02-29""#, nil, ["/registered_at invalid_format"]),
      (#""registered_at":1700000000"#, nil, ["/registered_at wrong_type"]),
      (#""registered_at":null"#, nil, ["/registered_at wrong_type"]),
      (#""registered_ad":"2024-02-28T00:00:00Z""#, nil, ["/registered_ad unknown_field"]),
    ] as [(String, String?, [String])])
  func imported(_ members: String, _ time: String?, _ faults: [String]) throws {
    let line = try document(registration(members))
    do throws(Refusal) {
      let reading = try DeviceReader.read(line, id: nil, now: noon, isImported: true)
      #expect(reading.device.registeredAt.rfc3339 == time)
      #expect(faults == [])
    } catch {
      #expect(error.violations.map { "\($0.pointer) \($0.code)" } == faults)
    }
  }

  @Test(
    "each fault has its pointer and its code",
    arguments: [
      ("[]", [" wrong_type"]),
      ("{}", ["/provider required", "/token required"]),
      (registration(#""registered_at":"2026-11-21T09:00:00Z""#), ["/registered_at not_allowed"]),
      (registration(#""tagz":[]"#), ["/tagz unknown_field"]),
      (registration(#""id":"a b""#), ["/id invalid_format"]),
      (registration(#""platform":"i os""#), ["/platform invalid_format"]),
      (registration(#""authorization":"alowed""#), ["/authorization unknown_value"]),
      (registration(#""authorization":7"#), ["/authorization wrong_type"]),
      (
        registration(#""authorization":["denied","critical","authorized",null,"x"]"#),
        ["/authorization/2 not_allowed", "/authorization/3 wrong_type", "/authorization/4 unknown_value"]
      ),
      (registration(#""installation":"4f5c1b2a""#), ["/installation invalid_format"]),
      (registration(#""installation":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa""#), ["/installation invalid_format"]),
      (registration(#""installation":"a b""#), ["/installation invalid_format"]),
      (
        registration(#""id":"d1","installation":"3f1f6d7c-0a4e-4c8f-9b1e-6f0c2d5a7e91""#), ["/installation not_allowed"]
      ),
      (registration(#""language":"de_DE""#), ["/language invalid_format"]),
      (registration(#""language":"german!""#), ["/language invalid_format"]),
      (registration(#""tz":"Vienna""#), ["/tz unknown_value"]),
      (registration(#""tz":"../../etc/passwd""#), ["/tz unknown_value"]),
      (registration(#""user":"""#), ["/user empty"]),
      (registration(#""user":7"#), ["/user wrong_type"]),
      (registration(#""tags":"a""#), ["/tags wrong_type"]),
      (
        registration(#""tags":["ok","a\u0007b","",3]"#),
        ["/tags/1 invalid_format", "/tags/2 empty", "/tags/3 wrong_type"]
      ),
      (registration(#""tags":["\#(String(repeating: "t", count: 129))"]"#), ["/tags/0 too_long"]),
      (
        registration(#""tags":[\#((0..<251).map { #""t\#($0)""# }.joined(separator: ","))]"#), ["/tags too_many"]
      ),
      (
        registration(#""attributes":{"a":{},"b":[1],"c":null}"#),
        [
          "/attributes/a wrong_type", "/attributes/b wrong_type", "/attributes/c wrong_type",
        ]
      ),
      (registration(#""enabled":1"#), ["/enabled wrong_type"]),
      (registration(#""last_seen_at":"yesterday""#), ["/last_seen_at invalid_format"]),
      (registration(#""last_seen_at":1700000000"#), ["/last_seen_at wrong_type"]),
      (#"{"provider":"fcm","token":"a\r\nb","environment":"sandbox"}"#, ["/token invalid_format"]),
    ])
  func faults(_ text: String, _ expected: [String]) throws {
    #expect(try deviceFaults(of: text) == expected)
  }

  @Test("an id in the body that is not the path's is refused")
  func twoIDs() throws {
    #expect(try deviceFaults(of: registration(#""id":"d2""#), id: "d1") == ["/id not_allowed"])
    #expect(try deviceFaults(of: registration(#""id":"d1""#), id: "d1") == [])
    #expect(try deviceFaults(of: registration(), id: "a b") == [" invalid_format"])
  }
}
