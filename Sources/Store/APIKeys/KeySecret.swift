import TLS

/// What a client shows: `fan_`, 30 characters of base62 that are random, and 6 that are the CRC-32 of these 30. Scanners
/// know it by its form (`fan_[0-9A-Za-z]{36}`), and a slip of the pen is told without asking Redis.
package enum KeySecret {
  /// Of secrets that are made today.
  package static let prefix = "fan_"
  /// Of secrets that were made before there was a checksum.
  package static let formerPrefix = "fk_"
  private static let randomLength = 30
  private static let sumLength = 6
  private static let longestFormer = 100
  private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

  /// 178 random bits.
  static func make() -> String {
    var random: [UInt8] = []
    while random.count < randomLength {
      // 248 is four times 62: each character is as likely as the others.
      for byte in SecureRandom.bytes(2 * randomLength) where byte < 248 && random.count < randomLength {
        random.append(alphabet[Int(byte) % alphabet.count])
      }
    }
    return prefix + String(decoding: random + sum(of: random[...]), as: UTF8.self)
  }

  /// True if it is a secret of ours by its form; a former one has no checksum.
  package static func isWellFormed(_ secret: [UInt8]) -> Bool {
    if secret.starts(with: formerPrefix.utf8) { return secret.count < longestFormer }
    guard secret.starts(with: prefix.utf8), secret.count == prefix.utf8.count + randomLength + sumLength else {
      return false
    }
    return secret.suffix(sumLength).elementsEqual(sum(of: secret.dropFirst(prefix.utf8.count).prefix(randomLength)))
  }

  /// The CRC-32 of zip and Ethernet, in six digits of base62.
  private static func sum(of bytes: ArraySlice<UInt8>) -> [UInt8] {
    var rest = crc32(bytes)
    var digits = [UInt8](repeating: 0, count: sumLength)
    for place in digits.indices.reversed() {
      digits[place] = alphabet[Int(rest % 62)]
      rest /= 62
    }
    return digits
  }

  static func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    ~bytes.reduce(~UInt32(0)) { sum, byte in sums[Int((sum ^ UInt32(byte)) & 0xff)] ^ sum >> 8 }
  }
  /// What eight steps make of each byte.
  private static let sums: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
  }
}
