import Domain
import JSON
import Testing

@testable import API
@testable import HTTPServer

/// Pages of lists that search only so much in one call.
@Suite struct ListingTests {
  private func page(_ items: [Int], next: String?, limit: String) async throws -> JSONValue {
    let listing = Listing<Int>(
      write: { item, writer in writer.value(.integer(Int64(item))) }, columns: ["item"], row: { [String($0)] },
      page: { _, _ in ListingPage(items: items, next: next) })
    let request = HTTPServerRequest(
      method: "GET", path: "/v1/devices", query: [("limit", limit)], headers: [], body: [],
      address: NetworkAddress(ipv4: 1))
    let call = Call(request: request, parameters: [], key: nil, now: WallTime(milliseconds: 0))
    let answer = try await listing.answer(call)
    guard case .whole(let bytes) = answer.body else { return .null }
    return try JSON.parse(bytes)
  }

  @Test("a page that has a next one and is not full says that it is partial; full and last ones do not")
  func partial() async throws {
    #expect(try await page([], next: "n", limit: "2")["partial"] == .bool(true))
    #expect(try await page([1], next: "n", limit: "2")["partial"] == .bool(true))
    #expect(try await page([1, 2], next: "n", limit: "2")["partial"] == nil)
    #expect(try await page([1], next: nil, limit: "2")["partial"] == nil)
  }
}
