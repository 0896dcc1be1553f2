import HTTPServer
import JSON

/// Lists that are sent as a whole, made page by page while the client takes them.
struct Export<Item> {
  typealias Page = (items: [Item], next: String?)
  let type: String
  /// What stands before the first item.
  private let head: [UInt8]
  private let append: (Item, inout [UInt8]) -> Void

  /// One JSON object a line.
  static func lines(_ write: @escaping (Item, inout JSONWriter) -> Void) -> Self {
    Self(type: "application/x-ndjson", head: []) { item, bytes in
      var writer = JSONWriter()
      write(item, &writer)
      bytes += writer.bytes
      bytes.append(UInt8(ascii: "\n"))
    }
  }

  static func table(_ columns: [String], _ row: @escaping (Item) -> [String]) -> Self {
    Self(type: "text/csv; charset=utf-8; header=present", head: CSV.line(columns)) { item, bytes in
      bytes += CSV.line(row(item))
    }
  }

  private init(type: String, head: [UInt8], append: @escaping (Item, inout [UInt8]) -> Void) {
    self.type = type
    self.head = head
    self.append = append
  }

  /// The first page is read before the answer begins, so that a refusal is still one; a page that fails later cuts the
  /// answer off.
  func answer(_ page: @escaping (_ cursor: String?) async throws(Problem) -> Page) async throws(Problem)
    -> HTTPServerResponse
  {
    let progress = Progress(first: try await page(nil), head: head)
    let pieces = BodyPieces { () throws(BodyPieces.Broken) in
      guard let (items, start) = try await progress.next(page) else { return nil }
      var bytes = start
      for item in items { append(item, &bytes) }
      return bytes
    }
    return HTTPServerResponse(status: 200, headers: Answer.headers(type), pieces: pieces)
  }

  private final class Progress {
    private var read: Page?
    private var head: [UInt8]
    private var cursor: String?

    init(first: Page, head: [UInt8]) {
      read = first
      self.head = head
    }

    func next(_ page: (String?) async throws(Problem) -> Page) async throws(BodyPieces.Broken) -> (
      items: [Item], head: [UInt8]
    )? {
      if let first = read {
        read = nil
        cursor = first.next
        defer { head = [] }
        return (first.items, head)
      }
      guard let place = cursor else { return nil }
      do throws(Problem) {
        let found = try await page(place)
        cursor = found.next
        return (found.items, [])
      } catch {
        throw BodyPieces.Broken()
      }
    }
  }
}
