/// A text with places for a device's attributes: `{{name}}`, or `{{name|default}}` for devices that lack it. Spaces around
/// name and default do not count. `\{{` stands for two braces, `\\{{` for a backslash before a placeholder; any other
/// brace or backslash is itself.
package struct TextTemplate: Hashable, Sendable {
  /// Literal text, its escapes resolved, or a placeholder.
  package enum Part: Hashable, Sendable {
    case text(String)
    case slot(Placeholder)
  }
  /// In their order; no two texts stand side by side, and none is empty.
  package private(set) var parts: [Part] = []

  /// True if the text holds no `{{`: no placeholder, and no escape of one. It is shown as it is.
  package static func isPlain(_ text: String) -> Bool {
    // Almost no text has even one.
    guard braces.holdsSome(of: text) else { return true }
    let bytes = text.utf8Span.span
    for place in 1..<max(1, bytes.count) where bytes[place] == brace && bytes[place - 1] == brace { return false }
    return true
  }

  private static let braces = ByteSet { $0 == brace }

  /// Throws for a placeholder that is not closed, holds a brace, or whose name or default is empty or too long.
  package init(parsing text: String) throws(TemplateFault) {
    let bytes = Array(text.utf8)
    var literal: [UInt8] = []
    var place = 0
    func begins(at place: Int, _ word: [UInt8]) -> Bool { bytes[place...].starts(with: word) }
    while place < bytes.count {
      if begins(at: place, Self.escapedBackslash) {
        literal.append(Self.backslash)
        place += 2
      } else if begins(at: place, Self.escapedBraces) {
        literal += Self.opening
        place += 3
        continue
      } else if !begins(at: place, Self.opening) {
        literal.append(bytes[place])
        place += 1
        continue
      }
      let end = try Self.end(of: bytes, from: place + 2)
      let slot = try Placeholder(parsing: bytes[(place + 2)..<end])
      if !literal.isEmpty { parts.append(.text(String(decoding: literal, as: UTF8.self))) }
      literal = []
      parts.append(.slot(slot))
      place = end + 2
    }
    if !literal.isEmpty { parts.append(.text(String(decoding: literal, as: UTF8.self))) }
  }

  /// Where the closing braces stand.
  private static func end(of bytes: [UInt8], from start: Int) throws(TemplateFault) -> Int {
    var place = start
    while place + 1 < bytes.count {
      if bytes[place] == closingBrace, bytes[place + 1] == closingBrace { return place }
      if bytes[place] == brace {
        throw TemplateFault("a placeholder contains a brace: close the placeholder with `}}` first")
      }
      place += 1
    }
    throw TemplateFault(#"`{{` opens a placeholder that is not closed: write `{{name}}`, or `\{{` for the braces"#)
  }

  package var slots: [Placeholder] { parts.compactMap { if case .slot(let slot) = $0 { slot } else { nil } } }

  /// The text with its slots filled; what is filled in is not read again.
  package func filled(_ value: (Placeholder) -> String) -> String {
    var text = ""
    for part in parts {
      switch part {
      case .text(let literal): text += literal
      case .slot(let slot): text += value(slot)
      }
    }
    return text
  }

  private static let brace = UInt8(ascii: "{")
  private static let closingBrace = UInt8(ascii: "}")
  private static let backslash = UInt8(ascii: "\\")
  private static let opening = [brace, brace]
  private static let escapedBraces = [backslash, brace, brace]
  private static let escapedBackslash = [backslash, backslash, brace, brace]
}

/// One `{{…}}`.
package struct Placeholder: Hashable, Sendable {
  /// Of an attribute.
  package var name: String
  /// Nil: a device without this attribute gets nothing (`skipped: attribute_missing`).
  package var fallback: String?
  /// Not checked: `TextTemplate` reads names and defaults within their limits.
  package init(_ name: String, fallback: String? = nil) {
    self.name = name
    self.fallback = fallback
  }

  /// As long as an attribute's name, and as its value.
  package static let longestName = 64
  /// Bytes of UTF-8.
  package static let longestFallback = 1_024

  fileprivate init(parsing bytes: ArraySlice<UInt8>) throws(TemplateFault) {
    let bar = bytes.firstIndex(of: UInt8(ascii: "|"))
    let name = Self.trimmed(bytes[..<(bar ?? bytes.endIndex)])
    guard !name.isEmpty else { throw TemplateFault("a placeholder names no attribute: write `{{name}}`") }
    guard name.count <= Self.longestName else {
      throw TemplateFault("a placeholder's name has \(name.count) bytes; the limit is \(Self.longestName)")
    }
    self.name = String(decoding: name, as: UTF8.self)
    guard let bar else { return }
    let fallback = Self.trimmed(bytes[(bar + 1)...])
    guard fallback.count <= Self.longestFallback else {
      throw TemplateFault("a placeholder's default has \(fallback.count) bytes; the limit is \(Self.longestFallback)")
    }
    self.fallback = String(decoding: fallback, as: UTF8.self)
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let space = UInt8(ascii: " ")
    var rest = bytes.drop { $0 == space }
    while rest.last == space { rest.removeLast() }
    return rest
  }
}

/// A text that cannot be read as a template; `detail` is a sentence that names the fix.
package struct TemplateFault: Error, Hashable, Sendable {
  package var detail: String
  init(_ detail: String) { self.detail = detail }
}

extension DeviceFacts {
  /// What stands in the placeholder's place: the attribute, or the default where it is missing or empty. Nil: neither.
  package func text(for slot: Placeholder) -> String? {
    guard let value = attributes[slot.name]?.plainText, !value.isEmpty else { return slot.fallback }
    return value
  }
}

extension JSONValue {
  /// A flat value as a person reads it: 5 for 5.0.
  fileprivate var plainText: String? {
    switch self {
    case .string(let text): text
    case .bool(let flag): flag ? "true" : "false"
    case .integer(let number): String(number)
    case .unsigned(let number): String(number)
    case .double(let number):
      number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : "\(number)"
    case .null, .array, .object: nil
    }
  }
}
