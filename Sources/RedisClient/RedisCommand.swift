/// A command and its arguments, as bytes: nothing in them is ever interpreted.
package struct RedisCommand: Sendable {
  private(set) var bytes: [UInt8] = []
  /// Where each argument ends in `bytes`.
  private(set) var ends: [Int] = []

  package init(_ words: String...) {
    for word in words { append(word) }
  }
  package init(words: [String]) {
    for word in words { append(word) }
  }
  package mutating func append(_ text: String) {
    bytes += text.utf8
    ends.append(bytes.count)
  }
  package mutating func append(_ value: [UInt8]) {
    bytes += value
    ends.append(bytes.count)
  }
  package mutating func append(_ number: some BinaryInteger) { append(String(number)) }
  package mutating func append(_ argument: RedisArgument) {
    switch argument {
    case .text(let text): append(text)
    case .bytes(let bytes): append(bytes)
    case .number(let number): append(number)
    }
  }
  var count: Int { ends.count }
}

/// One argument of a script.
package enum RedisArgument: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  case text(String)
  case bytes([UInt8])
  case number(Int64)
  package init(stringLiteral text: String) { self = .text(text) }
  package init(integerLiteral number: Int64) { self = .number(number) }
}

/// A Lua script, named for logs. Its hash is learned from Redis on each connect.
package struct RedisScript: Sendable {
  package let name: String
  package let source: String
  package init(_ name: String, _ source: String) {
    self.name = name
    self.source = source
  }
}
