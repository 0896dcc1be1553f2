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
        let message = #"{"to":\#(to),"notification":{"title":"T"},"send_at_local":"\#(local)"}"#
        let dry = gateway.ask("POST", "/v1/messages?dry_run=true", message, as: .send)
        let sent = gateway.ask("POST", "/v1/messages", message, as: .send)
        let id = sent.json["id"]?.string ?? ""
        #expect(sent.json["state"]?.string == "scheduled", "\(to): \(sent.text)")
        for answer in [dry, sent, gateway.ask("GET", "/v1/messages/\(id)")] {
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

  @Test("a move warns as a send does, a trial of it changes nothing, and the start shown is that of one of its devices")
  func warned() async throws {
    try await Gateway.running { gateway in
      gateway.register("berlin", #""tz":"Etc/GMT-1","tags":["in"],"user":"u""#)
      gateway.register("lisbon", #""tz":"Etc/GMT","tags":["in"],"user":"u""#)
      func details(_ reply: Reply, _ code: String) -> [String] {
        (reply.json["warnings"]?.array ?? []).filter { $0["code"]?.string == code }.compactMap { $0["detail"]?.string }
      }
      let later = (now() + 2 * Self.hour).rfc3339
      let tomorrow = String(shown(now() + 24 * Self.hour, ahead: 0).prefix(11))
      for to in [#"{"audience":"in"}"#, #"{"devices":["lisbon","berlin"]}"#, #"{"users":["u"]}"#] {
        func send(_ quiet: String) -> String {
          let body =
            #"{"to":\#(to),"notification":{"title":"T"},"send_at":"\#(later)","quiet_hours":\#(quiet)}"#
          return "/v1/messages/\(gateway.ask("POST", "/v1/messages", body, as: .send).json["id"]?.string ?? "?")"
        }
        let silent = gateway.ask(
          "PATCH", send(#"{"from":"11:00","to":"13:00","else":"skip"}"#), #"{"send_at_local":"\#(tomorrow)12:00:00"}"#,
          as: .send)
        #expect(
          details(silent, "targets_ended").first?.hasPrefix("2 of 2 targets will get nothing (skipped: quiet_hours)")
            == true, "\(to): \(silent.text)")
        #expect(silent.json["starts_at_zone"]?.string == "Etc/GMT-1", "\(to): \(silent.text)")
        #expect(silent.json["starts_at"]?.string == tomorrow + "11:00:00.000Z", "\(to): \(silent.text)")
        let path = send("false")
        // Half an hour ago in Berlin, two hours ago in Lisbon.
        for (time, hours, words) in [
          (now() + -Self.hour / 2, 1, "1 device gets it at once"),
          (now() + -2 * Self.hour, 0, "all 2 devices get it at once"),
        ] as [(WallTime, Int64, String)] {
          let before = gateway.ask("GET", path).json["version"]
          let change = #"{"send_at_local":"\#(shown(time, ahead: hours))","version":\#(before?.integer ?? 0)}"#
          let trial = gateway.ask("PATCH", path + "?dry_run=true", change, as: .send)
          #expect(trial.json["dry_run"] == .bool(true), "\(to): \(trial.text)")
          #expect(trial.json["forecast"]?["clock_passed"]?.integer == (hours == 1 ? 1 : 2), "\(to): \(trial.text)")
          #expect(gateway.ask("GET", path).json["version"] == before, "\(to)")
          let moved = gateway.ask("PATCH", path, change, as: .send)
          for answer in [trial, moved] {
            #expect(details(answer, "local_time_passed").first?.hasPrefix(words) == true, "\(to): \(answer.text)")
            let zone = answer.json["starts_at_zone"]?.string ?? ""
            #expect(["Etc/GMT-1", "Etc/GMT"].contains(zone), "\(to): \(answer.text)")
          }
          #expect(moved.status == 200 && moved.json["forecast"] == nil, "\(to): \(moved.text)")
        }
      }
    }
  }

  @Test("what has ended cannot be moved, and the answer says how it ended")
  func ended() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      let later = (now() + Self.hour).rfc3339
      let change = #"{"send_at":"\#(later)"}"#
      let waiting = gateway.ask(
        "POST", "/v1/messages", #"{"to":{"devices":["d1"]},"notification":{"title":"T"},"send_at":"\#(later)"}"#)
      let path = "/v1/messages/\(waiting.json["id"]?.string ?? "?")"
      #expect(gateway.ask("POST", path + "/cancel").status == 200)
      let cancelled = gateway.ask("PATCH", path, change)
      #expect(cancelled.status == 409 && cancelled.code == "message_cancelled", "\(cancelled.text)")
      #expect(cancelled.text.contains("replay"), "\(cancelled.text)")
      let nobody = gateway.ask("POST", "/v1/messages", #"{"to":{"devices":["gone"]},"notification":{"title":"T"}}"#)
      let completed = gateway.ask("PATCH", "/v1/messages/\(nobody.json["id"]?.string ?? "?")", change)
      #expect(completed.status == 409 && completed.code == "message_completed", "\(completed.text)")
    }
  }
}
