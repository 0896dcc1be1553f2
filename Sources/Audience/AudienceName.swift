/// The name under which an app keeps an expression: `audience:winback`.
package enum AudienceName {
  /// In bytes of UTF-8, which are characters here.
  package static let longest = 64

  /// For a sentence that begins with the name.
  package static let rule = "is not an audience name: use 1–\(longest) letters, digits, `_`, `-` and `.`"

  /// ASCII only; letter case counts.
  package static func isWellFormed(_ name: String) -> Bool {
    (1...longest).contains(name.utf8.count)
      && name.unicodeScalars.allSatisfy { character in
        switch character {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".": true
        default: false
        }
      }
  }
}
