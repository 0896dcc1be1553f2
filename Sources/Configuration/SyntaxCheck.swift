import Domain

/// Finds the first thing that is no JSON5, and keys that stand twice: the decoder refuses the former without saying where
/// and takes the first of the latter in silence.
struct SyntaxCheck {
  private let bytes: [UInt8]
  private var place = 0
  private var depth = 0
  private static let deepest = 64

  static func run(_ bytes: [UInt8]) throws(ConfigurationFault) {
    var check = SyntaxCheck(bytes: bytes)
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw ConfigurationFault(pointer: "", problem: "the file is not UTF-8", fix: "Save it as UTF-8")
    }
    try check.value()
    try check.blank()
    guard check.next == nil else {
      throw check.fault(
        "there is text after the end of the object", fix: "Remove it, or correct the brackets before it")
    }
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  private func fault(_ problem: String, fix: String, at offset: Int? = nil) -> ConfigurationFault {
    let end = min(offset ?? place, bytes.count)
    let lines = bytes[..<end].split(separator: 0x0a, omittingEmptySubsequences: false)
    // Columns count characters.
    let column = String(decoding: lines.last ?? [], as: UTF8.self).count + 1
    return ConfigurationFault(pointer: "", line: lines.count, column: column, problem: problem, fix: fix)
  }

  private func surprise(_ expected: String) -> ConfigurationFault {
    guard next != nil else { return fault("the file ends, but \(expected) is expected", fix: "Add what is missing") }
    let character = String(decoding: bytes[place...].prefix(8), as: UTF8.self).first.map(String.init) ?? ""
    return fault("found \"\(character)\", but \(expected) is expected", fix: "Correct the syntax there")
  }

  /// White space and comments.
  private mutating func blank() throws(ConfigurationFault) {
    while let byte = next {
      if byte == 0x20 || (0x09...0x0d).contains(byte) {
        place += 1
      } else if bytes[place...].starts(with: [0xc2, 0xa0]) {
        place += 2
      } else if bytes[place...].starts(with: [0xef, 0xbb, 0xbf]) {
        throw fault("the file begins with a byte order mark", fix: "Save the file without one")
      } else if bytes[place...].starts(with: Array("//".utf8)) {
        while let byte = next, byte != 0x0a { place += 1 }
      } else if bytes[place...].starts(with: Array("/*".utf8)) {
        let start = place
        place += 2
        while place < bytes.count, !bytes[place...].starts(with: Array("*/".utf8)) { place += 1 }
        guard next != nil else { throw fault("a comment is not closed", fix: "Close it with */", at: start) }
        place += 2
      } else {
        return
      }
    }
  }

  private mutating func value() throws(ConfigurationFault) {
    try blank()
    switch next {
    case UInt8(ascii: "{"): try nested { (check) throws(ConfigurationFault) in try check.object() }
    case UInt8(ascii: "["): try nested { (check) throws(ConfigurationFault) in try check.list() }
    case UInt8(ascii: "\""), UInt8(ascii: "'"): _ = try text()
    default:
      let start = place
      let word = word()
      guard Self.literals.contains(word) || Self.isNumber(word) else {
        place = start
        throw word.isEmpty
          ? surprise("a value")
          : fault("\"\(word)\" is not a value", fix: "Put texts in quotes", at: start)
      }
    }
  }

  private static let literals: Set<String> = ["true", "false", "null"]
  private static func isNumber(_ word: String) -> Bool {
    let digits = word.drop { $0 == "+" || $0 == "-" }
    guard let first = digits.first, first.isNumber || first == "." else { return false }
    return digits.hasPrefix("0x")
      ? Whole.read(digits.dropFirst(2), in: 0...Int.max, radix: 16) != nil : Double(digits) != nil
  }

  /// Everything up to the next mark or blank.
  private mutating func word() -> String {
    let start = place
    while let byte = next, byte > 0x20, !"{}[],:\"'/".utf8.contains(byte) { place += 1 }
    return String(decoding: bytes[start..<place], as: UTF8.self)
  }

  private mutating func nested(
    _ body: (inout Self) throws(ConfigurationFault) -> Void
  ) throws(ConfigurationFault) {
    guard depth < Self.deepest else { throw fault("the file is nested too deeply", fix: "Use at most 64 levels") }
    depth += 1
    place += 1
    try body(&self)
    depth -= 1
  }

  private mutating func object() throws(ConfigurationFault) {
    var keys: Set<String> = []
    while true {
      try blank()
      if next == UInt8(ascii: "}") { break }
      let start = place
      let quoted = next == UInt8(ascii: "\"") || next == UInt8(ascii: "'")
      let key = quoted ? try text() : word()
      guard quoted || !key.isEmpty else { throw surprise("a key or }") }
      guard keys.insert(key).inserted else {
        throw fault("the key \"\(key)\" is given twice in one object", fix: "Keep one of them", at: start)
      }
      try blank()
      guard next == UInt8(ascii: ":") else { throw surprise("a colon after \"\(key)\"") }
      place += 1
      try value()
      try blank()
      if next == UInt8(ascii: ",") { place += 1 } else if next != UInt8(ascii: "}") { throw surprise("a comma or }") }
    }
    place += 1
  }

  private mutating func list() throws(ConfigurationFault) {
    while true {
      try blank()
      if next == UInt8(ascii: "]") { break }
      try value()
      try blank()
      if next == UInt8(ascii: ",") { place += 1 } else if next != UInt8(ascii: "]") { throw surprise("a comma or ]") }
    }
    place += 1
  }

  /// A quoted text, its escapes left as they are.
  private mutating func text() throws(ConfigurationFault) -> String {
    let start = place
    let quote = bytes[place]
    place += 1
    while let byte = next, byte != quote {
      if byte == UInt8(ascii: "\\") {
        place += 1
      } else if byte == 0x0a {
        break
      }
      place += 1
    }
    guard next == quote else { throw fault("a text is not closed", fix: "Close it with its quote", at: start) }
    place += 1
    return String(decoding: bytes[(start + 1)..<(place - 1)], as: UTF8.self)
  }
}
