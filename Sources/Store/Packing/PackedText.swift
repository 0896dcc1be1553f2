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
      self.uuid(uuid)
    } else if let bytes = Digits.hexBytes(text) {
      number(text.count << 2 | 1)
      append(bytes)
    } else if text.count >= PackedText.shortestSixBits, let (colons, bytes) = PackedText.sixBits(text) {
      number(text.count << 2 | 3)
      number(colons.count)
      for colon in colons { number(colon) }
      append(bytes)
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
      _ = try slice(PackedText.bytes(ofLetters: count - marks))
    }
  }

  mutating func compact() throws(Corrupt) -> String {
    let text = try packedText()
    return String(unsafeUninitializedCapacity: text.count) { letters in
      text.write(to: letters)
      return text.count
    }
  }

  /// Appends the text, without making it a `String`.
  mutating func compact(into bytes: inout [UInt8]) throws(Corrupt) {
    let text = try packedText()
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: text.count))
    bytes.withUnsafeMutableBufferPointer { text.write(to: UnsafeMutableBufferPointer(rebasing: $0[start...])) }
  }

  private mutating func packedText() throws(Corrupt) -> PackedText {
    let head = try int()
    let count = head >> 2
    guard count <= PackedText.longest else { throw Corrupt() }
    switch head & 3 {
    case 0: return .plain(try slice(count))
    case 1: return .hex(try slice(count / 2))
    case 2: return .uuid(try uuid())
    default:
      let marks = try int()
      guard marks <= PackedText.maximumColons, marks <= count else { throw Corrupt() }
      var colons: [Int] = []
      for _ in 0..<marks {
        let colon = try int()
        guard colon > colons.last ?? -1, colon < count else { throw Corrupt() }
        colons.append(colon)
      }
      return .sixBits(try slice(PackedText.bytes(ofLetters: count - marks)), colons: colons, letters: count - marks)
    }
  }
}

/// A text on its way out of its packed form.
private enum PackedText {
  case plain(ArraySlice<UInt8>)
  case hex(ArraySlice<UInt8>)
  case uuid(UUIDBytes)
  case sixBits(ArraySlice<UInt8>, colons: [Int], letters: Int)

  /// No text of a device is longer, in bytes.
  static let longest = 1 << 20
  static let shortestSixBits = 16
  static let maximumColons = 4
  private static let colon = UInt8(ascii: ":")

  static func bytes(ofLetters count: Int) -> Int { (count * 6 + 7) / 8 }

  /// In bytes of UTF-8.
  var count: Int {
    switch self {
    case .plain(let text): text.count
    case .hex(let bytes): bytes.count * 2
    case .uuid: 36
    case .sixBits(_, let colons, let letters): letters + colons.count
    }
  }

  /// As many as `count`; `text` has room for them.
  func write(to text: UnsafeMutableBufferPointer<UInt8>) {
    switch self {
    case .plain(let bytes): _ = text.update(fromContentsOf: bytes)
    case .hex(let bytes): Digits.writeHex(bytes, to: text)
    case .uuid(let uuid):
      let letters = uuid.letters
      for place in letters.indices { text[place] = letters[place] }
    case .sixBits(let bytes, let colons, let letters):
      Digits.writeBase64(bytes, count: letters, to: UnsafeMutableBufferPointer(rebasing: text[colons.count...]))
      var (place, from) = (0, colons.count)
      for colon in colons {
        while place < colon {
          text[place] = text[from]
          place += 1
          from += 1
        }
        text[place] = Self.colon
        place += 1
      }
    }
  }

  /// The bits of all letters but the colons, filled up with zeros, and where the colons stand. Nil if there are other letters, or too
  /// many colons.
  static func sixBits(_ text: UnsafeBufferPointer<UInt8>) -> (colons: [Int], bytes: [UInt8])? {
    var colons: [Int] = []
    var hasOthers = false
    let bytes = [UInt8](unsafeUninitializedCapacity: text.count) { bytes, count in
      Digits.base64.withUnsafeBufferPointer { values in
        var (bits, held) = (UInt32(0), UInt32(0))
        for place in text.indices {
          let value = values[Int(text[place])]
          guard value < 64 else {
            hasOthers = text[place] != colon || colons.count == maximumColons
            if hasOthers { return }
            colons.append(place)
            continue
          }
          bits = bits << 6 | UInt32(value)
          held += 6
          guard held >= 8 else { continue }
          held -= 8
          bytes[count] = UInt8(truncatingIfNeeded: bits >> held)
          count += 1
        }
        guard held > 0 else { return }
        bytes[count] = UInt8(truncatingIfNeeded: bits << (8 - held))
        count += 1
      }
    }
    return hasOthers ? nil : (colons, bytes)
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
