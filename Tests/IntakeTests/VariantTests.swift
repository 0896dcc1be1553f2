import Domain
import Intake
import Testing

@Suite("A message in variants")
struct VariantTests {
  private static let base = #""notification":{"title":"T","body":"B","sound":"default"},"data":{"screen":"home","n":1}"#

  @Test("members of a variant replace the message's; the others stay")
  func merging() throws {
    let message = try read(
      alert(
        Self.base
          + #","variants":[{"name":"a","weight":45},{"name":"b","weight":44.5,"notification":{"title":"Other"},"data":{"n":2,"m":{"x":1}}}],"holdout":10.5"#
      )
    ).message
    #expect(message.shares == VariantShares(names: ["a", "b"], weights: [4_500, 4_450], holdout: 1_050))
    let contents = message.contents
    #expect(contents.map(\.name) == ["a", "b"])
    #expect(contents[0].message.notification == message.notification && contents[0].message.data == message.data)
    let other = contents[1].message
    #expect(other.notification?.title == "Other" && other.notification?.body == "B")
    #expect(other.notification?.sound == Sound(name: "default"))
    #expect(other.data.map(\.key) == ["screen", "n", "m"] && other.data[1].value == .integer(2))
    #expect(other.variants.isEmpty && other.to == message.to)
  }

  @Test("variants may say all that a message says, and a holdout needs no variants")
  func alone() throws {
    let whole = alert(
      #""variants":[{"name":"a","weight":50,"notification":{"title":"A"}},{"name":"b","weight":50,"notification":{"title":"B"}}]"#
    )
    #expect(try read(whole).message.contents.map { $0.message.notification?.title } == ["A", "B"])
    let holdout = try read(alert(#""notification":{"title":"T"},"holdout":5"#)).message
    #expect(holdout.shares == VariantShares(names: [], weights: [], holdout: 500))
    #expect(holdout.contents.count == 1 && holdout.contents[0].name == nil)
    #expect(try read(alert(#""notification":{"title":"T"}"#)).message.shares == nil)
  }

  @Test(
    "a holdout below one percent is taken, and warned of: it may be meant as a fraction",
    arguments: [
      ("0.1", "is in percent: 0.1 leaves out 10 of 10,000 devices; for 10 % write 10"),
      ("0.25", "is in percent: 0.25 leaves out 25 of 10,000 devices; for 25 % write 25"), ("1", nil), ("10", nil),
    ])
  func fractions(_ holdout: String, _ warning: String?) throws {
    let reading = try read(alert(#""notification":{"title":"T"},"holdout":\#(holdout)"#))
    #expect(reading.warnings.map(\.detail) == (warning.map { [$0] } ?? []))
    #expect(reading.warnings.allSatisfy { $0.pointer == "/holdout" && $0.code == "small_holdout" })
  }

  @Test("a variant that changes texts but not their translations is named")
  func languages() throws {
    let warnings = try read(
      alert(
        #""notification":{"title":"T","localized":{"de":{"title":"D"}}},"variants":[{"name":"a","weight":50},{"name":"b","weight":50,"notification":{"title":"B"}}]"#
      )
    ).warnings
    #expect(warnings.map { "\($0.pointer) \($0.code)" } == ["/variants/1/notification not_localized"])
  }

  @Test(
    "what cannot be shared out is refused, all at once, where it stands",
    arguments: [
      (#""variants":[{"name":"a","weight":50},{"name":"b","weight":40}]"#, ["/variants required"]),
      (#""variants":[{"name":"a","weight":60},{"name":"b","weight":40}],"holdout":10"#, ["/variants out_of_range"]),
      (
        #""variants":[{"name":"a","weight":0},{"name":"a","weight":"half"},{"weight":33.333}]"#,
        [
          "/variants/0/weight out_of_range", "/variants/1/name duplicate", "/variants/1/weight wrong_type",
          "/variants/2/name required", "/variants/2/weight invalid_format",
        ]
      ),
      (#""variants":[]"#, ["/variants empty"]),
      (#""holdout":100"#, ["/holdout out_of_range"]),
      (#""holdout":-1"#, ["/holdout out_of_range"]),
      (#""variants":{"items":[]}"#, ["/variants wrong_type"]),
      (#""variants":[7]"#, ["/variants/0 wrong_type"]),
      (
        #""variants":[{"name":"a","weight":100,"notification":{"titel":"x","badge":-1},"data":{"aps":1},"ttl":5}]"#,
        [
          "/variants/0/ttl unknown_field", "/variants/0/notification/titel unknown_field",
          "/variants/0/notification/badge out_of_range", "/variants/0/data/aps not_allowed",
        ]
      ),
      (#""variants":[{"name":"a","weight":100,"notification":7}]"#, ["/variants/0/notification wrong_type"]),
      (
        #""variants":[{"name":"a","weight":100,"notification":{"interruption_level":"critical"}}]"#,
        ["/variants/0/notification/interruption_level not_allowed"]
      ),
    ])
  func faulty(_ members: String, _ expected: [String]) throws {
    #expect(try faults(of: alert(#"\#(Self.base),\#(members)"#)) == expected)
  }

  @Test("a fault of the message itself is told once, and not again for each variant")
  func once() throws {
    let text = alert(
      #""notification":{"title":7},"variants":[{"name":"a","weight":50},{"name":"b","weight":50,"notification":{"body":"B"}}]"#
    )
    #expect(try faults(of: text) == ["/notification/title wrong_type"])
    let none = alert(#""variants":[{"name":"a","weight":50,"notification":{"body":"B"}},{"name":"b","weight":50}]"#)
    #expect(try faults(of: none) == ["/notification required"])
  }

  @Test("one delivery for all cannot be shared out")
  func oneDelivery() throws {
    let text =
      #"{"to":{"audience":"pro"},"onesignal_targeting":"provider","providers":["onesignal"],"notification":{"title":"T"},"holdout":5}"#
    #expect(try faults(of: text) == ["/holdout not_allowed"])
  }
}
