import HTTPServer

/// The fields of an HTML form, as browsers send them.
enum Form {
  static let type = "application/x-www-form-urlencoded"
  private static let mostFields = 400

  /// None where the body is no form, or has too many fields.
  static func read(_ body: [UInt8], _ type: String) -> [(name: String, value: String)] {
    guard type.lowercased().hasPrefix(Self.type) else { return [] }
    let pairs = body.split(separator: UInt8(ascii: "&"), maxSplits: mostFields)
    guard pairs.count <= mostFields else { return [] }
    var fields: [(name: String, value: String)] = []
    for pair in pairs {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentDecoding.text(parts[0], plusIsSpace: true),
        let value = parts.count == 2 ? PercentDecoding.text(parts[1], plusIsSpace: true) : ""
      else { return [] }
      fields.append((name, value))
    }
    return fields
  }
}
