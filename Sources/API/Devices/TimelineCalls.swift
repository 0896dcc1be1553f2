import Domain
import HTTPServer
import JSON
import Store

/// The messages to one device.
struct TimelineCalls {
  let store: Store

  private static let timelineMark = "e:"

  /// `GET /v1/devices/{id}/timeline`: every message aimed at the device within retention, newest first, and what became
  /// of it there. Also of a device that was deleted, as far as messages named it. A page that says `partial` was cut
  /// where too much is kept to be searched in one call: what follows may be newer.
  func timeline(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let id = try call.deviceID()
    let listing = Listing<TimelineEntry>(
      write: { entry, writer in
        writer.beginObject()
        writer.member("message", entry.message.description)
        writer.member("name", entry.name)
        writer.member("kind", entry.kind.rawValue)
        writer.member("accepted_at", entry.message.acceptedAt.rfc3339)
        writer.member("to", entry.origin)
        writer.member("device", entry.delivery.device.rawValue)
        entry.delivery.writeMembers(to: &writer)
        writer.endObject()
      },
      columns: ["message", "name", "kind", "accepted_at", "to", "device"] + DeliveryReport.columns,
      row: { entry in
        [
          entry.message.description, entry.name ?? "", entry.kind.rawValue, entry.message.acceptedAt.rfc3339,
          entry.origin, entry.delivery.device.rawValue,
        ] + entry.delivery.row
      },
      page: { [self] cursor, limit throws(Problem) in
        let place = try cursor.map { cursor throws(Problem) in
          try call.place(of: cursor, marked: Self.timelineMark) { TimelinePlace(text: $0) }
        }
        let page: TimelinePage
        var isKnown = true
        do throws(StoreError) {
          page = try await store.timelines.page(id, app: call.app, cursor: place, limit: limit)
          if place == nil, page.items.isEmpty, page.next == nil {
            isKnown = try await store.devices.device(id, app: call.app) != nil
          }
        } catch {
          throw Problem(error)
        }
        guard isKnown else { throw Problem.noDevice }
        return ListingPage(
          items: page.items, next: page.next.map { call.cursor(at: $0.text, marked: Self.timelineMark) },
          isPartial: page.isPartial)
      })
    return try await listing.answer(call)
  }
}

extension TimelineEntry {
  fileprivate var origin: String { toAudience ? "audience" : "listed" }
}
