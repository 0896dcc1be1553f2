/// The fields of an HTML form, as browsers send them.
enum Form {
  static let type = "application/x-www-form-urlencoded"
  private static let mostFields = 200

  /// None where the body is no form, or has too many fields.
  static func read(_ body: [UInt8], _ type: String) -> [(name: String, value: String)] {
    guard type.lowercased().hasPrefix(Self.type) else { return [] }
    let pairs = body.split(separator: UInt8(ascii: "&"), maxSplits: mostFields)
    guard pairs.count <= mostFields else { return [] }
    var fields: [(name: String, value: String)] = []
    for pair in pairs {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decoded(bytes: parts[0], plusIsSpace: true),
        let value = parts.count == 2 ? decoded(bytes: parts[1], plusIsSpace: true) : ""
      else { return [] }
      fields.append((name, value))
    }
    return fields
  }

  /// Nil: it has a broken escape, or is not UTF-8.
  static func decoded(_ text: Substring, plusIsSpace: Bool) -> String? {
    decoded(bytes: Array(text.utf8)[...], plusIsSpace: plusIsSpace)
  }

  private static func decoded(bytes: ArraySlice<UInt8>, plusIsSpace: Bool) -> String? {
    var plain: [UInt8] = []
    plain.reserveCapacity(bytes.count)
    var rest = bytes
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+") where plusIsSpace: plain.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { return nil }
        plain.append(high << 4 | low)
      default: plain.append(byte)
      }
    }
    return String(validating: plain, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
