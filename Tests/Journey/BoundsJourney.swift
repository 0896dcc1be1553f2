import Domain
import JSON
import Support
import TLS
import Testing

extension Journeys {
  @Test("a cursor that no list gave is refused, whatever numbers it holds, and ends no process")
  func foreignCursors() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    _ = try await gateway.client.put("/v1/devices/d1", #"{"provider":"apns","token":"\#(Tokens.apns(1))"}"#)
    let listed = try await gateway.send(#"{"to":{"devices":["d1"]},"notification":{"title":"T"}}"#)
    let aimed = try await gateway.send(#"{"to":{"everyone":true},"notification":{"title":"T"}}"#)
    _ = try await gateway.completed(listed)
    _ = try await gateway.completed(aimed)
    let numbers = ["9223372036854775807", "9223372036854775000", "9223372036854774807", "-9223372036854775808", "-1"]
    var forms = numbers.flatMap { number in
      (0..<64).map { "d:\($0).\(number)" } + ["d:\(number).0", "d:\(number).\(number)"]
    }
    forms += ["d:", "d:1", "d:1.1.1", "d:a.b", "d:1.", "d:.1", "e:x", "e:msg_", "e:9223372036854775807"]
    for form in forms {
      let cursor = Base64URL.encode(Array(form.utf8))
      for path in ["/v1/messages/\(listed)/deliveries", "/v1/messages/\(aimed)/deliveries", "/v1/devices/d1/timeline"] {
        let answer = try await gateway.client.get("\(path)?cursor=\(cursor)")
        #expect(answer.status == 400, "\(form) at \(path): \(answer.text)")
        #expect(answer.json["code"]?.string == "invalid_cursor")
      }
    }
    // A page far behind the end is empty, and the last one.
    let behind = Base64URL.encode(Array("d:63.4294967295".utf8))
    #expect(
      try await gateway.client.get("/v1/messages/\(listed)/deliveries?cursor=\(behind)").json["items"] == .array([]))
    #expect(gateway.process.isRunning)
  }

  @Test("very many members, values, headers or levels are refused by name in a moment, and hold up nobody")
  func crowdedRequests() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    func object(_ count: Int) -> String { "{" + (0..<count).map { "\"k\($0)\":0" }.joined(separator: ",") + "}" }
    func headers(_ count: Int, _ bytes: Int) -> String {
      let value = String(repeating: "v", count: bytes)
      return "{" + (0..<count).map { "\"x-\($0)\":\"\(value)\"" }.joined(separator: ",") + "}"
    }
    func send(_ members: String) -> String {
      #"{"to":{"tokens":[{"provider":"apns","token":"\#(Tokens.apns(1))"}]},"notification":{"title":"T"},\#(members)}"#
    }
    let crowded: [(body: String, status: Int, pointer: String)] = [
      (send(#""overrides":{"apns":{"aps":\#(object(40_000))}}"#), 413, "/overrides/apns/aps"),
      (send(#""overrides":{"apns":{"aps":\#(object(300_000))}}"#), 413, "/overrides/apns/aps"),
      (send(#""overrides":{"apns":{"headers":\#(object(100_000))}}"#), 413, "/overrides/apns/headers"),
      (send(#""overrides":{"apns":{"aps":\#(object(9_000))}}"#), 422, "/overrides/apns/aps"),
      (send(#""overrides":{"apns":{"headers":\#(headers(200, 500))}}"#), 422, "/overrides/apns/headers"),
      (send(#""overrides":{"apns":{"headers":\#(headers(30, 500))}}"#), 422, "/overrides/apns/headers"),
      (send(#""data":\#(object(70_000))"#), 413, "/data"),
      (send(#""data":{"list":[\#(Array(repeating: "0", count: 400_000).joined(separator: ","))]}"#), 413, ""),
    ]
    let others = Task {
      var longest = Duration.zero
      while !Task.isCancelled {
        let began = ContinuousClock.now
        let answer = try await gateway.client.post("/v1/messages?dry_run=true", send(#""priority":"high""#))
        #expect(answer.status == 200, "\(answer.text)")
        longest = max(longest, ContinuousClock.now - began)
      }
      return longest
    }
    for (body, status, pointer) in crowded {
      let began = ContinuousClock.now
      let answer = try await gateway.client.post("/v1/messages", body)
      let took = ContinuousClock.now - began
      #expect(answer.status == status, "\(answer.text.prefix(500))")
      #expect(answer.json["violations"]?.array?.first?["pointer"]?.string == pointer, "\(answer.text.prefix(500))")
      #expect(answer.json["violations"]?.array?.count == 1)
      // A square took minutes; reading megabytes takes a debug build some tenths of a second.
      #expect(took < .seconds(6 * Sanitizer.slowness), "\(took) for \(body.utf8.count) bytes at \(pointer)")
    }
    others.cancel()
    let longest = try await others.value
    #expect(longest < .seconds(6 * Sanitizer.slowness), "another request waited \(longest)")
    #expect(try await gateway.client.get("/v1/messages").json["items"] == .array([]))
  }
}
