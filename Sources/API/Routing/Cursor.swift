import Domain
import HTTPServer
import JSON
import TLS

/// Cursors are opaque to clients: the place in a list, behind the mark of that kind of list, and a code that only this
/// store's secret makes. The code holds for one app, one path and one set of filters, in the query or in a body, so
/// that a cursor which this list did not give is known as such, whatever stands in it.
extension Call {
  /// Letters of the code, 16 bytes of an HMAC.
  private static let codeLength = 22

  /// What a cursor stands for. `filters`: those of the body, in a fixed order. `read`: nil for a place that the list
  /// cannot have given.
  func place<Place>(
    of cursor: String, marked mark: String, filters: [String] = [], _ read: (String) -> Place?
  ) throws(Problem) -> Place {
    guard let bytes = Base64URL.decode(cursor), bytes.count > Self.codeLength else { throw Self.foreignCursor }
    let text = Array(bytes.dropLast(Self.codeLength))
    guard Digest.equal(Array(bytes.suffix(Self.codeLength)), code(of: text, filters)),
      // By bytes: a place may begin with a combining mark, which makes another character of the one before.
      text.starts(with: mark.utf8),
      let place = String(validating: text.dropFirst(mark.utf8.count), as: UTF8.self).flatMap(read)
    else { throw Self.foreignCursor }
    return place
  }

  func cursor(at place: String, marked mark: String, filters: [String] = []) -> String {
    let text = Array((mark + place).utf8)
    return Base64URL.encode(text + code(of: text, filters))
  }

  private static var foreignCursor: Problem {
    Problem(.invalidCursor, "Pass `next_cursor` of the previous page, unchanged, with the filters of that page")
  }

  /// They say which part of a list is told and how, not what is in the list.
  private static let pageParameters: Set<String> = ["cursor", "limit", "format"]

  private func code(of text: [UInt8], _ filtersOfBody: [String]) -> [UInt8] {
    var told: [UInt8] = []
    // Each with its length, so that two parts never read as others.
    let filters = request.query.filter { !Self.pageParameters.contains($0.name) }.sorted { $0.name < $1.name }
    for part in [app.rawValue] + parameters + filters.flatMap({ [$0.name, $0.value] }) + filtersOfBody {
      told += Array("\(part.utf8.count):\(part)".utf8)
    }
    told += text
    return Array(Base64URL.encode(Array(Digest.hmacSHA256(told, key: cursorSecret).prefix(16))).utf8)
  }
}
