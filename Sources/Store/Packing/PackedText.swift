import Domain

/// Texts as clients and vendors make them, in fewer bytes: a head of length × 4 + form, then by form the text itself (0), its
/// bytes if it is lower-case hex (1), the 16 bytes of a UUID (2), or six bits for each letter of base64url behind the places
/// of its colons (3), as FCM makes its tokens. Reading gives the same bytes back.
extension Packer {
  mutating func compact(_ text: String) {
    var text = text
    text.withUTF8 { write($0) }
  }

  private mutating func write(_ text: UnsafeBufferPointer<UInt8>) {
    if text.count == 36, let uuid = UUIDBytes(canonical: text) {
      number(36 << 2 | 2)
      for word in [uuid.high, uuid.low] {
        for shift in stride(from: UInt64(56), through: 0, by: -8) { byte(UInt8(truncatingIfNeeded: word >> shift)) }
      }
    } else if !text.isEmpty, text.count.isMultiple(of: 2), text.allSatisfy({ Digits.hex[Int($0)] < 16 }) {
      number(text.count << 2 | 1)
      for place in stride(from: 0, to: text.count, by: 2) {
        byte(Digits.hex[Int(text[place])] << 4 | Digits.hex[Int(text[place + 1])])
      }
    } else if text.count >= PackedText.shortestSixBits, let colons = PackedText.colons(text) {
      number(text.count << 2 | 3)
      number(colons.count)
      for colon in colons { number(colon) }
      var bits: UInt32 = 0
      var held = 0
      for letter in text where letter != PackedText.colon {
        bits = bits << 6 | UInt32(Digits.base64[Int(letter)])
        held += 6
        guard held >= 8 else { continue }
        held -= 8
        byte(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
      }
      if held > 0 { byte(UInt8(truncatingIfNeeded: bits << UInt32(8 - held))) }
    } else {
      number(text.count << 2)
      append(text)
    }
  }
}

extension Unpacker {
  mutating func skipCompact() throws(Corrupt) {
    let head = try int()
    let count = head >> 2
    guard count <= PackedText.longest else { throw Corrupt() }
    switch head & 3 {
    case 0: _ = try slice(count)
    case 1: _ = try slice(count / 2)
    case 2: _ = try slice(16)
    default:
      let marks = try int()
      guard marks <= PackedText.maximumColons, marks <= count else { throw Corrupt() }
      for _ in 0..<marks { _ = try number() }
      _ = try slice(((count - marks) * 6 + 7) / 8)
    }
  }

  /// Appends the text; hexadecimal ones and UUIDs, as most tokens are, without making it a `String`.
  mutating func compact(into text: inout [UInt8]) throws(Corrupt) {
    let start = place
    let head = try int()
    guard head >> 2 <= PackedText.longest else { throw Corrupt() }
    switch head & 3 {
    case 1:
      for byte in try slice((head >> 2) / 2) {
        text.append(Digits.hexLetters[Int(byte >> 4)])
        text.append(Digits.hexLetters[Int(byte & 15)])
      }
    case 2:
      let letters = try uuid().letters
      for place in letters.indices { text.append(letters[place]) }
    default:
      self = Unpacker(bytes, start..<end)
      text.append(contentsOf: try compact().utf8)
    }
  }

  private mutating func uuid() throws(Corrupt) -> UUIDBytes {
    var (high, low): (UInt64, UInt64) = (0, 0)
    for _ in 0..<8 { high = high << 8 | UInt64(try byte()) }
    for _ in 0..<8 { low = low << 8 | UInt64(try byte()) }
    return UUIDBytes(high: high, low: low)
  }

  mutating func compact() throws(Corrupt) -> String {
    let head = try int()
    let count = head >> 2
    guard count <= PackedText.longest else { throw Corrupt() }
    switch head & 3 {
    case 0: return try text(of: count)
    case 1:
      let bytes = try slice(count / 2)
      return String(unsafeUninitializedCapacity: count) { text in
        var place = 0
        for byte in bytes {
          text[place] = Digits.hexLetters[Int(byte >> 4)]
          text[place + 1] = Digits.hexLetters[Int(byte & 15)]
          place += 2
        }
        return place
      }
    case 2: return try uuid().description
    default: return try sixBits(count)
    }
  }

  private mutating func sixBits(_ count: Int) throws(Corrupt) -> String {
    let marks = try int()
    guard marks <= PackedText.maximumColons, marks <= count else { throw Corrupt() }
    var colons: [Int] = []
    for _ in 0..<marks { colons.append(try int()) }
    let bytes = try slice(((count - marks) * 6 + 7) / 8)
    // Asked for once, not for each letter: a token of FCM has 150.
    let letters = Digits.base64Letters
    return String(unsafeUninitializedCapacity: count) { text in
      var bits: UInt32 = 0
      var held = 0
      var next = bytes.startIndex
      var mark = 0
      for place in 0..<count {
        if mark < colons.count, colons[mark] == place {
          text[place] = PackedText.colon
          mark += 1
          continue
        }
        if held < 6 {
          guard next < bytes.endIndex else { return place }
          bits = bits << 8 | UInt32(bytes[next])
          next += 1
          held += 8
        }
        held -= 6
        text[place] = letters[Int(bits >> UInt32(held) & 63)]
      }
      return count
    }
  }
}

enum PackedText {
  /// No text of a device is longer, in bytes.
  static let longest = 1 << 20
  static let shortestSixBits = 16
  static let maximumColons = 4
  static let colon = UInt8(ascii: ":")

  /// Nil if there are other letters than base64url's, or too many colons.
  static func colons(_ text: UnsafeBufferPointer<UInt8>) -> [Int]? {
    var colons: [Int] = []
    for (place, letter) in text.enumerated() where Digits.base64[Int(letter)] > 63 {
      guard letter == colon, colons.count < maximumColons else { return nil }
      colons.append(place)
    }
    return colons
  }
}

/// Values of letters and letters of values; 255 for a letter that has none.
enum Digits {
  static let hexLetters = Array("0123456789abcdef".utf8)
  static let base64Letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  static let hex = values(hexLetters)
  static let base64 = values(base64Letters)

  private static func values(_ letters: [UInt8]) -> [UInt8] {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }

  static func hex(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.flatMap { [hexLetters[Int($0 >> 4)], hexLetters[Int($0 & 15)]] }, as: UTF8.self)
  }
}

extension UUIDBytes {
  /// Nil unless the text is the one that this UUID has: lower case, dashes in their places.
  fileprivate init?(canonical text: UnsafeBufferPointer<UInt8>) {
    var words: (UInt64, UInt64) = (0, 0)
    var count = 0
    for (place, letter) in text.enumerated() {
      if place == 8 || place == 13 || place == 18 || place == 23 {
        guard letter == UInt8(ascii: "-") else { return nil }
        continue
      }
      let digit = Digits.hex[Int(letter)]
      guard digit < 16 else { return nil }
      if count < 16 { words.0 = words.0 << 4 | UInt64(digit) } else { words.1 = words.1 << 4 | UInt64(digit) }
      count += 1
    }
    self.init(high: words.0, low: words.1)
  }
}
