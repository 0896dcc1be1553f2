import Domain

/// A command and its arguments, as bytes: nothing in them is ever interpreted.
package struct RedisCommand: Sendable {
  /// The arguments as Redis takes them: each behind its length.
  private(set) var wire: [UInt8] = []
  /// Arguments, the command's own word included.
  package private(set) var count = 0

  /// The command's own word, which may be two arguments (`SCRIPT`, `LOAD`), and its arguments.
  package init(_ words: String...) { self.init(words: words) }
  package init(words: [String]) {
    reserve(words)
    for word in words { append(word) }
  }
  /// Room for these as well.
  fileprivate mutating func reserve(_ words: [String]) {
    var bytes = wire.count
    for word in words { bytes += word.utf8.count + Self.framing }
    wire.reserveCapacity(bytes)
  }
  /// Bytes around an argument, at most, if it is shorter than a megabyte.
  fileprivate static let framing = 11
  /// Bytes of the arguments.
  package var size: Int { wire.count }
  /// Sets memory aside for so many bytes on the wire, lengths and line ends included.
  package mutating func reserve(bytes: Int) { wire.reserveCapacity(bytes) }
  /// One argument, in UTF-8; spaces and line ends in it are part of it.
  package mutating func append(_ text: String) {
    begin(text.utf8.count)
    wire += text.utf8
    end()
  }
  /// One argument of two parts.
  package mutating func append(_ start: String, _ rest: String) {
    begin(start.utf8.count + rest.utf8.count)
    wire += start.utf8
    wire += rest.utf8
    end()
  }
  /// One argument of any bytes.
  package mutating func append(_ value: [UInt8]) {
    begin(value.count)
    wire += value
    end()
  }
  /// One argument of any bytes, copied from a part of others.
  package mutating func append(_ value: ArraySlice<UInt8>) {
    begin(value.count)
    wire += value
    end()
  }
  /// One argument of `length` bytes, which `write` appends.
  package mutating func append(length: Int, _ write: (inout [UInt8]) -> Void) {
    begin(length)
    let last = wire.count + length
    write(&wire)
    precondition(wire.count == last, "an argument of another length")
    end()
  }
  /// One argument: the number in decimal digits.
  package mutating func append(_ number: some BinaryInteger) {
    guard let small = Int(exactly: number), small >= 0 else { return append(String(number)) }
    begin(small.digitCount)
    wire.appendDigits(of: small)
    end()
  }
  package mutating func append(_ argument: RedisArgument) {
    switch argument {
    case .text(let text): append(text)
    case .bytes(let bytes): append(bytes)
    case .number(let number): append(number)
    }
  }
  /// All arguments of another one.
  package mutating func append(_ other: RedisCommand) {
    wire += other.wire
    count += other.count
  }

  private mutating func begin(_ length: Int) {
    count += 1
    wire.append(UInt8(ascii: "$"))
    wire.appendDigits(of: length)
    end()
  }
  private mutating func end() {
    wire.append(UInt8(ascii: "\r"))
    wire.append(UInt8(ascii: "\n"))
  }
}

extension Int {
  /// Of a number that is not negative.
  fileprivate var digitCount: Int {
    var (count, rest) = (1, self)
    while rest > 9 {
      rest /= 10
      count += 1
    }
    return count
  }
}

/// One run of a script.
package struct ScriptRun: Sendable {
  package var keys = RedisCommand()
  package var arguments = RedisCommand()
  /// Keys and arguments are appended by the caller; nothing checks them against the script.
  package init() {}
  /// `keys`: all that the script touches, as `KEYS`; `arguments` as `ARGV`.
  package init(keys: [String], _ arguments: [RedisArgument]) {
    self.keys.reserve(keys)
    for key in keys { self.keys.append(key) }
    self.arguments.reserve(bytes: arguments.reduce(0) { $0 + $1.size })
    for argument in arguments { self.arguments.append(argument) }
  }
}

/// One argument of a script.
package enum RedisArgument: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  case text(String)
  case bytes([UInt8])
  case number(Int64)
  /// Bytes of it as Redis takes it, at most.
  fileprivate var size: Int {
    switch self {
    case .text(let text): text.utf8.count + RedisCommand.framing
    case .bytes(let bytes): bytes.count + RedisCommand.framing
    case .number: 32
    }
  }
  package init(stringLiteral text: String) { self = .text(text) }
  package init(integerLiteral number: Int64) { self = .number(number) }
}

/// A Lua script, named for logs. Its hash is learned from Redis on each connect.
package struct RedisScript: Sendable {
  package let name: String
  package let source: String
  /// `name`: unique among the scripts of one connection, which keeps the hash under it.
  package init(_ name: String, _ source: String) {
    self.name = name
    self.source = source
  }
}
