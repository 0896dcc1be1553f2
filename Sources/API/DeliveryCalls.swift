import Domain
import HTTPServer
import JSON
import Store
import TLS

extension Service {
  private static let exportPage = 1_000

  /// A page as JSON; everything as NDJSON or CSV when the client asks for that.
  func listDeliveries(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let id = try messageID(of: call)
    if call.accepts("application/x-ndjson") {
      return try await export(id, call, .lines { $0.write(to: &$1) })
    }
    if call.accepts("text/csv") {
      return try await export(id, call, .table(DeliveryReport.columns) { $0.row })
    }
    let cursor = try call.request.query("cursor").map(Self.place(ofCursor:))
    let page = try await deliveries(id, call, cursor: cursor, limit: try call.limit())
    return Answer.json { writer in
      writer.key("items")
      writer.beginArray()
      for delivery in page.items { delivery.write(to: &writer) }
      writer.endArray()
      writer.key("next_cursor")
      if let next = page.next { writer.string(Self.cursor(at: next)) } else { writer.null() }
    }
  }

  /// Cursors are opaque to clients, and what was never given is known as such.
  private static let cursorMark = "d:"

  private static func cursor(at place: String) -> String { Base64URL.encode(Array((cursorMark + place).utf8)) }

  private static func place(ofCursor cursor: String) throws(Problem) -> String {
    guard let bytes = Base64URL.decode(cursor), let text = String(validating: bytes, as: UTF8.self),
      text.hasPrefix(cursorMark), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else { throw Problem(.invalidCursor, "Pass `next_cursor` of the page before, unchanged") }
    return String(text.dropFirst(cursorMark.count))
  }

  private func export(_ id: MessageID, _ call: Call, _ form: Export<DeliveryReport>) async throws(Problem)
    -> HTTPServerResponse
  {
    guard call.request.query("cursor") == nil, call.request.query("limit") == nil else {
      throw Problem(.invalidParameter, "An export has no pages: leave `limit` and `cursor` out")
    }
    return try await form.answer { [self] cursor throws(Problem) in
      try await deliveries(id, call, cursor: cursor, limit: Self.exportPage)
    }
  }

  private func deliveries(_ id: MessageID, _ call: Call, cursor: String?, limit: Int) async throws(Problem)
    -> (items: [DeliveryReport], next: String?)
  {
    let page: (items: [DeliveryReport], next: String?)?
    do throws(StoreError) {
      page = try await store.deliveries(id, app: call.app, cursor: cursor, limit: limit)
    } catch {
      throw Problem(error)
    }
    guard let page else { throw Self.noMessage }
    return page
  }
}

extension DeliveryReport {
  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("device", device.rawValue)
    writer.member("provider", provider?.rawValue)
    writer.member("state", state)
    writer.member("reason", reason)
    writer.member("provider_id", providerID)
    writer.member("next_attempt_at", nextAttemptAt?.rfc3339)
    writer.member("overtaken", overtaken)
    writer.key("attempts")
    writer.beginArray()
    for attempt in attempts {
      writer.beginObject()
      writer.member("at", attempt.at.rfc3339)
      writer.member("verdict", attempt.verdict)
      writer.member("reason", attempt.reason)
      writer.member("status", attempt.status)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
  }

  static let columns = [
    "device", "provider", "state", "reason", "provider_id", "attempts", "last_attempt_at", "next_attempt_at",
    "overtaken",
  ]

  var row: [String] {
    [
      device.rawValue, provider?.rawValue ?? "", state, reason ?? "", providerID ?? "", String(attempts.count),
      attempts.last?.at.rfc3339 ?? "", nextAttemptAt?.rfc3339 ?? "", String(overtaken),
    ]
  }
}
