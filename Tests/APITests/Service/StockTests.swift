import Domain
import HTTPServer
import JSON
import Loop
import Store
import Telemetry
import Testing

@testable import API

@Suite("What an app has stored is bounded", .serialized)
struct StockTests {
  private static func limits(_ change: (inout TenantLimits) -> Void) -> TenantLimits {
    var limits = TenantLimits()
    change(&limits)
    return limits
  }

  @Test("an app with all its devices registers those again that it has, and no others, one by one and in bulk")
  func devices() async throws {
    try await Gateway.running(limits: Self.limits { $0.devices = 4 }) { gateway in
      func device(_ number: Int, _ id: String? = nil) -> String {
        #"{\#(id.map { #""id":"\#($0)","# } ?? "")"provider":"apns","token":"aabb0\#(number)"}"#
      }
      for number in 0..<3 { gateway.register("d\(number)") }
      #expect(gateway.ask("POST", "/v1/devices", device(0), as: .register).status == 201)
      for (method, path) in [("POST", "/v1/devices"), ("PUT", "/v1/devices/d9")] {
        let reply = gateway.ask(method, path, device(9), as: .devices)
        #expect(reply.status == 409 && reply.code == "device_limit", "\(reply.text)")
        #expect(reply.json["detail"]?.string?.contains("limits.apps.devices") == true)
      }
      #expect(gateway.ask("POST", "/v1/devices", device(0), as: .register).status == 200)
      #expect(gateway.ask("POST", "/v1/devices", device(8), as: .register).status == 409)
      #expect(gateway.ask("PUT", "/v1/devices/d0", device(5), as: .devices).status == 200)
      let bulk = gateway.ask(
        "POST", "/v1/devices/bulk", [device(6, "d0"), device(7, "d7"), device(0), device(8)].joined(separator: "\n"),
        as: .devices, ["content-type": "application/x-ndjson"])
      let lines = bulk.text.split(separator: "\n").map { (try? JSON.parse(Array($0.utf8))) ?? .null }
      #expect(
        lines.map { $0["registration"]?.string ?? $0["problem"]?["code"]?.string } == [
          "updated", "device_limit", "updated", "device_limit",
        ], "\(bulk.text)")
      #expect(gateway.ask("GET", "/v1/devices/d7", as: .devices).status == 404)
      try await gateway.adopt(limits: Self.limits { $0.devices = 5 })
      #expect(gateway.ask("PUT", "/v1/devices/d9", device(9), as: .devices).status == 201)
      #expect(gateway.ask("PUT", "/v1/devices/d10", device(8), as: .devices).status == 409)
    }
  }

  @Test("an app has so many different tags: those in use go on, and others are refused wherever a tag is given")
  func tags() async throws {
    try await Gateway.running(limits: Self.limits { $0.tags = 3 }) { gateway in
      func put(_ id: String, _ tags: [String]) -> Reply {
        let list = tags.map { "\"\($0)\"" }.joined(separator: ",")
        return gateway.ask("PUT", "/v1/devices/\(id)", #"{"provider":"apns","token":"\#(id)","tags":[\#(list)]}"#)
      }
      #expect(put("aa01", ["a", "b"]).status == 201)
      #expect(put("aa02", ["b", "c"]).status == 201)
      let reply = put("aa03", ["a", "d"])
      #expect(reply.status == 409 && reply.code == "tag_limit", "\(reply.text)")
      #expect(reply.json["detail"]?.string?.contains("limits.apps.tags") == true)
      #expect(gateway.ask("GET", "/v1/devices/aa03").status == 404)
      #expect(put("aa03", ["a", "c"]).status == 201)
      for (method, path) in [("PATCH", "/v1/devices/aa01/tags"), ("PUT", "/v1/users/u1/tags")] {
        let body = method == "PATCH" ? #"{"add":["\#("x")"]}"# : #"{"tags":["x"]}"#
        #expect(gateway.ask(method, path, body).code == "tag_limit", "\(path)")
      }
      #expect(gateway.ask("PATCH", "/v1/devices/aa01/tags", #"{"add":["c"]}"#).status == 200)
      let lines = [["a"], ["d"], ["b", "c"]].enumerated().map { number, tags in
        let list = tags.map { "\"\($0)\"" }.joined(separator: ",")
        return #"{"id":"bulk\#(number)","provider":"apns","token":"bb0\#(number)","tags":[\#(list)]}"#
      }
      let bulk = gateway.ask(
        "POST", "/v1/devices/bulk", lines.joined(separator: "\n"), ["content-type": "application/x-ndjson"])
      let codes = bulk.text.split(separator: "\n").map { line in
        let result = (try? JSON.parse(Array(line.utf8))) ?? .null
        return result["registration"]?.string ?? result["problem"]?["code"]?.string
      }
      #expect(codes == ["created", "tag_limit", "created"], "\(bulk.text)")
    }
  }

  @Test(
    "an app has so many scheduled messages; one that is cancelled makes room, and one that is moved keeps its place")
  func scheduled() async throws {
    try await Gateway.running(limits: Self.limits { $0.scheduled = 2 }) { gateway in
      gateway.register("d1")
      func send(_ headers: [String: String] = [:]) -> Reply {
        gateway.ask(
          "POST", "/v1/messages",
          #"{"to":{"devices":["d1"]},"notification":{"title":"T"},"send_at":"2027-01-30T12:00:00Z"}"#, as: .send,
          headers)
      }
      let first = send(["idempotency-key": "a"])
      #expect(first.status == 202, "\(first.text)")
      for _ in 0..<3 { #expect(send(["idempotency-key": "a"]).json["id"] == first.json["id"]) }
      let second = send()
      #expect(second.status == 202)
      let reply = send()
      #expect(reply.status == 409 && reply.code == "scheduled_limit", "\(reply.text)")
      #expect(reply.json["detail"]?.string?.contains("limits.apps.scheduled") == true)
      _ = gateway.send(to: ["d1"])
      let id = try #require(second.json["id"]?.string)
      let moved = gateway.ask("PATCH", "/v1/messages/\(id)", #"{"send_at":"2027-01-30T13:00:00Z"}"#)
      #expect(moved.status == 200, "\(moved.text)")
      #expect(send().status == 409)
      #expect(gateway.ask("POST", "/v1/messages/\(id)/cancel").status == 200)
      #expect(send().status == 202)
      #expect(send().status == 409)
    }
  }

  @Test("so many counts and dry runs of a key and of an app are at work at a time, and one that ends makes room")
  func gates() async throws {
    let loop = EventLoop(name: "gates")
    let thread = loop.start()
    let told = try await loop.run {
      let app = Gateway.shop
      let shared = CountGate(3, key: nil, app: app)
      let meters = LimitMeters(Metrics(), Log(minimum: .error), loop)
      let none = [LimitBucket?](repeating: nil, count: LimitedUse.allCases.count)
      let keys = ["key_1", "key_2"].map {
        Allowance(own: none, shared: none, gates: [CountGate(2, key: $0, app: app), shared], meters: meters)
      }
      var held: [UnsafeContinuation<Void, Never>] = []
      var told: [String] = []
      func count(_ key: Int) async {
        do throws(Problem) {
          try await keys[key].counting { () throws(Problem) in
            told.append("begins")
            await withUnsafeContinuation { held.append($0) }
          }
        } catch {
          told.append(error.violatedPolicies.joined())
        }
      }
      func start(_ key: Int) async {
        loop.spawn { await count(key) }
        await loop.sleep(milliseconds: 0)
      }
      for key in [0, 0, 0, 1, 1] { await start(key) }
      held.removeFirst().resume()
      await loop.sleep(milliseconds: 0)
      for key in [1, 0] { await start(key) }
      for one in held { one.resume() }
      await loop.sleep(milliseconds: 0)
      #expect(shared.atWork == 0)
      return told
    }
    loop.stop()
    thread.join()
    #expect(told == ["begins", "begins", "key-counts", "begins", "app-counts", "begins", "app-counts"])
  }

  @Test("counts of audiences and drafts and dry runs pass the gate, and sends do not")
  func gated() async throws {
    try await Gateway.running(limits: Self.limits { $0.countsOfKey = 0 }) { gateway in
      gateway.register("d1", #""tags":["beta"]"#)
      let message = #"{"to":{"audience":"beta"},"notification":{"title":"T"}}"#
      let draft = gateway.ask("POST", "/v1/drafts", #"{"message":\#(message)}"#)
      let id = try #require(draft.json["id"]?.string, "\(draft.text)")
      for (path, body) in [
        ("/v1/audiences/count", #"{"audience":"beta"}"#), ("/v1/drafts/\(id)/count", nil),
        ("/v1/drafts/\(id)/send?dry_run=true", nil), ("/v1/messages?dry_run=true", message),
      ] {
        let reply = gateway.ask("POST", path, body)
        #expect(reply.status == 429 && reply.code == "rate_limited", "\(path): \(reply.text)")
        #expect(reply.header("retry-after") == "1")
        #expect(reply.header("ratelimit-policy") == #""key-counts";q=0;qu="concurrent-requests""#)
      }
      #expect(gateway.ask("POST", "/v1/messages?dry_run=false", message).status == 202)
      #expect(gateway.ask("POST", "/v1/drafts/\(id)/send").status == 202)
    }
  }
}
