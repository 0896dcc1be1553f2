import Domain
import Loop
import Testing

@Suite("Bodies that are read beside the loop")
struct LargeBodyTests {
  /// More than is read on the loop.
  private static let padding = String(repeating: " ", count: 70_000)

  @Test(
    "a faulty body is refused for the same, however large it is",
    arguments: [
      ("POST", "/v1/messages"), ("POST", "/v1/audiences/count"), ("PUT", "/v1/audiences/gold"), ("POST", "/v1/devices"),
      ("PUT", "/v1/devices/d1"), ("PATCH", "/v1/devices/d1/tags"), ("PUT", "/v1/users/u1/tags"),
      ("PATCH", "/v1/users/u1/tags"), ("POST", "/v1/drafts"),
      ("PUT", "/v1/test_lists/team"), ("POST", "/v1/keys"),
      ("POST", "/v1/messages/msg_00000000000000000000000000/pause"), ("POST", "/v1/messages/bulk"),
      ("POST", "/v1/devices/bulk"),
    ])
  func faulty(_ method: String, _ path: String) async throws {
    try await Gateway.running { gateway in
      for end in [#""colour":1,"colour":2}"#, #""to":{"devices":[7]},"user":8,"tags":["!"],"ttl":-1}"#, #""x":"#] {
        let small = gateway.ask(method, path, "{" + end)
        let large = gateway.ask(method, path, "{" + Self.padding + end)
        #expect(small.status == large.status && small.code == large.code, "\(large.text)")
        #expect(small.violations == large.violations, "\(large.text)")
        #expect(small.status >= 400 || small.text.contains("\"problem\""), "\(small.text)")
      }
    }
  }

  @Test("a good body does the same, however large it is: a message, lines, a draft, a message at another time")
  func good() async throws {
    try await Gateway.running { gateway in
      let device = #""provider":"fcm","token":"t1","tags":["gold"]}"#
      #expect(gateway.ask("PUT", "/v1/devices/d1", "{" + Self.padding + device).status == 201)
      let line = gateway.ask("POST", "/v1/devices/bulk", "{" + Self.padding + #""id":"d2",\#(device)"#)
      #expect(line.text.contains("\"moved_from\":\"d1\""), "\(line.text)")
      let message = #""to":{"devices":["d2"]},"notification":{"title":"T"}}"#
      let sent = gateway.ask("POST", "/v1/messages", "{" + Self.padding + message)
      #expect(sent.status == 202 && sent.json["targets"] == .integer(1), "\(sent.text)")
      let lines = gateway.ask(
        "POST", "/v1/messages/bulk",
        "{" + Self.padding + message + "\n{" + Self.padding + #""idempotency_key":"a","# + message)
      #expect(lines.text.split(separator: "\n").count { $0.contains("\"state\":\"queued\"") } == 2, "\(lines.text)")
      let draft = gateway.ask("POST", "/v1/drafts", #"{"message":{"# + Self.padding + message + "}")
      #expect(draft.status == 201, "\(draft.text)")

      func time(inDays days: Int64) -> String {
        WallTime(milliseconds: EventLoop.wallClockNow.milliseconds + days * 86_400_000).rfc3339
      }
      let later = gateway.ask(
        "POST", "/v1/messages", "{" + Self.padding + #""send_at":"\#(time(inDays: 1))","# + message)
      let id = try #require(later.json["id"]?.string, "\(later.text)")
      let moved = gateway.ask("PATCH", "/v1/messages/\(id)", #"{"send_at":"\#(time(inDays: 2))"}"#)
      #expect(moved.status == 200, "\(moved.text)")
      #expect(moved.json["starts_at"]?.string?.hasPrefix(time(inDays: 2).prefix(10)) == true, "\(moved.text)")
      #expect(gateway.ask("POST", "/v1/messages/\(id)/duplicate", "").status == 201)
    }
  }
}
