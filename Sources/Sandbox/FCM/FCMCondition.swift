/// Conditions over topics: `'name' in topics`, `&&`, `||`, `!`, parentheses, at most five topics.
struct FCMCondition {
  static let maximumTopics = 5
  static let maximumDepth = 32
  private struct Fault: Error { var problem: String }

  private var rest: Substring
  private var topics = 0
  private var depth = 0

  /// What is wrong with the condition, or nil.
  static func problem(_ text: String) -> String? {
    var reading = FCMCondition(rest: Substring(text))
    do {
      try reading.expression()
      reading.skipSpace()
      return reading.rest.isEmpty ? nil : "unexpected '\(reading.rest.prefix(10))'"
    } catch let fault as Fault {
      return fault.problem
    } catch {
      preconditionFailure("a condition fails with a fault only")
    }
  }

  private init(rest: Substring) { self.rest = rest }

  static func isTopic(_ name: String) -> Bool {
    (1...900).contains(name.utf8.count)
      && name.utf8.allSatisfy {
        switch $0 {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "%"): true
        default: false
        }
      }
  }

  private mutating func expression() throws {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.maximumDepth else { throw Fault(problem: "too deeply nested") }
    try operand()
    while take("&&") || take("||") { try operand() }
  }

  private mutating func operand() throws {
    while take("!") {}
    if take("(") {
      try expression()
      guard take(")") else { throw Fault(problem: "missing )") }
      return
    }
    guard take("'"), let end = rest.firstIndex(of: "'") else { throw Fault(problem: "a topic in quotes is expected") }
    guard Self.isTopic(String(rest[..<end])) else { throw Fault(problem: "bad topic name") }
    rest = rest[rest.index(after: end)...]
    guard take("in"), take("topics") else { throw Fault(problem: "'in topics' is expected") }
    topics += 1
    guard topics <= Self.maximumTopics else { throw Fault(problem: "more than \(Self.maximumTopics) topics") }
  }

  private mutating func skipSpace() { rest = rest.drop { $0 == " " } }

  private mutating func take(_ word: String) -> Bool {
    skipSpace()
    guard rest.hasPrefix(word) else { return false }
    rest = rest.dropFirst(word.count)
    return true
  }
}
