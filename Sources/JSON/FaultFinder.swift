/// Says where and why a text is not JSON, after simdjson refused it without a place. Runs on refused texts only, so it
/// may be slow; it must know every rule, but need not keep any value.
struct FaultFinder {
  private let bytes: [UInt8]
  private let maximumDepth: Int
  private var at = 0
  private var depth = 0

  static func fault(in bytes: [UInt8], maximumDepth: Int) -> JSONFault {
    var finder = FaultFinder(bytes: bytes, maximumDepth: maximumDepth)
    do throws(JSONFault) {
      try finder.document()
      return JSONFault(detail: "this is not JSON")
    } catch {
      return error
    }
  }

  /// Quoted for a sentence: short, and without control characters.
  static func shown(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars.prefix(64) {
      let isPlain = scalar.properties.generalCategory != .control && scalar.properties.generalCategory != .format
      shown.unicodeScalars.append(isPlain ? scalar : "\u{FFFD}")
    }
    return "\"\(shown)\(text.unicodeScalars.count > 64 ? "…" : "")\""
  }

  private init(bytes: [UInt8], maximumDepth: Int) {
    self.bytes = bytes
    self.maximumDepth = maximumDepth
  }

  private var byte: UInt8? { at < bytes.count ? bytes[at] : nil }

  private func fault(_ problem: String, at offset: Int? = nil) -> JSONFault {
    let offset = offset ?? at
    let before = bytes[..<min(offset, bytes.count)]
    let line = 1 + before.count { $0 == UInt8(ascii: "\n") }
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let column = String(decoding: before[start...], as: UTF8.self).unicodeScalars.count + 1
    return JSONFault(detail: "line \(line), column \(column): \(problem)", offset: offset)
  }

  private mutating func document() throws(JSONFault) {
    skipSpace()
    guard byte != nil else { throw JSONFault(detail: JSONFault.empty, offset: at) }
    try value()
    skipSpace()
    guard byte == nil else { throw fault("something follows the JSON value: send one value") }
  }

  private mutating func skipSpace() {
    while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { at += 1 }
  }

  private mutating func value() throws(JSONFault) {
    switch byte {
    case UInt8(ascii: "{"): try object()
    case UInt8(ascii: "["): try array()
    case UInt8(ascii: "\""): try string()
    case UInt8(ascii: "-"), (UInt8(ascii: "0")...UInt8(ascii: "9"))?: try number()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    case UInt8(ascii: "'"): throw fault("write strings in double quotes, not in single quotes")
    case UInt8(ascii: "/"): throw fault("JSON has no comments: remove it")
    case nil: throw fault("the text ends where a value is expected")
    case UInt8(ascii: ","): throw fault("a comma too many: remove it")
    case _ where isTypographicQuote:
      throw fault("write strings in straight double quotes (\"), not in typographic ones")
    default: throw fault("this is not JSON: a value is expected here")
    }
  }

  /// One of “ ” „ « » ‘ ’ ‚, as text processors set them.
  private var isTypographicQuote: Bool {
    let next = bytes[at...].prefix(3)
    return next.starts(with: [0xe2, 0x80]) && (0x98...0x9f).contains(next.last ?? 0)
      || next.starts(with: [0xc2, 0xab]) || next.starts(with: [0xc2, 0xbb])
  }

  private mutating func enter() throws(JSONFault) {
    guard depth < maximumDepth else { throw fault("arrays and objects are nested more than \(maximumDepth) deep") }
    depth += 1
    at += 1
    skipSpace()
  }

  private mutating func leave() {
    depth -= 1
    at += 1
  }

  private mutating func array() throws(JSONFault) {
    try enter()
    if byte == UInt8(ascii: "]") { return leave() }
    while true {
      try value()
      if try endsAfterItem(UInt8(ascii: "]"), "an array") { return leave() }
    }
  }

  private var keyFault: String {
    if byte == UInt8(ascii: ",") { return "a comma too many: remove it" }
    return
      "write the key in \(isTypographicQuote ? "straight double quotes (\"), not in typographic ones" : "double quotes")"
  }

  private mutating func object() throws(JSONFault) {
    try enter()
    if byte == UInt8(ascii: "}") { return leave() }
    while true {
      guard byte == UInt8(ascii: "\"") else { throw fault(keyFault) }
      try string()
      skipSpace()
      guard byte == UInt8(ascii: ":") else { throw fault("a colon must follow the key") }
      at += 1
      skipSpace()
      try value()
      if try endsAfterItem(UInt8(ascii: "}"), "an object") { return leave() }
    }
  }

