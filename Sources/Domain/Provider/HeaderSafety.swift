extension Header {
  /// A header name of HTTP/2: a token in lower case, no pseudo header.
  package static func isSafeName(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: marks.contains(byte)
        }
      }
  }
  /// Printable ASCII, spaces only inside: nothing that could end a header or hide in one.
  package static func isSafeValue(_ value: String) -> Bool {
    value.utf8.allSatisfy { (0x20...0x7e).contains($0) } && value.utf8.first != 0x20 && value.utf8.last != 0x20
  }

  private static let marks = Array("!#$%&'*+-.^_`|~".utf8)
}
