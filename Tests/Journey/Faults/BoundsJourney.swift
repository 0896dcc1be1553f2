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
    let top = "18446744073709551615"
    forms += [
      "e:- - q (abc x", "e:- - q - nosuch", "e:- - q (1-1 \(String(repeating: "x", count: 500))", "e:- - q ( x",
      "e:- - q (99999999999999999999-1 shop/ios:production:urgent", "e:- - r 0 ", "e:- - e 281474976710655 ",
      "e:- - g 0 281474976710655", "e:- - k 0 281474976710655", "e:- - g \(top) 0", "e:- - s \(top) ", "e:- - s 0 ",
      "e:\(listed)", "e:\(listed) \(listed) s 0 ", "d:0.0", "d:63.4294967295", "m:\(listed)", "t:news", "v:0.0/d1",
    ]
    for form in forms {
      let cursor = Base64URL.encode(Array(form.utf8))
      for path in [
        "/v1/messages/\(listed)/deliveries", "/v1/messages/\(aimed)/deliveries", "/v1/devices/d1/timeline",
        "/v1/messages", "/v1/devices", "/v1/tags",
      ] {
        let answer = try await gateway.client.get("\(path)?cursor=\(cursor)")
        #expect(answer.status == 400, "\(form) at \(path): \(answer.text)")
        #expect(answer.json["code"]?.string == "invalid_cursor")
      }
    }
    #expect(try await gateway.client.get("/v1/messages?cursor=\(listed)").status == 400)
    // One that was given goes on, at another process too.
    let given = try #require(try await gateway.client.get("/v1/messages?limit=1").json["next_cursor"]?.string)
    #expect(gateway.process.isRunning)
    let other = try await world.gateway()
    let rest = try await other.client.get("/v1/messages?cursor=\(given)")
    #expect(rest.json["items"]?.array?.compactMap { $0["id"]?.string } == [listed], "\(rest.text)")
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

  @Test("imports with very many columns, lines and unknown members are bounded, and others are answered meanwhile")
  func crowdedImports() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let columns = String(repeating: "zz,", count: 40_000) + "zz\n"
    let attributes = (0..<8_000).map { "attributes.a\($0)" }.joined(separator: ",")
    let unknown = "{" + (0..<150).map { "\"provide\($0)\":1" }.joined(separator: ",") + "}\n"
    let imports: [(path: String, type: String, body: String, status: Int)] = [
      ("/v1/devices/bulk", "text/csv", columns, 422),
      ("/v1/devices/bulk", "text/csv", "provider,token,\(attributes)\nfcm,t,1\n", 422),
      ("/v1/devices/bulk", "text/csv", "provider,token\n" + String(repeating: "fcm,t\n", count: 100_000), 413),
      ("/v1/devices/bulk", "application/x-ndjson", String(repeating: unknown, count: 300), 200),
      ("/v1/messages/bulk", "application/x-ndjson", String(repeating: unknown, count: 300), 200),
      ("/v1/devices/bulk", "application/x-ndjson", String(repeating: "{}\n", count: 100_000), 413),
    ]
    for (path, type, body, status) in imports {
      let big = Task { try await gateway.client.call("POST", path, body, headers: [.init("content-type", type)]) }
      // Asked one after the other until the big one is answered.
      let others = Task {
        var answered = 0
        repeat {
          let answer = try await gateway.client.get("/v1/tags")
          #expect(answer.status == 200, "\(answer.text)")
          answered += 1
        } while !Task.isCancelled
        return answered
      }
      let answer = try await big.value
      others.cancel()
      let answered = try await others.value
      #expect(answer.status == status, "\(type), \(body.utf8.count) bytes: \(answer.text.prefix(300))")
      #expect(answered > 0)
      let lines = answer.text.split(separator: "\n")
      let told = answer.text.matches(of: /"pointer":/).count
      #expect(told <= 201 + 2 * lines.count, "\(told) violations in \(lines.count) lines")
      #expect(answer.text.matches(of: /did you mean/).count <= 20)
    }
  }
}
