import FoundationEssentials

/// A value of the file before it is given a meaning.
enum Node: Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case text(String)
  case list([Node])
  case object([String: Node])

  var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .text: "a text"
    case .list: "a list"
    case .object: "an object"
    }
  }

  /// Reads JSON5: comments, trailing commas, keys without quotes. Syntax errors carry line and column.
  static func parse(_ bytes: [UInt8]) throws(ConfigurationFault) -> Node {
    try SyntaxCheck.run(bytes)
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    do {
      return try decoder.decode(Node.self, from: Data(bytes))
    } catch {
      throw ConfigurationFault(
        pointer: "", problem: "the file is not JSON5", fix: "Write one JSON5 object, as in Config/fanfare.example.json5"
      )
    }
  }
}

extension Node: Decodable {
  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    if let members = try? decoder.container(keyedBy: Key.self) {
      var object: [String: Node] = [:]
      for key in members.allKeys { object[key.stringValue] = try members.decode(Node.self, forKey: key) }
      self = .object(object)
      return
    }
    if var items = try? decoder.unkeyedContainer() {
      var list: [Node] = []
      while !items.isAtEnd { list.append(try items.decode(Node.self)) }
      self = .list(list)
      return
    }
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let flag = try? value.decode(Bool.self) {
      self = .bool(flag)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else {
      self = .text(try value.decode(String.self))
    }
  }
}
