import Domain
import HTTPServer
import JSON

/// A page of a list. `isPartial`: what follows may stand before what is here.
struct ListingPage<Item> {
  var items: [Item]
  var next: String?
  var isPartial = false
  /// Writes further members of the page's object.
  var more: ((inout JSONWriter) -> Void)?
}

/// A list of things as a page of JSON, or all of it as NDJSON or CSV.
struct Listing<Item> {
  /// An object, with its braces.
  var write: (Item, inout JSONWriter) -> Void
  var columns: [String]
  var row: (Item) -> [String]
  /// A page behind `cursor`, which an earlier one gave as `next`. It may be empty and have a next one.
  var page: (_ cursor: String?, _ limit: Int) async throws(Problem) -> ListingPage<Item>

  /// Of a short list, whose JSON holds all of it too.
  static func answer(
    all items: [Item], _ call: Call, columns: [String], row: @escaping (Item) -> [String],
    write: @escaping (Item, inout JSONWriter) -> Void
  ) async throws(Problem) -> HTTPServerResponse {
    let listing = Listing(write: write, columns: columns, row: row) { _, _ in ListingPage(items: items) }
    let form = call.form()
    guard form == .json else { return try await listing.whole(form, call) }
    return listing.answer(ListingPage(items: items), limit: items.count)
  }

  func answer(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let form = call.form()
    guard form == .json else { return try await whole(form, call) }
    let limit = call.limit()
    return answer(try await page(call.request.query("cursor"), limit), limit: limit)
  }

  private func answer(_ page: ListingPage<Item>, limit: Int) -> HTTPServerResponse {
    Answer.json { writer in
      writer.key("items")
      writer.beginArray()
      for item in page.items { write(item, &writer) }
      writer.endArray()
      writer.key("next_cursor")
      if let next = page.next { writer.string(next) } else { writer.null() }
      // A page that was not filled is no end: its search looked at as much as one call may.
      if page.isPartial || page.next != nil && page.items.count < limit { writer.member("partial", true) }
      page.more?(&writer)
    }
  }

  private func whole(_ form: ListForm, _ call: Call) async throws(Problem) -> HTTPServerResponse {
    guard call.request.query("cursor") == nil, call.request.query("limit") == nil else {
      throw Problem(.invalidParameter, "An export has no pages: leave `limit` and `cursor` out")
    }
    let export: Export<Item> = form == .table ? .table(columns, row) : .lines(write)
    return try await export.answer { [page] cursor throws(Problem) in
      var found = try await page(cursor, Self.atOnce)
      while found.items.isEmpty, let next = found.next { found = try await page(next, Self.atOnce) }
      return (found.items, found.next)
    }
  }
  private static var atOnce: Int { 1_000 }
}
