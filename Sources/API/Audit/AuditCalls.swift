import Domain
import HTTPServer
import JSON
import Store

/// Tells what the audit has.
struct AuditCalls {
  let store: Store

  private static let mark = "a:"

  /// `GET /v1/audit`: newest first, what has not ended before all else. With filters a page may hold fewer than `limit`,
  /// or none, and still have a next one.
  func listAudit(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    var query = AuditQuery()
    query.operation = call.request.query("operation")
    query.key = call.request.query("key")
    query.object = call.request.query("object")
    query.from = call.time("from")
    query.to = call.time("to")
    let listing = Listing<AuditRecord>(
      write: { $0.write(to: &$1) }, columns: AuditRecord.columns, row: \.row,
      page: { [query] cursor, limit throws(Problem) in
        let place = try cursor.map { cursor throws(Problem) in
          try call.place(of: cursor, marked: Self.mark) { AuditPlace(text: $0) }
        }
        do throws(StoreError) {
          let (records, next) = try await store.audit.page(call.app, query, before: place, limit: limit)
          return ListingPage(items: records, next: next.map { call.cursor(at: $0.text, marked: Self.mark) })
        } catch {
          throw Problem(error)
        }
      })
    return try await listing.answer(call)
  }
}

extension AuditRecord {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("id", place?.text)
    writer.member("operation", entry.operation)
    writer.member("outcome", entry.outcome.rawValue)
    writer.member("began_at", entry.beganAt.rfc3339)
    writer.member("ended_at", endedAt)
    writer.member("key", entry.key)
    writer.member("user", entry.user)
    writer.member("address", entry.address)
    writer.member("object", entry.object)
    writer.member("query", entry.query)
    writer.member("created_id", entry.created)
    writer.member("status", entry.status)
    writer.member("code", entry.code)
    writer.member("request_id", entry.requestID)
    writer.member("request_digest", entry.requestDigest?.description)
    writer.member("before_digest", entry.before?.description)
    writer.member("after_digest", entry.after?.description)
    writer.member("trail", trail?.rawValue)
    writer.member("number", number.map { Int($0) })
    writer.endObject()
  }

  private var endedAt: String? { entry.outcome == .begun ? nil : entry.at.rfc3339 }

  fileprivate static let columns = [
    "id", "operation", "outcome", "began_at", "ended_at", "key", "user", "address", "object", "query", "created_id",
    "status", "code", "request_id", "request_digest", "before_digest", "after_digest", "trail", "number",
  ]

  fileprivate var row: [String] {
    [
      place?.text ?? "", entry.operation, entry.outcome.rawValue, entry.beganAt.rfc3339, endedAt ?? "",
      entry.key ?? "", entry.user ?? "", entry.address ?? "", entry.object ?? "", entry.query ?? "",
      entry.created ?? "", entry.status.map(String.init) ?? "", entry.code ?? "", entry.requestID ?? "",
      entry.requestDigest?.description ?? "", entry.before?.description ?? "", entry.after?.description ?? "",
      trail?.rawValue ?? "", number.map(String.init) ?? "",
    ]
  }
}
