import Domain
import HTTPServer
import JSON
import Store

extension Service {
  private static let timelineMark = "e:"

  /// `GET /v1/devices/{id}/timeline`: every message aimed at the device within retention, newest first, and what became of it
  /// there. Also of a device that was deleted, as far as messages named it.
  func timeline(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let id = try deviceID(of: call)
    let limit = try call.limit()
    let cursor = try call.cursor(marked: Self.timelineMark)
    let page: (items: [TimelineEntry], next: String?)
    do throws(StoreError) {
      page = try await store.timeline(id, app: call.app, cursor: cursor, limit: limit)
    } catch {
      throw Problem(error)
    }
    return Answer.json { writer in
      writer.objects("items", page.items) { writer, entry in
        writer.member("message", entry.message.description)
        writer.member("kind", entry.kind.rawValue)
        writer.member("accepted_at", entry.message.acceptedAt.rfc3339)
        writer.member("to", entry.toAudience ? "audience" : "listed")
        entry.delivery.writeMembers(to: &writer)
      }
      writer.nextCursor(page.next, marked: Self.timelineMark)
    }
  }
}
