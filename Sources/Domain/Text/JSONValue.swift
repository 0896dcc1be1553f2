/// Any JSON, as it travels inside a message. Objects keep the order of their members and hold no key twice.
package indirect enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// Only for whole numbers above `Int64.max`.
  case unsigned(UInt64)
  /// Always finite.
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object([JSONMember])
}

/// One member of an object. Keys are compared as Swift compares texts: two spellings of `é` are one key.
package struct JSONMember: Hashable, Sendable {
  package var key: String
  package var value: JSONValue
  package init(_ key: String, _ value: JSONValue) {
    self.key = key
    self.value = value
  }
}

extension JSONValue {
  package var string: String? { if case .string(let text) = self { text } else { nil } }
  package var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }
  package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  package var array: [JSONValue]? { if case .array(let items) = self { items } else { nil } }
  package var object: [JSONMember]? { if case .object(let members) = self { members } else { nil } }

  /// The member called `key`, if this is an object that has one.
  package subscript(key: String) -> JSONValue? { object?.first { $0.key == key }?.value }

  /// How a problem document names this type.
  package var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .integer, .unsigned, .double: "number"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }

  /// "a string", "an object", "null": how a sentence names what it found.
  package var article: String {
    switch self {
    case .null: "null"
    case .array, .object: "an \(typeName)"
    default: "a \(typeName)"
    }
  }
}
