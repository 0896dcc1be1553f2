import Domain
import HTTPServer
import JSON
import TLS

/// Cursors are opaque to clients: the place in a list, behind the mark of that list, so that what was never given is known
/// as such.
extension Call {
  func cursor(marked mark: String) throws(Problem) -> String? {
    guard let cursor = request.query("cursor") else { return nil }
    guard let bytes = Base64URL.decode(cursor), let text = String(validating: bytes, as: UTF8.self),
      text.hasPrefix(mark)
    else { throw Problem(.invalidCursor, "Pass `next_cursor` of the page before, unchanged") }
    return String(text.dropFirst(mark.count))
  }
}

extension JSONWriter {
  /// `next_cursor` of a page; null ends the list.
  mutating func nextCursor(_ place: String?, marked mark: String) {
    key("next_cursor")
    if let place { string(Base64URL.encode(Array((mark + place).utf8))) } else { null() }
  }
}
