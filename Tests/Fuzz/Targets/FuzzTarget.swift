/// A surface that strangers' bytes reach, as one function on bytes. It returns whatever the bytes are; a trap is a finding, and so is
/// a processor time beyond `FuzzCost`.
package struct FuzzTarget: Sendable {
  /// As `FUZZ_TARGETS` has it; its corpus is the folder of that name.
  package let name: String
  package let run: @Sendable ([UInt8]) -> Void

  init(_ name: String, _ run: @escaping @Sendable ([UInt8]) -> Void) {
    self.name = name
    self.run = run
  }

  package static let all: [FuzzTarget] = [
    heads, json, messages, requests, expressions, filters, cursors, records, tokens, endpoints, identities, keys,
    answers, http2,
    replies, tables,
  ]
}

/// What holds whatever the bytes are. Unlike `precondition` it says in optimised builds too which it was.
func demand(_ holds: Bool, _ what: @autoclosure () -> String) {
  guard holds else { fatalError("not so: \(what())") }
}

/// Some targets read a few bytes of an input as choices, and all that follows as what is parsed.
struct FuzzInput {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isEmpty: Bool { rest.isEmpty }

  /// 0 behind the end.
  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }
  mutating func pick<Item>(_ items: [Item]) -> Item { items[Int(byte()) % items.count] }

  /// Up to the next line feed, which is passed over.
  mutating func line() -> [UInt8] {
    let line = rest.prefix { $0 != UInt8(ascii: "\n") }
    rest = rest[line.endIndex...].dropFirst()
    return Array(line)
  }

  /// All that is left.
  mutating func bytes() -> [UInt8] {
    defer { rest = [] }
    return Array(rest)
  }
  mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }
}
