import Domain
import Store

@testable import API
@testable import HTTPServer

extension FuzzTarget {
  /// A cursor: as it comes from a client it is never taken; as a place that some list gave it reads as it was written.
  static let cursors = FuzzTarget("cursors") { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    let request = HTTPServerRequest(
      method: "GET", path: "/v1/devices", query: [("cursor", text), ("user", "ana")], headers: [], body: [],
      address: NetworkAddress(ipv4: 1))
    let call = Call(
      request: request, parameters: ["x"], key: FuzzWorld.key, now: FuzzWorld.now, cursorSecret: Array(1...32))
    demand((try? call.place(of: text, marked: "d") { $0 }) == nil, "nobody else makes a cursor")
    let own = call.cursor(at: text, marked: "d", filters: [text])
    demand((try? call.place(of: own, marked: "d", filters: [text]) { $0 }) == text, "a cursor stands for its place")
    demand((try? call.place(of: own, marked: "d", filters: [text, ""]) { $0 }) == nil, "a cursor is of its filters")
    var other = Array(own.utf8)
    let at = (bytes.first.map(Int.init) ?? 0) % other.count
    other[at] = other[at] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
    let damaged = String(decoding: other, as: UTF8.self)
    demand((try? call.place(of: damaged, marked: "d", filters: [text]) { $0 }) == nil, "a damaged cursor is none")
    readPlaces(text)
  }

  private static func readPlaces(_ text: String) {
    func same<Place: Equatable>(_ place: Place?, _ written: (Place) -> String, _ read: (String) -> Place?) {
      guard let place else { return }
      demand(read(written(place)) == place, "a place reads as it is written: \(text)")
    }
    same(DeliveryPlace(text: text), \.text) { DeliveryPlace(text: $0) }
    same(ExportPlace(text: text), \.text) { ExportPlace(text: $0) }
    same(AuditPlace(text: text), \.text) { AuditPlace(text: $0) }
    same(MessageID(text), \.description) { MessageID($0) }
    if let place = TimelinePlace(text: text) {
      demand(TimelinePlace(text: place.text)?.text == place.text, "a place of a timeline reads as it is written")
    }
  }
}
