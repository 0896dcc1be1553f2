import Domain
import Intake
import Testing

@Suite("What a text may consist of")
struct TextRuleTests {
  /// Each scalar at three places of a text: alone, behind others that are looked at many at a time, and before them.
  private static func texts(_ scalar: Unicode.Scalar) -> [String] {
    let letters = String(repeating: "x", count: 40)
    return [String(scalar), letters + String(scalar), String(scalar) + letters]
  }
  private static let scalars = (0...0x2100).compactMap { Unicode.Scalar(UInt32($0)) }

  private static func message(to device: String = "d1", title: String = "T", category: String = "c") -> JSONValue {
    .object([
      JSONMember("to", .object([JSONMember("devices", .array([.string(device)]))])),
      JSONMember(
        "notification",
        .object([JSONMember("title", .string(title)), JSONMember("category", .string(category))])),
    ])
  }
  private static func takes(_ message: JSONValue) -> Bool { (try? MessageReader.read(message)) != nil }

  @Test("an identifier is printable ASCII without space and slash")
  func identifier() {
    for scalar in Self.scalars {
      let fits = (0x21...0x7e).contains(scalar.value) && scalar != "/"
      for text in Self.texts(scalar) {
        #expect(Self.takes(Self.message(to: text)) == fits, "\(scalar.value)")
        #expect(DeviceReader.isDeviceID(text) == fits, "\(scalar.value)")
      }
    }
  }

  @Test("a line has no control characters and no space at either end")
  func line() {
    for scalar in Self.scalars {
      for (place, text) in Self.texts(scalar).enumerated() {
        let fits = !scalar.breaksLine && scalar != " "
        #expect(Self.takes(Self.message(category: text)) == fits, "\(scalar.value) at \(place)")
      }
    }
    #expect(Self.takes(Self.message(category: "a b é c")))
  }

  @Test("prose may hold anything but NUL")
  func prose() {
    for scalar in Self.scalars {
      for text in Self.texts(scalar) {
        #expect(Self.takes(Self.message(title: text)) == (scalar.value != 0), "\(scalar.value)")
      }
    }
  }
}
