import Domain
import HTTPServer
import JSON
import Store

extension DeviceListCalls {
  private static let devicesPerPiece = 2_000

  /// `GET /v1/devices/export`: every device of the app, one a line as `POST /v1/devices/bulk` takes them, or as a table
  /// with `?format=csv` or `Accept: text/csv`. Dead ones only with `?dead=true`, and then with why, which no import
  /// takes.
  func exportDevices(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let withDead = call.flag("dead")
    let form: Export<StoredDevice> =
      call.form(usual: .lines) == .table
      ? .table(StoredDevice.columns) { $0.row }
      : .lines { stored, writer in
        writer.beginObject()
        if withDead { stored.write(to: &writer) } else { stored.device.writeToImport(to: &writer) }
        writer.endObject()
      }
    return try await form.answer { [self] cursor throws(Problem) in
      do throws(StoreError) {
        let page = try await store.export.page(
          call.app, after: cursor.flatMap { ExportPlace(text: $0) }, limit: Self.devicesPerPiece, tombstones: withDead)
        return (page.devices, page.next?.text)
      } catch {
        throw Problem(error)
      }
    }
  }
}

extension Device {
  /// All that an import takes: what registers it, and when it was.
  fileprivate func writeToImport(to writer: inout JSONWriter) {
    write(to: &writer)
    writer.member("registered_at", registeredAt.rfc3339)
  }
}

extension StoredDevice {
  static let columns = [
    "id", "provider", "token", "token_kind", "environment", "bundle_id", "platform", "app_version", "language", "tz",
    "user", "tags", "attributes", "enabled", "authorization", "live_activity_token", "activity_id", "status",
    "registered_at", "last_seen_at", "reason",
  ]

  var row: [String] {
    let address = device.address
    return [
      device.id.rawValue, address.provider.rawValue, address.token, address.tokenKind.rawValue,
      address.environment.rawValue, address.bundleID ?? "", device.platform ?? "", device.appVersion ?? "",
      device.language ?? "", device.timeZone ?? "", device.user ?? "", Self.words(device.tags),
      device.attributes.isEmpty ? "" : String(decoding: JSONValue.object(device.attributes).encoded, as: UTF8.self),
      String(device.enabled), Self.words(device.permissions.all.map(\.rawValue)), device.liveActivityToken ?? "",
      device.activityID ?? "",
      status.rawValue, device.registeredAt.rfc3339, device.lastSeen?.rfc3339 ?? "", tombstone?.reason ?? "",
    ]
  }

  /// With spaces between them; as JSON where one of them holds what a table is parted by.
  private static func words(_ words: [String]) -> String {
    let isPlain = words.allSatisfy { word in !word.contains { " ,;|[".contains($0) } }
    guard !isPlain else { return words.joined(separator: " ") }
    return String(decoding: JSONValue.array(words.map { .string($0) }).encoded, as: UTF8.self)
  }
}
