import Domain
import Testing

@Suite("Sets of bytes")
struct ByteSetTests {
  private static let quoted = ByteSet { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
  private static let brace = ByteSet { $0 == UInt8(ascii: "{") }
  private static let nul = ByteSet { $0 == 0 }
  private static let many = ByteSet { $0.isMultiple(of: 7) }

  @Test("a member is found wherever it stands, and nothing else is taken for one", arguments: 0..<24)
  func everyPlace(place: Int) {
    // Beside letters of several bytes, and beside the neighbours of each member.
    for filler in ["a", "é", "{", "\u{7f}", "!", "#", "[", "]", "\u{fffd}"] {
      for byte in UInt8(0)..<128 {
        let letter = String(Unicode.Scalar(byte))
        let before = String(repeating: filler, count: place)
        let after = String(repeating: filler, count: 23 - place)
        let text = before + letter + after
        for set in [Self.quoted, Self.brace, Self.many, Self.nul, .lowercaseHexDigits] {
          let expected = text.utf8.contains { set.contains($0) }
          #expect(set.holdsSome(of: text) == expected, "\(byte) at \(place) among \(filler)")
        }
      }
    }
  }

  @Test("an empty text holds nothing, and a set of all of ASCII finds all of it and nothing beyond")
  func edges() {
    let all = ByteSet { _ in true }
    #expect(!all.holdsSome(of: "") && !Self.quoted.holdsSome(of: ""))
    #expect(all.holdsSome(of: "a") && all.holdsSome(of: "éa") && !all.holdsSome(of: "éö€"))
  }
}
