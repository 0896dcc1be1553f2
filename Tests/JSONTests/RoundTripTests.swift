import Domain
import JSON
import Testing

@Suite("Writing JSON and reading it again")
struct RoundTripTests {
  @Test("doubles, integers and control characters are written as JSON")
  func forms() {
    func text(_ value: JSONValue) -> String { String(decoding: value.encoded, as: UTF8.self) }
    #expect(text(.double(-0.0)) == "-0.0")
    #expect(text(.double(5)) == "5.0")
    #expect(text(.double(1e300)) == "1e+300")
    #expect(text(.integer(.min)) == "-9223372036854775808")
    #expect(text(.unsigned(.max)) == "18446744073709551615")
    #expect(
      text(.string("\u{0}\u{1F}\u{7F}\"\\/\n\r\t\u{8}\u{2028}é"))
        == "\"\\u0000\\u001f\u{7F}\\\"\\\\/\\n\\r\\t\\u0008\u{2028}é\"")
    var writer = JSONWriter()
    writer.beginArray()
    writer.double(1)
    writer.double(-0.0)
    writer.double(0.8)
    writer.double(-3e14)
    writer.endArray()
    #expect(String(decoding: writer.bytes, as: UTF8.self) == "[1,-0.0,0.8,-300000000000000]")
  }

  @Test("any value reads back as itself, by a random seed")
  func property() throws {
    let seed = UInt64.random(in: .min ... .max)
    var chance = Chance(state: seed)
    for round in 0..<2_000 {
      let value = chance.value(depth: 5)
      let bytes = value.encoded
      let read = try JSON.parse(bytes)
      #expect(read == value, "seed \(seed), round \(round): \(String(decoding: bytes, as: UTF8.self))")
      #expect(read.encoded == bytes, "seed \(seed), round \(round)")
    }
  }

  @Test("a damaged text is read or refused with a reason, never worse, by a random seed")
  func damage() {
    let seed = UInt64.random(in: .min ... .max)
    var chance = Chance(state: seed)
    for round in 0..<5_000 {
      var bytes = chance.value(depth: 4).encoded
      for _ in 0...Int.random(in: 0...2, using: &chance) where !bytes.isEmpty {
        let at = Int.random(in: 0..<bytes.count, using: &chance)
        switch Int.random(in: 0...2, using: &chance) {
        case 0: bytes[at] = UInt8.random(in: .min ... .max, using: &chance)
        case 1: bytes.remove(at: at)
        default: bytes.removeSubrange(at...)
        }
      }
      do throws(JSONFault) {
        _ = try JSON.parse(bytes)
      } catch {
        // The second look must agree that something is wrong, and say what.
        #expect(error.detail != "this is not JSON", "seed \(seed), round \(round): \(bytes)")
      }
    }
  }
}

/// Pseudo-random values from a seed that a failure prints (splitmix64).
private struct Chance: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func value(depth: Int) -> JSONValue {
    switch Int.random(in: 0...(depth > 0 ? 9 : 6), using: &self) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &self))
    case 2: return .integer(Int64(bitPattern: next()) >> Int64.random(in: 0...63, using: &self))
    case 3: return .unsigned(next() | 1 << 63)
    case 4, 5:
      let number = Double(bitPattern: next())
      return .double(number.isFinite ? number : Double(Int64(bitPattern: next()) >> 40))
    case 6: return .string(text())
    case 7, 8: return .array((0..<Int.random(in: 0...6, using: &self)).map { _ in value(depth: depth - 1) })
    default:
      var members: [JSONMember] = []
      for _ in 0..<Int.random(in: 0...20, using: &self) {
        let key = text()
        if !members.contains(where: { $0.key == key }) { members.append(JSONMember(key, value(depth: depth - 1))) }
      }
      return .object(members)
    }
  }

  mutating func text() -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0...12, using: &self) {
      let limit: UInt32 = [0x20, 0x80, 0x800, 0x10000, 0x110000].randomElement(using: &self)!
      if let scalar = Unicode.Scalar(UInt32.random(in: 0..<limit, using: &self)) { text.unicodeScalars.append(scalar) }
    }
    return text
  }
}
