import Support
import Testing

@testable import Store

@Suite("What a key looks like")
struct KeySecretTests {
  @Test("a secret is `fan_`, 30 random characters and 6 of their CRC-32, and no two are the same")
  func form() {
    #expect(KeySecret.crc32(Array("123456789".utf8)[...]) == 0xcbf4_3926)
    var seen: Set<String> = []
    var letters: Set<Character> = []
    for _ in 0..<500 {
      let secret = KeySecret.make()
      #expect(secret.wholeMatch(of: /fan_[0-9A-Za-z]{36}/) != nil, "\(secret)")
      #expect(KeySecret.isWellFormed(secret))
      letters.formUnion(secret.dropFirst(4).prefix(30))
      seen.insert(secret)
    }
    #expect(seen.count == 500 && letters.count == 62)
    // By `python3 -c "import zlib; print(zlib.crc32(b'0' * 30))"`, 2011552642, in base62.
    #expect(KeySecret.isWellFormed("fan_" + String(repeating: "0", count: 30) + "2C8GjS"))
  }

  @Test("any other character at any place is noticed, and so is a part that is missing; a former key has no checksum")
  func slips() {
    var random = Seeded()
    let secret = Array(KeySecret.make())
    for place in secret.indices {
      var slip = secret
      repeat { slip[place] = "0123456789ABCXYZabcxyz_- ".randomElement(using: &random)! } while slip == secret
      #expect(!KeySecret.isWellFormed(String(slip)), "\(String(slip)), seed \(random.seed)")
      #expect(!KeySecret.isWellFormed(String(secret[..<place])))
    }
    #expect(!KeySecret.isWellFormed(String(secret) + "0"))
    for text in ["", "fan_", "key", "FAN_" + String(secret.dropFirst(4))] { #expect(!KeySecret.isWellFormed(text)) }
    #expect(
      KeySecret.isWellFormed("fk_anything") && !KeySecret.isWellFormed("fk_" + String(repeating: "x", count: 100)))
  }
}

extension KeySecret {
  fileprivate static func isWellFormed(_ text: String) -> Bool { isWellFormed(Array(text.utf8)) }
}
