import Domain
import Intake
import Testing

@Suite("What an app says in its own words has bounds")
struct FreedomTests {
  private static func object(_ count: Int, _ value: String = "0") -> String {
    "{" + (0..<count).map { "\"k\($0)\":\(value)" }.joined(separator: ",") + "}"
  }
  private static func nested(_ depth: Int) -> String {
    String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth)
  }
  private static let text = #""notification":{"title":"T"}"#
  private static let activity =
    #""kind":"live_activity","live_activity":{"event":"update","timestamp":1,"content_state":"#

  /// Where free JSON may stand, around a value of it.
  private static let places: [(pointer: String, around: @Sendable (String) -> String)] = [
    ("/data", { alert("\(text),\"data\":\($0)") }),
    ("/overrides/apns/aps", { alert("\(text),\"overrides\":{\"apns\":{\"aps\":\($0)}}") }),
    ("/overrides/fcm/android", { alert("\(text),\"overrides\":{\"fcm\":{\"android\":\($0)}}") }),
    ("/overrides/fcm/webpush", { alert("\(text),\"overrides\":{\"fcm\":{\"webpush\":\($0)}}") }),
    ("/overrides/fcm/apns", { alert("\(text),\"overrides\":{\"fcm\":{\"apns\":\($0)}}") }),
    ("/overrides/onesignal", { alert("\(text),\"overrides\":{\"onesignal\":\($0)}") }),
    ("/live_activity/content_state", { alert("\(activity)\($0)}") }),
    (
      "/live_activity/attributes",
      {
        alert(
          #""kind":"live_activity","live_activity":{"event":"start","timestamp":1,"attributes_type":"T","content_state":{},"attributes":\#($0)},"notification":{"title":"T"}"#
        )
      }
    ),
  ]

  @Test("members", arguments: places.indices)
  func members(place: Int) throws {
    let (pointer, around) = Self.places[place]
    #expect(try faults(of: around(Self.object(1_001))) == ["\(pointer) too_many"])
    #expect(try faults(of: around(#"{"a":[{"b":\#(Self.object(1_001))}]}"#)) == ["\(pointer)/a/0/b too_many"])
    // 1,000 have no room in 5,120 bytes.
    let most = pointer == "/overrides/onesignal" ? 1_000 : 300
    #expect(try faults(of: around(Self.object(most))).isEmpty)
  }

  @Test("depth", arguments: places.indices)
  func depth(place: Int) throws {
    let (pointer, around) = Self.places[place]
    #expect(try faults(of: around(Self.nested(16))).isEmpty)
    #expect(
      try faults(of: around(Self.nested(17))) == ["\(pointer)\(String(repeating: "/a", count: 16)) too_deep"])
  }

  @Test("bytes", arguments: places.indices)
  func bytes(place: Int) throws {
    let (pointer, around) = Self.places[place]
    let limit = pointer == "/overrides/onesignal" ? 65_536 : 5_120
    let frame = #"{"k":""}"#.utf8.count
    #expect(try faults(of: around(#"{"k":"\#(String(repeating: "x", count: limit - frame))"}"#)).isEmpty)
    #expect(
      try faults(of: around(#"{"k":"\#(String(repeating: "x", count: limit - frame + 1))"}"#)) == [
        "\(pointer) too_long"
      ])
  }

  @Test("headers of APNs: their number, and their bytes as HTTP/2 counts them")
  func headers() throws {
    func message(_ count: Int, _ bytes: Int) -> String {
      let value = String(repeating: "v", count: bytes)
      let headers = (10..<10 + count).map { "\"x-\($0)\":\"\(value)\"" }.joined(separator: ",")
      return alert("\(Self.text),\"overrides\":{\"apns\":{\"headers\":{\(headers)}}}")
    }
    #expect(try faults(of: message(32, 100)).isEmpty)
    #expect(try faults(of: message(33, 1)) == ["/overrides/apns/headers too_many"])
    // 4 + 564 + 32 for each.
    #expect(try faults(of: message(10, 564)).isEmpty)
    #expect(try faults(of: message(10, 565)) == ["/overrides/apns/headers too_long"])
    #expect(try faults(of: message(200, 500)) == ["/overrides/apns/headers too_many"])
  }

  @Test("languages, labels, variants and a device's attributes are counted")
  func counts() throws {
    func members(_ count: Int, _ name: (Int) -> String) -> String {
      "{" + (0..<count).map { "\"\(name($0))\":\"v\"" }.joined(separator: ",") + "}"
    }
    func languages(_ count: Int) -> String {
      let texts = (0..<count).map {
        let letters = [UInt8(ascii: "a") + UInt8($0 / 26), UInt8(ascii: "a") + UInt8($0 % 26)]
        return "\"x\(String(decoding: letters, as: UTF8.self))\":{\"title\":\"T\"}"
      }
      return alert(#""notification":{"title":"T","localized":{\#(texts.joined(separator: ","))}}"#)
    }
    func variants(_ count: Int) -> String {
      let each = (0..<count).map { #"{"name":"v\#($0)","weight":\#(100 / Double(count))}"# }
      return alert("\(Self.text),\"variants\":[\(each.joined(separator: ","))]")
    }
    func labels(_ count: Int) -> String { alert("\(Self.text),\"labels\":\(members(count) { "n\($0)" })") }
    #expect(try faults(of: languages(100)).isEmpty)
    #expect(try faults(of: languages(101)) == ["/notification/localized too_many"])
    #expect(try faults(of: labels(32)).isEmpty)
    #expect(try faults(of: labels(33)) == ["/labels too_many"])
    #expect(try faults(of: variants(16)).isEmpty)
    #expect(try faults(of: variants(17)) == ["/variants too_many"])
    func attributes(_ count: Int) -> String { registration("\"attributes\":\(members(count) { "n\($0)" })") }
    #expect(try deviceFaults(of: attributes(100)).isEmpty)
    #expect(try deviceFaults(of: attributes(101)) == ["/attributes too_many"])
  }

  @Test("a variant's own members have the same bounds")
  func variants() throws {
    let variant = #"{"name":"a","weight":100,"data":\#(Self.object(1_001))}"#
    #expect(
      try faults(of: alert("\(Self.text),\"variants\":[\(variant)]")) == ["/variants/0/data too_many"])
  }
}
