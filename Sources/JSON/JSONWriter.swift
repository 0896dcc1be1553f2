package import Domain

/// Appends compact JSON to bytes. The caller is responsible for balanced calls; commas are set by the writer.
package struct JSONWriter {
  /// What was written so far: whole JSON once all brackets are closed.
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  /// `capacity`: bytes set aside at the start. More is no fault.
  package init(reserving capacity: Int = 256) { bytes.reserveCapacity(capacity) }

  /// Between the brackets each value must follow a `key`; the writer does not check it.
  package mutating func beginObject() { open(UInt8(ascii: "{")) }
  package mutating func endObject() { close(UInt8(ascii: "}")) }
  package mutating func beginArray() { open(UInt8(ascii: "[")) }
  package mutating func endArray() { close(UInt8(ascii: "]")) }

  /// Followed by exactly one value. Keys are not checked for doubles.
  package mutating func key(_ key: String) {
    separate()
    Self.appendString(key, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }
  /// With quotes, escaped as `appendString` does.
  package mutating func string(_ text: String) {
    separate()
    Self.appendString(text, to: &bytes)
    needsComma = true
  }
  /// Exact, also beyond 2^53, where some readers round.
  package mutating func integer(_ number: some BinaryInteger) {
    guard let small = Int(exactly: number), small >= 0 else { return word(String(number)) }
    separate()
    bytes.appendDigits(of: small)
    needsComma = true
  }
  package mutating func bool(_ flag: Bool) { word(flag ? "true" : "false") }
  package mutating func null() { word("null") }
  /// `number` must be finite. A whole one is written like an integer.
  package mutating func double(_ number: Double) {
    if number == number.rounded(), abs(number) < 1e15, number != 0 || number.sign == .plus {
      integer(Int64(number))
    } else {
      faithful(number)
    }
  }
  /// Bytes that are one JSON value already.
  package mutating func raw(_ value: [UInt8]) {
    separate()
    bytes += value
    needsComma = true
  }
  /// As it was read: keys in their order, a double as a double (5.0, not 5).
  package mutating func value(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let flag): bool(flag)
    case .integer(let number): integer(number)
    case .unsigned(let number): integer(number)
    case .double(let number): faithful(number)
    case .string(let text): string(text)
    case .array(let items):
      beginArray()
      for item in items { self.value(item) }
      endArray()
    case .object(let members):
      beginObject()
      for member in members {
        key(member.key)
        self.value(member.value)
      }
      endObject()
    }
  }
  /// Nothing is written where the text is nil.
  package mutating func member(_ key: String, _ text: String?) {
    guard let text else { return }
    self.key(key)
    string(text)
  }
  /// Nothing is written where the number is nil.
  package mutating func member(_ key: String, _ number: (some BinaryInteger)?) {
    guard let number else { return }
    self.key(key)
    integer(number)
  }
  /// Nothing is written where the flag is nil.
  package mutating func member(_ key: String, _ flag: Bool?) {
    guard let flag else { return }
    self.key(key)
    bool(flag)
  }
  /// Nothing is written where the value is nil; `JSONValue.null` is written.
  package mutating func member(_ key: String, _ value: JSONValue?) {
    guard let value else { return }
    self.key(key)
    self.value(value)
  }

  /// `"key": [{…}, …]`: `write` writes the members of each object.
  package mutating func objects<Item>(
    _ key: String, _ items: some Sequence<Item>, _ write: (inout JSONWriter, Item) -> Void
  ) {
    self.key(key)
    beginArray()
    for item in items {
      beginObject()
      write(&self, item)
      endObject()
    }
    endArray()
  }

  /// So that it reads as the same double again: 5 as `5.0`.
  private mutating func faithful(_ number: Double) {
    precondition(number.isFinite, "JSON has no such number")
    word("\(number)")
  }
  private mutating func word(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }
  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }
  private mutating func open(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    needsComma = false
  }
  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  /// Quotes and escapes; everything beyond ASCII stays as it is.
  package static func appendString(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    appendEscaped(text, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  /// What stands between the quotes.
  package static func appendEscaped(_ text: String, to bytes: inout [UInt8]) {
    guard escaped.holdsSome(of: text) else { return bytes.append(contentsOf: text.utf8) }
    var text = text
    text.withUTF8 { text in
      var plain = 0
      for at in text.indices where escaped.contains(text[at]) {
        bytes.append(contentsOf: text[plain..<at])
        appendEscape(text[at], to: &bytes)
        plain = at + 1
      }
      bytes.append(contentsOf: text[plain...])
    }
  }

  private static let escaped = ByteSet { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }

  private static func appendEscape(_ byte: UInt8, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\n"): bytes.append(UInt8(ascii: "n"))
    case UInt8(ascii: "\r"): bytes.append(UInt8(ascii: "r"))
    case UInt8(ascii: "\t"): bytes.append(UInt8(ascii: "t"))
    case 0..<0x20:
      let digit = byte & 15
      bytes += [UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0"), UInt8(ascii: "0") + byte >> 4]
      bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    default: bytes.append(byte)
    }
  }
}

extension JSONValue {
  /// The value as compact JSON.
  package var encoded: [UInt8] {
    var writer = JSONWriter()
    writer.value(self)
    return writer.bytes
  }
}
