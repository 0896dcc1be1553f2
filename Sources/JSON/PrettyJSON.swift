package import Domain

/// JSON over several lines, as people read and edit it.
package struct PrettyJSON {
  /// A list of plain values that is no longer than this stands on one line.
  private static let shortList = 72

  /// What a part of the text is, for those who show it in colours.
  package enum Part { case key, string, literal }

  private var text = ""
  private let paint: (Part, String) -> String

  /// Without a newline at its end. `paint`: puts a part of the text into colours.
  package static func text(_ value: JSONValue, paint: @escaping (Part, String) -> String = { $1 }) -> String {
    var pretty = PrettyJSON(paint: paint)
    pretty.write(value, indent: "")
    return pretty.text
  }

  private init(paint: @escaping (Part, String) -> String) { self.paint = paint }

  private func plain(_ value: JSONValue) -> String { String(decoding: value.encoded, as: UTF8.self) }

  private mutating func write(_ value: JSONValue, indent: String) {
    switch value {
    case .object(let members) where !members.isEmpty:
      let inner = indent + "  "
      text += "{\n"
      for (place, member) in members.enumerated() {
        text += inner + paint(.key, plain(.string(member.key))) + ": "
        write(member.value, indent: inner)
        text += place == members.count - 1 ? "\n" : ",\n"
      }
      text += indent + "}"
    case .array(let items) where !items.isEmpty:
      write(list: items, indent: indent)
    case .string: text += paint(.string, plain(value))
    case .bool, .null, .integer, .unsigned, .double: text += paint(.literal, plain(value))
    case .array, .object: text += plain(value)
    }
  }

  private mutating func write(list items: [JSONValue], indent: String) {
    let isFlat = items.allSatisfy { $0.object == nil && $0.array == nil }
    if isFlat, plain(.array(items)).count <= Self.shortList {
      text += "["
      for (place, item) in items.enumerated() {
        if place > 0 { text += ", " }
        write(item, indent: indent)
      }
      text += "]"
      return
    }
    let inner = indent + "  "
    text += "[\n"
    for (place, item) in items.enumerated() {
      text += inner
      write(item, indent: inner)
      text += place == items.count - 1 ? "\n" : ",\n"
    }
    text += indent + "]"
  }
}
