/// JSON in the making, which may be what JSON cannot say: numbers beyond all types, keys given twice.
indirect enum Fragment: Sendable {
  struct Member: Sendable {
    var key: String
    var value: Fragment
  }
  case raw(String)
  case array([Fragment])
  case object([Member])

  static func text(_ text: String) -> Fragment {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\0"..."\u{1f}":
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return .raw(quoted + "\"")
  }

  func write(to text: inout String) {
    switch self {
    case .raw(let raw): text += raw
    case .array(let items):
      text += "["
      for (place, item) in items.enumerated() {
        if place > 0 { text += "," }
        item.write(to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (place, member) in members.enumerated() {
        if place > 0 { text += "," }
        Fragment.text(member.key).write(to: &text)
        text += ":"
        member.value.write(to: &text)
      }
      text += "}"
    }
  }
  var json: String {
    var text = ""
    write(to: &text)
    return text
  }

  /// Values in it, itself included.
  var count: Int {
    switch self {
    case .raw: 1
    case .array(let items): items.reduce(1) { $0 + $1.count }
    case .object(let members): members.reduce(1) { $0 + $1.value.count }
    }
  }

  /// With another value at this place of a walk through all.
  func replacing(_ place: inout Int, with value: Fragment) -> Fragment {
    if place == 0 {
      place = -1
      return value
    }
    guard place > 0 else { return self }
    place -= 1
    switch self {
    case .raw: return self
    case .array(let items): return .array(items.map { $0.replacing(&place, with: value) })
    case .object(let members):
      return .object(members.map { Member(key: $0.key, value: $0.value.replacing(&place, with: value)) })
    }
  }
}
