/// Bytes as letters, and back. Tables are asked for once a text, not for each letter: a token has up to 160.
enum Digits {
  private static let hexLetters = Array("0123456789abcdef".utf8)
  static let base64Letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  /// Values of letters, small ones only; 255 for one that has none.
  static let hex = values(hexLetters)
  /// Values of letters of base64url; 255 for one that has none.
  static let base64 = values(base64Letters)

  private static func values(_ letters: [UInt8]) -> [UInt8] {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }

  static func hexText(_ bytes: [UInt8]) -> String {
    String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
      writeHex(bytes[...], to: text)
      return 2 * bytes.count
    }
  }

  /// Two letters of each byte.
  static func writeHex(_ bytes: ArraySlice<UInt8>, to text: UnsafeMutableBufferPointer<UInt8>) {
    hexLetters.withUnsafeBufferPointer { letters in
      var place = 0
      for byte in bytes {
        text[place] = letters[Int(byte >> 4)]
        text[place + 1] = letters[Int(byte & 15)]
        place += 2
      }
    }
  }

  /// What `writeHex` makes this text of; nil if nothing does.
  static func hexBytes(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard !text.isEmpty, text.count.isMultiple(of: 2) else { return nil }
    var hasOthers = false
    let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 2) { bytes, count in
      hex.withUnsafeBufferPointer { values in
        while count < text.count / 2 {
          let (high, low) = (values[Int(text[2 * count])], values[Int(text[2 * count + 1])])
          hasOthers = high | low > 15
          if hasOthers { return }
          bytes[count] = high << 4 | low
          count += 1
        }
      }
    }
    return hasOthers ? nil : bytes
  }

  /// The first `count` letters of base64url without padding; `bytes` hold their bits.
  static func writeBase64(_ bytes: ArraySlice<UInt8>, count: Int, to text: UnsafeMutableBufferPointer<UInt8>) {
    bytes.withUnsafeBufferPointer { bytes in
      base64Letters.withUnsafeBufferPointer { letters in
        var (next, place) = (0, 0)
        while place + 4 <= count {
          let bits = Int(bytes[next]) << 16 | Int(bytes[next + 1]) << 8 | Int(bytes[next + 2])
          text[place] = letters[bits >> 18]
          text[place + 1] = letters[bits >> 12 & 63]
          text[place + 2] = letters[bits >> 6 & 63]
          text[place + 3] = letters[bits & 63]
          next += 3
          place += 4
        }
        var bits = 0
        for rest in next..<next + 3 { bits = bits << 8 | (rest < bytes.count ? Int(bytes[rest]) : 0) }
        for shift in stride(from: 18, to: 18 - 6 * (count - place), by: -6) {
          text[place] = letters[bits >> shift & 63]
          place += 1
        }
      }
    }
  }
}
