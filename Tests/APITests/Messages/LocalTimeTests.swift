import Domain
import Foundation
import JSON
import Store
import Testing

@Suite("A message for local times starts with the first of its devices", .serialized)
struct LocalTimeTests {
  private static let hour: Int64 = 3_600_000

  /// What clocks show that are so many hours ahead of UTC.
  private func shown(_ time: WallTime, ahead hours: Int64) -> String {
    String((time + hours * Self.hour).rfc3339.prefix(19))
  }
  private func now() -> WallTime { WallTime(seconds: Int64(Date().timeIntervalSince1970)) }

  @Test("the answer and the report show that device's time and zone, and the message can be moved until then")
  func first() async throws {
    try await Gateway.running { gateway in
      gateway.register("berlin", #""tz":"Etc/GMT-1","tags":["in"],"user":"u""#)
      gateway.register("lisbon", #""tz":"Etc/GMT","tags":["in"],"user":"u""#)
      gateway.register("tokyo", #""tz":"Etc/GMT-9""#)
      gateway.register("off", #""tz":"Etc/GMT-3","tags":["in"],"user":"u","enabled":false"#)
      // It has passed in Tokyo, and in the first zone of the earth.
      let start = now() + 2 * Self.hour
      let local = shown(start, ahead: 1)
      for to in [#"{"audience":"in"}"#, #"{"devices":["lisbon","berlin","off"]}"#, #"{"users":["u"]}"#] {
        let sent = gateway.ask(
          "POST", "/v1/messages", #"{"to":\#(to),"notification":{"title":"T"},"send_at_local":"\#(local)"}"#,
          as: .send)
        let id = sent.json["id"]?.string ?? ""
        for answer in [sent, gateway.ask("GET", "/v1/messages/\(id)")] {
          #expect(answer.json["state"]?.string == "scheduled", "\(to): \(answer.text)")
          #expect(answer.json["starts_at"]?.string == start.rfc3339, "\(to): \(answer.text)")
          #expect(answer.json["starts_at_zone"]?.string == "Etc/GMT-1", "\(to): \(answer.text)")
          #expect(answer.json["starts_at_local"]?.string == local, "\(to): \(answer.text)")
        }
        let later = shown(start + Self.hour, ahead: 1)
        let moved = gateway.ask(
          "PATCH", "/v1/messages/\(id)", #"{"send_at_local":"\#(later)","version":1}"#, as: .send)
        #expect(moved.status == 200 && moved.json["version"] == .integer(2), "\(to): \(moved.text)")
        #expect(moved.json["starts_at"]?.string == (start + Self.hour).rfc3339, "\(to): \(moved.text)")
        // At one time for all.
        let fixed = gateway.ask("PATCH", "/v1/messages/\(id)", #"{"send_at":"\#(start.rfc3339)"}"#, as: .send)
        #expect(fixed.json["starts_at"]?.string == start.rfc3339 && fixed.json["starts_at_local"] == nil)
        #expect(fixed.json["starts_at_zone"]?.string == "UTC", "\(to): \(fixed.text)")
      }
      // Where one of them has the time already, it begins.
      let begun = gateway.ask(
        "POST", "/v1/messages",
        #"{"to":{"devices":["lisbon","tokyo"]},"notification":{"title":"T"},"send_at_local":"\#(local)"}"#, as: .send)
      #expect(begun.json["state"]?.string == "queued" && begun.json["starts_at"] == nil, "\(begun.text)")
      let id = begun.json["id"]?.string ?? ""
      let late = gateway.ask("PATCH", "/v1/messages/\(id)", #"{"send_at":"\#(start.rfc3339)"}"#, as: .send)
      #expect(late.code == "message_started", "\(late.text)")
    }
  }
}
