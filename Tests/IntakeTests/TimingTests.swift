import Domain
import Intake
import JSON
import Testing

@Suite("When a message goes")
struct TimingTests {
  private static let now = "2026-11-21T12:00:00Z"

  private func read(_ members: String, to: String = #"{"everyone":true}"#, checked: Bool = true) throws -> Message {
    let text = #"{"to":\#(to),"notification":{"title":"T"},\#(members)}"#
    let document = try JSON.parse(Array(text.utf8))
    return try MessageReader.read(document, now: checked ? WallTime(rfc3339: Self.now) : nil).message
  }

  private func faults(_ members: String, to: String = #"{"everyone":true}"#) throws -> [String] {
    do {
      _ = try read(members, to: to)
      return []
    } catch let refusal as Refusal {
      #expect(refusal.violations.allSatisfy { $0.detail.count > 10 })
      return refusal.violations.map { "\($0.pointer) \($0.code)" }
    }
  }

  @Test("times, quiet hours and caps are read as they are meant")
  func read() throws {
    let at = try #require(WallTime(rfc3339: "2026-12-01T08:00:00Z"))
    #expect(try read(#""send_at":"2026-12-01T09:00:00+01:00""#).sendAt == .at(at))
    let local = try #require(LocalTime("2026-12-01T09:00:00"))
    #expect(try read(#""send_at_local":"2026-12-01T09:00:00""#).sendAt == .local(local))
    #expect(local.text == "2026-12-01T09:00:00")
    var message = try read(
      #""quiet_hours":{"from":"22:00","to":"08:30","zone":"Asia/Tokyo","else":"skip"},"topic":"offers","cap":{"max":2,"per":"week"}"#
    )
    #expect(
      message.quietHours == .own(QuietHours(from: 1_320, to: 510, zone: "Asia/Tokyo", action: .skip)))
    #expect(message.cap == Cap(limit: 2, period: .week, topic: "offers"))
    message = try read(#""quiet_hours":false"#)
    #expect(message.quietHours == .none && message.cap == nil && message.sendAt == nil)
    #expect(try read(#""ttl":60"#).quietHours == .ofApp)
    // A second ago still counts as now; what is stored is read whenever it is.
    #expect(try read(#""send_at":"2026-11-21T11:59:59Z""#).sendAt != nil)
    #expect(try read(#""send_at":"2020-01-01T00:00:00Z""#, checked: false).sendAt != nil)
    // Past in Berlin, still to come in New York.
    #expect(try read(#""send_at_local":"2026-11-21T09:00:00""#).sendAt != nil)
  }

  @Test(
    "what cannot be meant is refused, all of it at once",
    arguments: [
      (#""send_at":"2026-11-21T11:58:00Z""#, ["/send_at out_of_range"]),
      (#""send_at":"2027-02-20T00:00:00Z""#, ["/send_at out_of_range"]),
      (#""send_at":"2026-12-01T09:00:00""#, ["/send_at invalid_format"]),
      (#""send_at":"tomorrow""#, ["/send_at invalid_format"]),
      (#""send_at":1764579600"#, ["/send_at wrong_type"]),
      (#""send_at_local":"2026-11-20T23:00:00""#, ["/send_at_local out_of_range"]),
      (#""send_at_local":"2027-03-01T09:00:00""#, ["/send_at_local out_of_range"]),
      (#""send_at_local":"2026-12-01T09:00:00Z""#, ["/send_at_local invalid_format"]),
      (#""send_at_local":"2026-02-30T09:00:00""#, ["/send_at_local invalid_format"]),
      (
        #""send_at":"2026-12-01T09:00:00Z","send_at_local":"2026-12-01T09:00:00""#, ["/send_at_local not_allowed"]
      ),
      (#""quiet_hours":{"from":"22:00","to":"22:00"}"#, ["/quiet_hours/to out_of_range"]),
      (#""quiet_hours":{"from":"22:00"}"#, ["/quiet_hours/to required"]),
      (
        #""quiet_hours":{"from":"24:00","to":"8:00"}"#,
        ["/quiet_hours/from invalid_format", "/quiet_hours/to invalid_format"]
      ),
      (#""quiet_hours":{"from":"22:00","to":"08:00","zone":"Berlin"}"#, ["/quiet_hours/zone unknown_value"]),
      (#""quiet_hours":{"from":"22:00","to":"08:00","else":"drop"}"#, ["/quiet_hours/else unknown_value"]),
      (#""quiet_hours":true"#, ["/quiet_hours not_allowed"]),
      (#""quiet_hours":"22-8""#, ["/quiet_hours wrong_type"]),
      (#""cap":{"max":2,"per":"day"}"#, ["/topic required"]),
      (#""cap":{"max":0,"per":"month"},"topic":"o""#, ["/cap/max out_of_range", "/cap/per unknown_value"]),
      (#""cap":{},"topic":"o""#, ["/cap/max required", "/cap/per required"]),
      (#""topic":"offers""#, ["/topic not_allowed"]),
      (
        #""send_at":"x","quiet_hours":{"from":"1","to":"2"},"cap":{"max":99,"per":"day"}"#,
        [
          "/send_at invalid_format", "/quiet_hours/from invalid_format", "/quiet_hours/to invalid_format",
          "/cap/max out_of_range", "/topic required",
        ]
      ),
    ])
  func bad(_ members: String, _ expected: [String]) throws {
    #expect(try faults(members) == expected)
  }

  @Test("who aims by themselves know their devices: nothing that depends on each of them can be asked")
  func aimedElsewhere() throws {
    let members =
      #""onesignal_targeting":"provider","providers":["onesignal"],"send_at_local":"2026-12-01T09:00:00","topic":"o","cap":{"max":1,"per":"day"}"#
    #expect(try faults(members) == ["/send_at_local not_allowed", "/cap not_allowed"])
  }

  @Test("a change names one time, and may name the version it is for")
  func change() throws {
    func change(_ text: String) throws -> ScheduleChange {
      try ScheduleReader.read(
        try JSON.parse(Array(text.utf8)), now: try #require(WallTime(rfc3339: Self.now)))
    }
    let moved = try change(#"{"send_at":"2026-12-01T09:00:00Z","version":3}"#)
    #expect(moved.version == 3 && moved.member.key == "send_at")
    for text in [#"{}"#, #"{"version":1}"#, #"{"send_at":"2020-01-01T00:00:00Z"}"#, #"{"ttl":5}"#, "[]"] {
      #expect(throws: Refusal.self, "\(text)") { try change(text) }
    }
  }
}
