/// Where a link or a form leads: always below the root of the console or to a file of it, so that no text from outside can
/// become a script or another host.
struct Link {
  let text: String

  /// `parts` of the path behind the root, and a query; both are escaped.
  init(_ parts: String..., query: [(name: String, value: String)] = []) {
    self.init(parts: parts, query: query)
  }

  init(parts: [String], query: [(name: String, value: String)] = []) {
    var text = Self.root
    // A browser would go up by them.
    for part in parts { text += "/" + (Self.isRelative(part) ? "" : Self.escaped(part)) }
    let pairs = query.map { Self.escaped($0.name) + "=" + Self.escaped($0.value) }
    if !pairs.isEmpty { text += "?" + pairs.joined(separator: "&") }
    self.text = text
  }

  /// A place in the same page.
  init(fragment: StaticString) { text = "#\(fragment)" }

  /// A field of the form in the same page, by its id.
  init(field id: String) { text = "#" + Self.escaped(id) }

  static let root = "/console"
  static func isRelative(_ part: String) -> Bool { part == "." || part == ".." }

  /// All but letters, digits and a few marks; a part may hold a slash.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8 {
      let isPlain =
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "~")].contains(byte)
      if isPlain {
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        escaped += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return escaped
  }
}
