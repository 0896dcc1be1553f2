import Domain
import JSON

/// One fault in one field, in the words of the vendor's parser.
struct FieldViolation: Hashable {
  var field: String
  var description: String
}

/// Checks a body against the tables, all violations at once, and brings its names into snake case.
struct FCMShapeCheck {
  private(set) var violations: [FieldViolation] = []

  /// The body with the fields of its messages in snake case; free-form objects stay as they are.
  mutating func check(_ value: JSONValue) -> JSONValue {
    message(value, FCMSchema.request, "")
  }

  private mutating func message(_ value: JSONValue, _ fields: [String: FCMSchema.Form], _ path: String) -> JSONValue {
    guard let members = value.object else {
      invalid(path, "type.googleapis.com/google.firebase.fcm.v1.Message", value)
      return .object([])
    }
    var checked: [JSONMember] = []
    for member in members {
      let name = Self.snake(member.key)
      guard let form = fields[name] else {
        let place = path.isEmpty ? "" : " at '\(path)'"
        add(path, "Invalid JSON payload received. Unknown name \"\(member.key)\"\(place): Cannot find field.")
        continue
      }
      // null stands for a field that is not set.
      if member.value == .null { continue }
      let below = path.isEmpty ? name : "\(path).\(name)"
      if checked.contains(where: { $0.key == name }) {
        add(below, "Invalid JSON payload received. Field \"\(name)\" is given twice.")
        continue
      }
      checked.append(JSONMember(name, self.value(member.value, form, below)))
    }
    return .object(checked)
  }

  private mutating func value(_ value: JSONValue, _ form: FCMSchema.Form, _ path: String) -> JSONValue {
    switch form {
    case .string: if value.string == nil { invalid(path, "TYPE_STRING", value) }
    case .bool: if value.bool == nil { invalid(path, "TYPE_BOOL", value) }
    case .int32:
      if value.integer.flatMap({ Int32(exactly: $0) }) == nil, value.string.flatMap({ Int32($0) }) == nil {
        invalid(path, "TYPE_INT32", value)
      }
    case .float:
      switch value {
      case .integer, .double, .unsigned: break
      default: invalid(path, "TYPE_FLOAT", value)
      }
    case .duration:
      if Self.seconds(value) == nil { invalid(path, "type.googleapis.com/google.protobuf.Duration", value) }
    case .timestamp:
      if !Self.isTimestamp(value) { invalid(path, "type.googleapis.com/google.protobuf.Timestamp", value) }
    case .choice(let words, let type):
      if !words.contains(value.string ?? "") {
        invalid(path, "type.googleapis.com/google.firebase.fcm.v1.\(type)", value)
      }
    case .texts:
      guard let members = value.object else {
        invalid(path, "TYPE_MESSAGE", value)
        break
      }
      for (index, member) in members.enumerated() where member.value.string == nil {
        invalid("\(path)[\(index)].value", "TYPE_STRING", member.value)
      }
    case .object:
      if value.object == nil { invalid(path, "type.googleapis.com/google.protobuf.Struct", value) }
    case .list(let element):
      guard let items = value.array else {
        invalid(path, "TYPE_MESSAGE", value)
        break
      }
      for (index, item) in items.enumerated() { _ = self.value(item, element, "\(path)[\(index)]") }
    case .message(let fields): return message(value, fields, path)
    }
    return value
  }

  private mutating func invalid(_ path: String, _ type: String, _ value: JSONValue) {
    var shown = String(decoding: value.encoded.prefix(100), as: UTF8.self)
    if value.object != nil || value.array != nil { shown = value.typeName }
    add(path, "Invalid value at '\(path)' (\(type)), \(shown)")
  }
  private mutating func add(_ field: String, _ description: String) {
    violations.append(FieldViolation(field: field, description: description))
  }

  /// `lightOnDuration` and `light_on_duration` are one field.
  static func snake(_ name: String) -> String {
    guard name.utf8.contains(where: { (0x41...0x5a).contains($0) }) else { return name }
    var text: [UInt8] = []
    for byte in name.utf8 {
      if (0x41...0x5a).contains(byte) { text += [UInt8(ascii: "_"), byte | 0x20] } else { text.append(byte) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Whole seconds of a duration such as `3.5s`, rounded down; nil if it is none.
  static func seconds(_ value: JSONValue) -> Int64? {
    guard let text = value.string, text.hasSuffix("s") else { return nil }
    let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let whole = Int64(parts[0]), !parts[0].hasPrefix("+") else { return nil }
    if parts.count == 2 {
      let digits = parts[1].utf8
      guard (1...9).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      // "-0.5s" lies below zero though its whole seconds do not.
      if parts[0].hasPrefix("-") { return min(whole, -1) }
    }
    return whole
  }

  /// RFC 3339, in form: `2026-01-05T09:00:00.5Z`.
  static func isTimestamp(_ value: JSONValue) -> Bool {
    guard let text = value.string.map({ Array($0.utf8) }), text.count >= 20 else { return false }
    let pattern = Array("0000-00-00T00:00:00".utf8)
    for (byte, form) in zip(text, pattern) {
      guard form == UInt8(ascii: "0") ? (0x30...0x39).contains(byte) : byte == form else { return false }
    }
    var rest = text[19...]
    if rest.first == UInt8(ascii: ".") {
      let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
      guard (1...9).contains(digits.count) else { return false }
      rest = rest.dropFirst(1 + digits.count)
    }
    if rest.elementsEqual("Z".utf8) { return true }
    let zone = Array(rest)
    return zone.count == 6 && (zone[0] == UInt8(ascii: "+") || zone[0] == UInt8(ascii: "-"))
      && zone[3] == UInt8(ascii: ":") && [1, 2, 4, 5].allSatisfy { (0x30...0x39).contains(zone[$0]) }
  }
}
