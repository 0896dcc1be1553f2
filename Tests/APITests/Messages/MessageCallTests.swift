import API
import Domain
import JSON
import Store
import Testing

@Suite("Messages are listed, read, exported and cancelled", .serialized)
struct MessageCallTests {
  @Test("a list is newest first, in pages that lose and repeat nothing")
  func pages() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      let sent = (0..<7).map { _ in gateway.send(to: ["d1"]) }
      var seen: [String] = []
      var cursor = ""
      repeat {
        let page = gateway.ask("GET", "/v1/messages?limit=3\(cursor)", as: .read)
        #expect(page.status == 200)
        seen += page.json["items"]?.array?.compactMap { $0["id"]?.string } ?? []
        cursor = page.json["next_cursor"]?.string.map { "&cursor=\($0)" } ?? ""
      } while !cursor.isEmpty && seen.count < 20
      #expect(Set(seen) == Set(sent))
      #expect(seen.count == 7)
      #expect(seen == seen.sorted(by: >))
    }
  }

  @Test(
    "a bad page is refused",
    arguments: [
      ("limit=0", "invalid_parameter"), ("limit=1001", "invalid_parameter"), ("limit=x", "invalid_parameter"),
      ("cursor=nonsense", "invalid_cursor"), ("limt=5", "invalid_parameter"), ("label=spring", "invalid_parameter"),
      ("label=:spring", "invalid_parameter"), ("label=", "invalid_parameter"),
    ])
  func badPage(_ query: String, _ code: String) async throws {
    try await Gateway.running { gateway in
      let reply = gateway.ask("GET", "/v1/messages?\(query)", as: .read)
      #expect(reply.status == 400)
      #expect(reply.code == code)
    }
  }

  @Test("a cursor holds for the list that gave it: not for another one, nor with a letter changed, nor for another app")
  func cursorsOfOthers() async throws {
    try await Gateway.running { gateway in
      for device in ["d1", "d2", "d3"] { gateway.register(device, #""tags":["a","b"]"#) }
      let ids = (0..<3).map { _ in gateway.send(to: ["d1", "d2", "d3"]) }
      let lists = [
        "/v1/messages", "/v1/messages/\(ids[0])/deliveries", "/v1/messages/\(ids[1])/deliveries", "/v1/devices",
        "/v1/tags", "/v1/devices/d1/timeline", "/v1/devices/d2/timeline",
      ]
      for list in lists {
        let page = gateway.ask("GET", "\(list)?limit=1", as: .admin)
        let cursor = try #require(page.json["next_cursor"]?.string, "\(list): \(page.text)")
        #expect(gateway.ask("GET", "\(list)?limit=1&cursor=\(cursor)", as: .admin).status == 200)
        var wrong = lists.filter { $0 != list }.map { "\($0)?cursor=\(cursor)" }
        for place in [0, cursor.count / 2, cursor.count - 2] {
          var letters = Array(cursor)
          letters[place] = letters[place] == "A" ? "B" : "A"
          wrong.append("\(list)?cursor=\(String(letters))")
        }
        for path in wrong {
          #expect(gateway.ask("GET", path, as: .admin).code == "invalid_cursor", "\(list): \(path)")
        }
        let stranger = Client(port: gateway.port)
        stranger.send("GET", "\(list)?cursor=\(cursor)", ["authorization": "Bearer \(gateway.stranger)"], nil)
        #expect([400, 404].contains(stranger.receive(hasBody: true).status))
      }
    }
  }

  @Test("a cursor holds for the filters that it was given with, in any order, and for another limit")
  func cursorsOfOtherFilters() async throws {
    try await Gateway.running { gateway in
      for device in ["d1", "d2", "d3"] { gateway.register(device, #""user":"u1","tags":["vip","vet"]"#) }
      let ids = (0..<3).map { _ in gateway.send(to: ["d1", "d2", "d3"]) }
      for (list, filters, others) in [
        ("/v1/messages", ["from=2020-01-01T00:00:00Z", "to=2090-01-01T00:00:00Z"], ["state=completed", "name=a"]),
        ("/v1/messages/\(ids[0])/deliveries", ["state=pending", "provider=apns"], ["state=failed", "reason=a"]),
        ("/v1/devices", ["user=u1", "tag=vip"], ["user=u2", "status=active"]),
        ("/v1/tags", ["prefix=v"], ["prefix=vi"]),
      ] {
        let given = filters.joined(separator: "&")
        let page = gateway.ask("GET", "\(list)?limit=1&\(given)", as: .admin)
        let cursor = try #require(page.json["next_cursor"]?.string, "\(list): \(page.text)")
        let turned = filters.reversed().joined(separator: "&")
        let next = gateway.ask("GET", "\(list)?\(turned)&limit=2&cursor=\(cursor)", as: .admin)
        #expect(next.status == 200, "\(list): \(next.text)")
        for other in others + [""] {
          let wrong = gateway.ask("GET", "\(list)?cursor=\(cursor)&\(other)", as: .admin)
          #expect(wrong.status == 400 && wrong.code == "invalid_cursor", "\(list) with \(other): \(wrong.text)")
          #expect(wrong.json["detail"]?.string?.contains("with the filters of that page") == true, "\(wrong.text)")
        }
      }
    }
  }

  @Test("deliveries come in pages, as NDJSON and as CSV, each of them once")
  func deliveries() async throws {
    try await Gateway.running { gateway in
      let devices = (0..<25).map { "d\($0)" }
      for device in devices { gateway.register(device, #""user":"of-\#(device)""#) }
      let id = gateway.send(to: devices + ["a,\"b"])
      var seen: [String] = []
      var cursor = ""
      repeat {
        let page = gateway.ask("GET", "/v1/messages/\(id)/deliveries?limit=4\(cursor)", as: .read)
        for item in page.json["items"]?.array ?? [] {
          let device = item["device"]?.string ?? ""
          seen.append(device)
          #expect(item["user"]?.string == (devices.contains(device) ? "of-\(device)" : nil), "\(item)")
        }
        cursor = page.json["next_cursor"]?.string.map { "&cursor=\($0)" } ?? ""
      } while !cursor.isEmpty && seen.count < 100
      #expect(seen.sorted() == (devices + ["a,\"b"]).sorted())

      let lines = gateway.ask("GET", "/v1/messages/\(id)/deliveries", as: .export, ["accept": "application/x-ndjson"])
      #expect(lines.header("content-type") == "application/x-ndjson")
      let parsed = try lines.text.split(separator: "\n").map { try JSON.parse(Array($0.utf8)) }
      #expect(Set(parsed.compactMap { $0["device"]?.string }) == Set(seen))

      let table = gateway.ask("GET", "/v1/messages/\(id)/deliveries", as: .export, ["accept": "text/csv"])
      #expect(table.header("content-type")?.hasPrefix("text/csv") == true)
      let rows = table.text.split(separator: "\r\n")
      #expect(rows.count == 27)
      #expect(rows.first?.hasPrefix("device,user,provider,platform,variant,state,reason") == true)
      #expect(rows.contains { $0.hasPrefix("\"a,\"\"b\",,,,,skipped,unknown_device") }, "\(rows.last ?? "")")
      #expect(rows.contains { $0.hasPrefix("d7,of-d7,apns,") }, "\(rows.last ?? "")")

      let bad = gateway.ask("GET", "/v1/messages/\(id)/deliveries?cursor=%00%ff-x", as: .read)
      #expect(bad.status == 400)

      func count(_ filter: String) -> Int {
        let lines = gateway.ask(
          "GET", "/v1/messages/\(id)/deliveries?\(filter)", as: .export, ["accept": "application/x-ndjson"])
        return lines.status == 200 ? lines.text.split(separator: "\n").count : -lines.status
      }
      #expect(count("state=pending") == 25)
      #expect(count("state=skipped,dead") == 1)
      #expect(count("reason=unknown_device") == 1)
      #expect(count("provider=apns&state=pending") == 25)
      #expect(count("provider=fcm") == 0)
      #expect(count("state=pendin") == -400)
      #expect(count("provider=apple") == -400)
    }
  }

  @Test("a device's timeline names every message aimed at it, newest first")
  func timeline() async throws {
    try await Gateway.running { gateway in
      for device in ["d1", "d2"] { gateway.register(device) }
      let first = gateway.send(to: ["d1", "d2"])
      let second = gateway.send(to: ["d1"])
      _ = gateway.send(to: ["d2"])
      var seen: [String] = []
      var cursor = ""
      repeat {
        let page = gateway.ask("GET", "/v1/devices/d1/timeline?limit=1\(cursor)", as: .read)
        #expect(page.status == 200, "\(page.text)")
        for entry in page.json["items"]?.array ?? [] {
          #expect(entry["state"] == .string("pending") && entry["to"] == .string("listed"))
          seen.append(entry["message"]?.string ?? "")
        }
        cursor = page.json["next_cursor"]?.string.map { "&cursor=\($0)" } ?? ""
      } while !cursor.isEmpty && seen.count < 10
      #expect(seen == [second, first])
      #expect(gateway.ask("GET", "/v1/devices/none/timeline", as: .read).status == 404)
    }
  }

  @Test("cancelling ends what waits; again changes nothing; a completed message is beyond it")
  func cancel() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      let id = gateway.send(to: ["d1"])
      for _ in 0..<2 {
        let reply = gateway.ask("POST", "/v1/messages/\(id)/cancel", as: .send)
        #expect(reply.status == 200, "\(reply.text)")
        #expect(reply.json["id"] == .string(id))
      }
      let done = gateway.send(to: ["ghost"])
      let late = gateway.ask("POST", "/v1/messages/\(done)/cancel", as: .send)
      #expect(late.status == 409, "\(late.text)")
      #expect(late.code == "message_completed")
      #expect(late.json["retryable"] == .bool(false))
    }
  }

  @Test("pausing and resuming: repeats change nothing; what is completed or cancelled is beyond both; scopes hold")
  func control() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      let id = gateway.send(to: ["d1"])
      func post(_ what: String, _ id: String, as scope: Scope = .send) -> Reply {
        gateway.ask("POST", "/v1/messages/\(id)/\(what)", as: scope)
      }
      for _ in 0..<2 {
        let reply = post("pause", id)
        #expect(reply.status == 200 && reply.json["state"] == "paused", "\(reply.text)")
        #expect(reply.json["paused_reason"] == "operator" && reply.json["paused_at"] != nil)
      }
      for _ in 0..<2 {
        let reply = post("resume", id)
        #expect(reply.status == 200 && reply.json["state"] == "queued", "\(reply.text)")
        #expect(reply.json["paused_at"] == nil)
      }
      #expect(post("pause", id).status == 200)
      let cancelled = post("cancel", id)
      #expect(cancelled.json["state"] == "cancelled", "\(cancelled.text)")
      #expect(cancelled.json["sent"] == .integer(0) && cancelled.json["not_sent"] == .integer(1))
      let done = gateway.send(to: ["ghost"])
      for what in ["pause", "resume"] {
        #expect(post(what, id).status == 409 && post(what, id).code == "message_cancelled")
        #expect(post(what, done).status == 409 && post(what, done).code == "message_completed")
        #expect(post(what, id, as: .read).status == 403)
        #expect(gateway.ask("POST", "/v1/messages/msg_00000000000000000000000000/\(what)").code == "not_found")
      }
    }
  }

  @Test(
    "what does not exist is 404",
    arguments: ["nonsense", "msg_00000000000000000000000000", "msg_7zzzzzzzzzzzzzzzzzzzzzzzzz"])
  func unknown(_ id: String) async throws {
    try await Gateway.running { gateway in
      #expect(gateway.ask("GET", "/v1/messages/\(id)").code == "not_found")
      #expect(gateway.ask("GET", "/v1/messages/\(id)/deliveries").code == "not_found")
      #expect(gateway.ask("POST", "/v1/messages/\(id)/cancel").code == "not_found")
    }
  }
}
