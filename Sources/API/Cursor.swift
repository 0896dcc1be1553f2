import Domain
import HTTPServer
import JSON
import TLS

/// Cursors are opaque to clients: the place in a list, behind the mark of that list, so that what was never given is known
/// as such.
extension Call {
  /// `read`: nil for a place that the list cannot have given.
  func cursor<Place>(marked mark: String, _ read: (String) -> Place?) throws(Problem) -> Place? {
    guard let cursor = request.query("cursor") else { return nil }
    return try Self.place(of: cursor, marked: mark, read)
  }

  /// What a cursor stands for. `read`: nil for a place that the list cannot have given.
  static func place<Place>(
    of cursor: String, marked mark: String, _ read: (String) -> Place?
  ) throws(Problem) -> Place {
    guard let bytes = Base64URL.decode(cursor), let text = String(validating: bytes, as: UTF8.self),
      text.hasPrefix(mark), let place = read(String(text.dropFirst(mark.count)))
    else { throw Problem(.invalidCursor, "Pass `next_cursor` of the previous page, unchanged") }
    return place
  }
}

extension JSONWriter {
  /// `next_cursor` of a page; null ends the list.
  mutating func nextCursor(_ place: String?, marked mark: String) {
    key("next_cursor")
    if let place { string(Call.cursor(at: place, marked: mark)) } else { null() }
  }
}

extension Call {
  static func cursor(at place: String, marked mark: String) -> String { Base64URL.encode(Array((mark + place).utf8)) }
}