  /// Passes the comma, or tells that the closing bracket has come.
  private mutating func endsAfterItem(_ bracket: UInt8, _ what: String) throws(JSONFault) -> Bool {
    skipSpace()
    if byte == bracket { return true }
    guard byte != nil else { throw fault("the text ends inside \(what)") }
    guard byte == UInt8(ascii: ",") else { throw fault("a comma or the end of \(what) is expected here") }
    let comma = at
    at += 1
    skipSpace()
    if byte == bracket { throw fault("remove the comma before the end of \(what)", at: comma) }
    return false
  }

  private mutating func word(_ word: String) throws(JSONFault) {
    let start = at
    while let byte, isWord(byte) { at += 1 }
    guard bytes[start..<at].elementsEqual(word.utf8) else {
      throw fault("this is not JSON: only true, false and null may stand without quotes", at: start)
    }
  }

  private func isWord(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      || isDigit(byte) || byte == UInt8(ascii: "_")
  }

  private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  // MARK: Numbers

  private mutating func number() throws(JSONFault) {
    let start = at
    var isWhole = true
    if byte == UInt8(ascii: "-") { at += 1 }
    if byte == UInt8(ascii: "0") {
      at += 1
      if let byte, isDigit(byte) { throw fault("remove the zero at the start of the number", at: start) }
    } else {
      try digits(from: start)
    }
    if byte == UInt8(ascii: ".") {
      isWhole = false
      at += 1
      try digits(from: start)
    }
    if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
      isWhole = false
      at += 1
      if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { at += 1 }
      try digits(from: start)
    }
    if let byte, isWord(byte) || byte == UInt8(ascii: ".") { throw fault("this is not a JSON number", at: start) }
    let text = String(decoding: bytes[start..<at], as: UTF8.self)
    if isWhole, Int64(text) == nil, UInt64(text) == nil {
      throw fault(
        "the whole number has more than 64 bits: send it as a string, or send a smaller one", at: start)
    }
    if Double(text)?.isFinite != true { throw fault("the number is too large: send it as a string", at: start) }
  }

  private mutating func digits(from start: Int) throws(JSONFault) {
    guard let byte, isDigit(byte) else { throw fault("this is not a JSON number", at: start) }
    while let byte = self.byte, isDigit(byte) { at += 1 }
  }

  // MARK: Strings

  private mutating func string() throws(JSONFault) {
    let start = at
    at += 1
    while true {
      switch byte {
      case nil: throw fault("the string does not end: add a double quote", at: start)
      case UInt8(ascii: "\""):
        at += 1
        return
      case UInt8(ascii: "\\"): try escape()
      case (0x0A)?, (0x0D)?:
        let begin = String(decoding: bytes[start..<min(at, start + 24)], as: UTF8.self)
        throw fault("the text that begins with `\(begin)` has no closing quote on its line", at: start)
      case (0x00...0x1F)?: throw fault("the string holds a control character: write it as \\u and four digits")
      case (0x20...0x7F)?: at += 1
      default: try multibyte()
      }
    }
  }

  private mutating func escape() throws(JSONFault) {
    let start = at
    at += 1
    switch byte {
    case UInt8(ascii: "u"):
      let first = try codeUnit(from: start)
      guard (0xD800...0xDFFF).contains(first) else { return }
      guard first < 0xDC00, byte == UInt8(ascii: "\\"), at + 1 < bytes.count, bytes[at + 1] == UInt8(ascii: "u") else {
        throw fault("half of a surrogate pair stands alone", at: start)
      }
      at += 1
      guard (0xDC00...0xDFFF).contains(try codeUnit(from: start)) else {
        throw fault("half of a surrogate pair stands alone", at: start)
      }
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      at += 1
    default: throw fault("JSON has no such escape", at: start)
    }
  }

  /// Passes `u` and its four digits.
  private mutating func codeUnit(from start: Int) throws(JSONFault) -> UInt32 {
    let digits = bytes[min(at + 1, bytes.count)..<min(at + 5, bytes.count)]
    guard digits.count == 4, let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
      digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-")
    else { throw fault("four hexadecimal digits must follow \\u", at: start) }
    at += 5
    return unit
  }

  private mutating func multibyte() throws(JSONFault) {
    let lead = bytes[at]
    let count = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2
    let sequence = bytes[at..<min(at + count, bytes.count)]
    guard String(validating: sequence, as: UTF8.self)?.unicodeScalars.count == 1 else {
      throw fault("not valid UTF-8")
    }
    at += count
  }
}
