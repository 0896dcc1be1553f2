import API
import Domain
import Foundation
import JSON
import Loop
import Store
import Support
import Testing

@Suite("Operators see how the gateway is", .serialized)
struct OperationTests {
  @Test("health, readiness, metrics and the description answer without a key")
  func open() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      _ = gateway.send(to: ["d1", "ghost"])
      #expect(gateway.ask("GET", "/healthz", as: nil).json == .object([JSONMember("status", .string("ok"))]))
      // Nobody works yet: it is told, and takes nothing from the API.
      let idle = gateway.ask("GET", "/readyz", as: nil)
      #expect(idle.status == 200 && idle.json["status"] == .string("degraded"))
      #expect(idle.json["reasons"]?.array?.map { $0["code"]?.string } == ["partitions_unowned"])
      #expect(idle.json["unowned_count"]?.integer == 16)
      #expect(gateway.ask("GET", "/metrics", as: nil).text.contains("\nfanfare_partitions_unowned 16\n"))
      try await gateway.own()
      let ready = gateway.ask("GET", "/readyz", as: nil)
      #expect(ready.status == 200)
      #expect(ready.json["reasons"] == .array([]))
      let worker = ready.json["workers"]?.array?.first
      #expect(
        worker?["worker"]?.string == "2a" && worker?["host"]?.string == "here" && worker?["process"]?.integer == 7)
      #expect(worker?["partitions"]?.array?.count == 16)

      let metrics = gateway.ask("GET", "/metrics", as: nil)
      #expect(metrics.header("content-type")?.hasPrefix("text/plain") == true)
      for line in [
        #"fanfare_accepted_messages_total{urgency="urgent"} 1"#, #"fanfare_accepted_targets_total{state="queued"} 1"#,
        #"fanfare_accepted_targets_total{state="ended"} 1"#, "fanfare_store_available 1",
        "fanfare_partitions_unowned 0",
        #"fanfare_http_requests_total{method="POST",route="/v1/messages",status="202"} 1"#,
        #"fanfare_queue_jobs{credential="shop/apns:production",urgency="urgent"} 1"#,
        #"fanfare_queue_jobs{credential="shop/fcm",urgency="bulk"} 0"#,
      ] {
        #expect(metrics.text.contains(line + "\n"), "\(line) is not in\n\(metrics.text)")
      }
      // A slow machine may take its time between the two.
      #expect(metrics.text.contains("\nfanfare_queue_oldest_seconds "))
      #expect(gateway.ask("GET", "/openapi.json", as: nil).body == OpenAPI.encoded)
    }
  }

  @Test("a blocked credential is told, and does not take the gateway from the others")
  func blocked() async throws {
    try await Gateway.running { gateway in
      try await gateway.own()
      let since = WallTime(milliseconds: 1_790_000_000_000)
      try await gateway.withStore {
        try await $0.conditions.set(
          FakeAccount.apns, CredentialCondition(.blocked, reason: "InvalidProviderToken", since: since))
      }
      let ready = gateway.ask("GET", "/readyz", as: nil)
      #expect(ready.status == 200)
      #expect(ready.json["status"] == .string("degraded"))
      #expect(ready.json["reasons"]?.array?.count == 1)
      #expect(ready.json["reasons"]?.array?.first?["code"] == .string("credential_blocked"))
      #expect(ready.text.contains("InvalidProviderToken"))
      try await gateway.withStore { try await $0.conditions.set(FakeAccount.apns, nil) }
      #expect(gateway.ask("GET", "/readyz", as: nil).json["status"] == .string("ready"))
    }
  }

  @Test("what makes a credential wait is told with its reason and its times, until it has passed")
  func waiting() async throws {
    try await Gateway.running { gateway in
      try await gateway.own()
      let now = WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
      for state in [CredentialCondition.State.waiting, .failing] {
        let condition = CredentialCondition(
          state, reason: "Too much", since: now, nextTry: now + 3_600_000, until: now + 86_400_000)
        try await gateway.withStore { try await $0.conditions.set(FakeAccount.apns, condition) }
        let ready = gateway.ask("GET", "/readyz", as: nil)
        #expect(ready.status == 200 && ready.json["status"] == .string("degraded"))
        let reason = ready.json["reasons"]?.array?.first
        #expect(reason?["code"] == .string("credential_\(state.rawValue)"))
        for part in ["Too much", now.rfc3339, (now + 3_600_000).rfc3339, (now + 86_400_000).rfc3339] {
          #expect(reason?["detail"]?.string?.contains(part) == true, "\(part) in \(ready.text)")
        }
        let page = gateway.ask("GET", "/metrics", as: nil).text
        for other in CredentialCondition.State.allCases {
          let labels = "credential=\"\(FakeAccount.apns.rawValue)\",state=\"\(other.rawValue)\""
          let series = "fanfare_credential_condition{\(labels)}"
          #expect(page.contains("\(series) \(other == state ? 1 : 0)\n"), "\(series) in \(page)")
        }
        let next = "fanfare_credential_next_try_timestamp_seconds{credential=\"\(FakeAccount.apns.rawValue)\"}"
        #expect(page.contains("\(next) \((now + 3_600_000).milliseconds / 1_000)\n"), "\(page)")
      }
      // Its worker is gone, or has nothing left to send: after a while nobody knows.
      let past = CredentialCondition(
        .waiting, reason: "Too much", since: now + -1_000_000, nextTry: now + -CredentialCondition.memory + -1)
      try await gateway.withStore { try await $0.conditions.set(FakeAccount.apns, past) }
      #expect(gateway.ask("GET", "/readyz", as: nil).json["status"] == .string("ready"))
    }
  }

  @Test("without Redis everything that needs it is 503 with Retry-After, and comes back by itself")
  func outage() async throws {
    let redis = RedisServer(durable: true)
    try await Gateway.running(redis: redis) { gateway in
      gateway.register("d1")
      let id = gateway.send(to: ["d1"])
      redis.stop()
      for (method, path, body) in [
        ("POST", "/v1/messages", #"{"to":{"devices":["d1"]},"notification":{"title":"T"}}"#),
        ("GET", "/v1/messages", nil),
        ("GET", "/v1/messages/\(id)", nil), ("GET", "/v1/devices/d1", nil),
        ("PUT", "/v1/devices/d1", #"{"provider":"fcm","token":"t"}"#), ("DELETE", "/v1/users/u", nil),
      ] as [(String, String, String?)] {
        let reply = gateway.ask(method, path, body)
        #expect(reply.status == 503, "\(method) \(path)")
        #expect(reply.code == "store_unavailable")
        #expect(reply.json["retryable"] == .bool(true))
        #expect(reply.header("retry-after").flatMap { Int($0) } ?? 0 >= 1)
      }
      #expect(gateway.ask("GET", "/healthz", as: nil).status == 200)
      let unready = gateway.ask("GET", "/readyz", as: nil)
      #expect(unready.status == 503)
      #expect(unready.json["reasons"]?.array?.first?["code"] == .string("store_unavailable"))
      #expect(gateway.ask("GET", "/metrics", as: nil).text.contains("fanfare_store_available 0\n"))

      redis.start()
      try await gateway.loop.run {
        for _ in 0..<1_000 where gateway.store?.session.isAvailable != true {
          await gateway.loop.sleep(milliseconds: 10)
        }
      }
      #expect(gateway.ask("GET", "/readyz", as: nil).status == 200)
      #expect(gateway.ask("GET", "/v1/messages/\(id)").status == 200)
      #expect(gateway.ask("GET", "/v1/messages").json["items"]?.array?.count == 1)
    }
  }

  @Test("answers have the fields that the description gives them, and no others")
  func answers() async throws {
    try await Gateway.running { gateway in
      func check(_ value: JSONValue?, _ schema: String) {
        let described = OpenAPI.document["components"]?["schemas"]?[schema]
        let fields = Set(described?["properties"]?.object?.map(\.key) ?? [])
        let found = Set(value?.object?.map(\.key) ?? [])
        let required = Set(described?["required"]?.array?.compactMap(\.string) ?? [])
        #expect(found.isSubset(of: fields), "\(schema): \(found.subtracting(fields))")
        #expect(required.isSubset(of: found), "\(schema): \(required.subtracting(found))")
      }
      let put = gateway.ask(
        "PUT", "/v1/devices/d1",
        #"{"provider":"apns","token":"ab","platform":"ios","app_version":"1","language":"de","tz":"UTC","user":"u","tags":["a"],"attributes":{"a":1},"live_activity_token":"x","activity_id":"y","last_seen_at":"2020-01-01T00:00:00Z","bundle_id":"a.b"}"#
      )
      check(put.json, "Registered")
      check(gateway.ask("GET", "/v1/devices/d1").json, "Device")
      check(gateway.ask("GET", "/v1/users/u").json, "User")
      let sent = gateway.ask("POST", "/v1/messages", #"{"to":{"devices":["d1","d2"]},"notification":{"title":"T"}}"#)
      check(sent.json, "Accepted")
      check(sent.json["warnings"]?.array?.first, "Warning")
      let id = sent.json["id"]?.string ?? ""
      check(gateway.ask("GET", "/v1/messages/\(id)").json, "MessageReport")
      check(gateway.ask("GET", "/v1/messages").json, "MessagePage")
      let deliveries = gateway.ask("GET", "/v1/messages/\(id)/deliveries")
      check(deliveries.json, "DeliveryPage")
      for delivery in deliveries.json["items"]?.array ?? [] { check(delivery, "Delivery") }
      check(gateway.ask("GET", "/readyz").json, "Readiness")
      let problem = gateway.ask("POST", "/v1/messages", "{}")
      check(problem.json, "Problem")
      check(problem.json["violations"]?.array?.first, "Violation")
      check(gateway.ask("DELETE", "/v1/users/u").json, "UserDeleted")
    }
  }
}
