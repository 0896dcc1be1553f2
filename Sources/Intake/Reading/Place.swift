/// Where a value stands in a request. Its JSON pointer (RFC 6901) is made only when somebody asks: most requests have
/// no fault.
enum Place {
  case root
  /// A member of the request itself. Most places are: they need no memory of their own.
  case first(String)
  indirect case member(of: Place, String)
  indirect case element(of: Place, Int)

  func member(_ name: String) -> Place { if case .root = self { .first(name) } else { .member(of: self, name) } }
  func element(_ index: Int) -> Place { .element(of: self, index) }
  /// The entry with this index, or the place itself.
  func entry(_ index: Int?) -> Place { if let index { element(index) } else { self } }

  var pointer: String {
    switch self {
    case .root: ""
    case .first(let name): "/" + Self.escape(name)
    case .member(let parent, let name): parent.pointer + "/" + Self.escape(name)
    case .element(let parent, let index): "\(parent.pointer)/\(index)"
    }
  }

  /// A hostile name must not blow up the answer that tells of it.
  private static let longestName = 256

  private static func escape(_ name: String) -> String {
    guard name.utf8.count <= longestName else { return escape(String(name.unicodeScalars.prefix(40)) + "…") }
    guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return name }
    var escaped = ""
    for character in name.unicodeScalars {
      switch character {
      case "~": escaped += "~0"
      case "/": escaped += "~1"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }
}
