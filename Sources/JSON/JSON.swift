package import Domain

/// Reads JSON strictly (RFC 8259, UTF-8 only, no duplicate keys).
package enum JSON {
  /// Parses one document. `maximumDepth` counts nested arrays and objects.
  package static func parse(_ bytes: [UInt8], maximumDepth: Int = 64) throws(JSONFault) -> JSONValue {
    preconditionFailure("not built yet")
  }
}

package struct JSONFault: Error, Hashable, Sendable {
  /// What is wrong, for a problem document.
  package var detail: String
  /// Byte offset, where known.
  package var offset: Int?
  package init(detail: String, offset: Int? = nil) {
    self.detail = detail
    self.offset = offset
  }
}
