/// What a tag of a device may be.
package enum Tag {
  /// In UTF-8.
  package static let maximumBytes = 128
  /// Tags of one device; a request that would leave it with more is refused.
  package static let maximumPerDevice = 250

  /// What is wrong with a tag, for a sentence that begins with it; nil if nothing is.
  package static func fault(in tag: String) -> String? {
    if tag.isEmpty { return "is empty" }
    let bytes = tag.utf8.count
    guard bytes <= maximumBytes else { return "has \(bytes) bytes; the limit is \(maximumBytes)" }
    if tag.unicodeScalars.contains(where: \.breaksLine) {
      return "holds a control character (a line break?): remove it"
    }
    if tag.utf8.first == UInt8(ascii: " ") || tag.utf8.last == UInt8(ascii: " ") {
      return "begins or ends with a space: remove it"
    }
    return nil
  }
}

extension Unicode.Scalar {
  /// C0, DEL, C1, and the separators that break lines.
  package var breaksLine: Bool {
    switch value {
    case 0..<0x20, 0x7f...0x9f, 0x2028, 0x2029: true
    default: false
    }
  }
}
