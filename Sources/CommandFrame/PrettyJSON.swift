package import Domain
import JSON

/// JSON over several lines, as people read and edit it.
package struct PrettyJSON {
  /// A list of plain values that is no longer than this stands on one line.
  private static let shortList = 72

  private var text = ""
  private let isColoured: Bool

  /// Without a newline at its end.
  package static func text(_ value: JSONValue, isColoured: Bool = false) -> String {
    var pretty = PrettyJSON(isColoured: isColoured)
    pretty.write(value, indent: "")
    return pretty.text
  }

  private init(isColoured: Bool) { self.isColoured = isColoured }

  private func plain(_ value: JSONValue) -> String { String(decoding: value.encoded, as: UTF8.self) }

  private func coloured(_ text: String, _ style: Style) -> String { isColoured ? style.on(text) : text }

  private mutating func write(_ value: JSONValue, indent: String) {
    switch value {
    case .object(let members) where !members.isEmpty:
      let inner = indent + "  "
      text += "{\n"
      for (place, member) in members.enumerated() {
        text += inner + coloured(plain(.string(member.key)), .cyan) + ": "
        write(member.value, indent: inner)
        text += place == members.count - 1 ? "\n" : ",\n"
      }
      text += indent + "}"
    case .array(let items) where !items.isEmpty:
      write(list: items, indent: indent)
    case .string: text += coloured(plain(value), .green)
    case .bool, .null, .integer, .unsigned, .double: text += coloured(plain(value), .yellow)
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
