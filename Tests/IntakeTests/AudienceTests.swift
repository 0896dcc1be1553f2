import Domain
import Intake
import JSON
import Support
import Testing

@Suite("A message can be aimed at an audience")
struct AudienceTests {
  private func read(_ to: String, _ more: String = "") throws -> Message {
    let text = #"{"to":\#(to),"notification":{"title":"T"}\#(more.isEmpty ? "" : ",")\#(more)}"#
    let document = try JSON.parse(Array(text.utf8))
    return try MessageReader.read(document, providers: knownProviders).message
  }
  private func violations(_ to: String, _ more: String = "") throws -> [Violation] {
    try #require(throws: Refusal.self) { try read(to, more) }.violations
  }

  @Test("expressions and filters arrive in their canonical form, everyone by the explicit word only")
  func ways() throws {
    #expect(try read(#"{"audience":"a && (b || !c)"}"#).to == .audience("(a && (b || !c))"))
    let filters = #"[{"field":"tag","key":"plan","relation":"=","value":"pro"}]"#
    #expect(try read(#"{"filters":\#(filters)}"#).to == .audience("plan:pro"))
    let everyone = try read(#"{"everyone":true}"#, #""reach":"latest_device_per_user","keep_receipts":true"#)
    #expect(everyone.to == .everyone)
    #expect(everyone.reach == .latestDevicePerUser)
    #expect(everyone.keepReceipts)
  }

  @Test(
    "a fault has its pointer, its column and its remedy",
    arguments: [
      (#"{"audience":""}"#, "", "/to/audience", 1, "empty"),
      (#"{"audience":"plan=pro"}"#, "", "/to/audience", 5, "did you mean `plan:pro`?"),
      (#"{"audience":"a && provider:apn"}"#, "", "/to/audience", 15, "did you mean `provider:apns`?"),
      (#"{"audience":["a"]}"#, "", "/to/audience", nil, "must be a string"),
      (#"{"filters":[{"field":"country","relation":"=","value":"AT"}]}"#, "", "/to/filters/0", nil, "country"),
      (#"{"filters":[]}"#, "", "/to/filters", nil, "is empty"),
      (#"{"audience":"a","everyone":true}"#, "", "/to", nil, "exactly one"),
      (#"{"everyone":false}"#, "", "/to/everyone", nil, "must be true"),
      (#"{"devices":["d"]}"#, #""reach":"latest_device_per_user""#, "/reach", nil, "only to audiences"),
      (
        #"{"devices":["d"]}"#, #""onesignal_targeting":"provider","providers":["onesignal"]"#, "/onesignal_targeting",
        nil, "only audiences"
      ),
      (#"{"audience":"a"}"#, #""onesignal_targeting":"provider""#, "/onesignal_targeting", nil, "providers"),
      (
        #"{"filters":[{"field":"tag","key":"a","relation":"exists"},{"field":"tag","key":"utm:source","relation":"!=","value":"ads"}]}"#,
        "", "/to/filters/1", nil, "`key` has a colon"
      ),
    ] as [(String, String, String, Int?, String)])
  func faults(_ to: String, _ more: String, _ pointer: String, _ column: Int?, _ words: String) throws {
    let found = try violations(to, more)
    #expect(found.count == 1)
    #expect(found.first?.pointer == pointer)
    #expect(found.first?.column == column)
    #expect(found.first?.detail.contains(words) == true, "\(found)")
  }
}
