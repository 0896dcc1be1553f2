import API
import Domain
import JSON
import Loop
import Store
import Testing

@Suite("A message goes to an audience")
struct AudienceSendTests {
  private func send(_ gateway: Gateway, _ to: String, _ more: String = "") -> Reply {
    gateway.ask(
      "POST", "/v1/messages", #"{"to":\#(to),"notification":{"body":"T"}\#(more.isEmpty ? "" : ",")\#(more)}"#)
  }
  private func deliveries(_ gateway: Gateway, _ message: Reply) -> [String] {
    let reply = gateway.ask("GET", "/v1/messages/\(message.json["id"]?.string ?? "?")/deliveries?limit=1000")
    return (reply.json["items"]?.array ?? []).compactMap { $0["device"]?.string }.sorted()
  }
  private func pair(_ row: JSONValue, _ name: String) -> String {
    "\(row[name]?.string ?? "-") \(row["count"]?.integer ?? -1)"
  }

  @Test("a count is exact, by provider and platform; names are written out")
  func counts() async throws {
    try await Gateway.running { gateway in
      gateway.register("a", #""tags":["plan:pro"],"platform":"ios","language":"de-AT","user":"u""#)
      gateway.register("b", #""tags":["plan:pro","churned"],"platform":"ios","user":"u""#)
      gateway.register("c", #""tags":["plan:team"],"language":"fr""#)
      gateway.register("d", #""tags":["plan:pro"],"enabled":false"#)
      _ = gateway.ask(
        "PUT", "/v1/devices/f", #"{"provider":"fcm","token":"t1","platform":"android","tags":["plan:pro"]}"#)
      _ = gateway.ask("PUT", "/v1/audiences/paying", #"{"audience":"plan:*"}"#)

      func count(_ body: String) -> JSONValue {
        let reply = gateway.ask("POST", "/v1/audiences/count", body, as: .read)
        #expect(reply.status == 200, "\(reply.text)")
        return reply.json
      }
      let pro = count(#"{"audience":"plan:pro && !churned"}"#)
      #expect(pro["total"]?.integer == 2)
      #expect(pro["audience"]?.string == "(plan:pro && !churned)")
      #expect(pro["by_provider"]?.array?.map { pair($0, "provider") } == ["apns 1", "fcm 1"])
      #expect(pro["by_platform"]?.array?.map { pair($0, "platform") } == ["android 1", "ios 1"])
      let named = count(#"{"audience":"audience:paying && (lang:de || lang:fr)"}"#)
      #expect(named["total"]?.integer == 2)
      #expect(named["by_platform"]?.array?.map { pair($0, "platform") } == ["- 1", "ios 1"])
      #expect(count(#"{"everyone":true}"#)["total"]?.integer == 4)
      #expect(count(#"{"everyone":true,"providers":["fcm"]}"#)["total"]?.integer == 1)
      #expect(count(#"{"everyone":true,"reach":"latest_device_per_user"}"#)["total"]?.integer == 3)
      #expect(count(#"{"audience":"nobody"}"#)["total"]?.integer == 0)

      // The latest device of a user is the latest that the message can go to, in each figure.
      for (id, kind) in [("g", "device"), ("h", "voip")] {
        let token = String(repeating: id == "g" ? "a" : "b", count: 64)
        _ = gateway.ask(
          "PUT", "/v1/devices/\(id)",
          #"{"provider":"apns","token":"\#(token)","token_kind":"\#(kind)","user":"vera","platform":"\#(kind)"}"#)
      }
      let latest = count(#"{"everyone":true,"reach":"latest_device_per_user","providers":["apns"]}"#)
      let platforms = latest["by_platform"]?.array?.map { pair($0, "platform") } ?? []
      #expect(platforms.contains("device 1") && !platforms.contains("voip 1"), "\(latest)")

      let fault = gateway.ask("POST", "/v1/audiences/count", #"{"audience":"plan:pro && audience:payin"}"#)
      #expect(fault.status == 422)
      #expect(fault.code == "invalid_audience")
      #expect(fault.json["violations"]?.array?.first?["column"]?.integer == 13)
      #expect(fault.text.contains("did you mean `audience:paying`?"))
    }
  }

  @Test("a small audience gets a list of its own; an empty one reaches nobody and says so")
  func small() async throws {
    try await Gateway.running { gateway in
      for index in 0..<30 { gateway.register("d\(index)", index < 10 ? #""tags":["beta"]"# : "") }
      let sent = send(gateway, #"{"audience":"beta"}"#)
      #expect(sent.status == 202, "\(sent.text)")
      #expect(sent.json["targets"]?.integer == 10)
      #expect(deliveries(gateway, sent) == (0..<10).map { "d\($0)" })

      let empty = send(gateway, #"{"audience":"beta && nobody"}"#)
      #expect(empty.status == 202)
      #expect(empty.json["state"]?.string == "completed")
      #expect(empty.json["targets"]?.integer == 0)
      #expect(empty.json["warnings"]?.array?.first?["code"]?.string == "no_recipients")
      let report = gateway.ask("GET", "/v1/messages/\(empty.json["id"]?.string ?? "")")
      #expect(report.json["no_recipients"]?.bool == true, "\(report.text)")
      #expect(send(gateway, #"{"audience":"audience:none"}"#).violations == ["/to/audience invalid_audience"])
    }
  }

  @Test("a large audience is stored as one, counted at accept")
  func large() async throws {
    var settings = ServiceSettings()
    settings.urgentTargets = 5
    try await Gateway.running(settings: settings) { gateway in
      for index in 0..<20 { gateway.register("d\(index)", index < 8 ? #""tags":["beta"]"# : "") }
      let sent = send(gateway, #"{"audience":"beta"}"#)
      #expect(sent.status == 202, "\(sent.text)")
      #expect(sent.json["targets"]?.integer == 8)
      #expect(sent.json["state"]?.string == "queued")
      let report = gateway.ask("GET", "/v1/messages/\(sent.json["id"]?.string ?? "")")
      #expect(report.json["targets"]?.integer == 8, "\(report.text)")
      #expect(send(gateway, #"{"everyone":true}"#).json["targets"]?.integer == 20)
    }
  }

  @Test("500 become jobs that list them, in the partitions that hold them and in no other; 501 stay an audience")
  func jobs() async throws {
    try await Gateway.running { gateway in
      let limit = ServiceSettings().urgentTargets
      let lines = (0...limit).map { number in
        #"{"id":"d\#(number)","provider":"fcm","token":"t\#(number)","tags":["all"\#(number < limit ? #","most""# : "")"#
          + #"\#(number < 3 ? #","few""# : "")]}"#
      }
      let imported = gateway.ask(
        "POST", "/v1/devices/bulk", lines.joined(separator: "\n"), as: .devices,
        ["content-type": "application/x-ndjson"])
      #expect(imported.status == 200, "\(imported.text.prefix(300))")

      /// By partition: devices that the message's jobs list, and whether a part of it as an audience waits there.
      func work(_ message: Reply) async throws -> [Int: (devices: [String], hasPart: Bool)] {
        let id = MessageID(message.json["id"]?.string ?? "")
        return try await gateway.withStore { store in
          var work: [Int: (devices: [String], hasPart: Bool)] = [:]
          for partition in 0..<store.session.settings.partitions {
            guard let lease = try await store.leases.take(partition) else {
              preconditionFailure("the partition is another's")
            }
            let starts = try await store.audienceStarts.due(lease, now: gateway.loop.wallNow, limit: 10)
            let hasPart = starts.contains { id.map(AudienceStarts.Start.part) == $0 }
            var devices: [String] = []
            for ready in try await store.queue.readyStreams(lease) {
              let targets = try await store.queue.claim(lease, ready.stream, after: nil, jobs: 10, targets: 2_000)
                .flatMap(\.targets)
              devices += targets.filter { $0.delivery.message == id }.map(\.device.rawValue)
            }
            try await store.leases.release(lease)
            if !devices.isEmpty || hasPart { work[partition] = (devices, hasPart) }
          }
          return work
        }
      }
      let few = try await work(send(gateway, #"{"audience":"few"}"#))
      let homes = try await gateway.withStore { store in
        Dictionary(grouping: (0..<3).map { "d\($0)" }) {
          store.session.partition(of: DeviceID(rawValue: $0), in: Gateway.shop)
        }
      }
      #expect(few.mapValues { $0.devices.sorted() } == homes)
      #expect(few.values.allSatisfy { !$0.hasPart })

      let most = send(gateway, #"{"audience":"most"}"#)
      #expect(most.json["targets"]?.integer == Int64(limit))
      let jobs = try await work(most)
      #expect(jobs.values.flatMap(\.devices).sorted() == (0..<limit).map { "d\($0)" }.sorted())
      #expect(jobs.values.allSatisfy { !$0.hasPart })

      let all = send(gateway, #"{"audience":"all"}"#)
      #expect(all.json["targets"]?.integer == Int64(limit + 1))
      let parts = try await work(all)
      #expect(parts.values.allSatisfy { $0.hasPart && $0.devices.isEmpty } && !parts.isEmpty)
    }
  }

  @Test("only an account that members go through may refuse a large audience, at once or for later")
  func accountsInUse() async throws {
    var settings = ServiceSettings()
    settings.urgentTargets = 5
    try await Gateway.running(settings: settings) { gateway in
      for index in 0..<8 { gateway.register("s\(index)", #""environment":"sandbox","tags":["inner"]"#) }
      gateway.register("outside")
      for to in [#"{"audience":"inner"}"#, #"{"everyone":true}"#] {
        for more in ["", #","send_at":"\#((gateway.loop.wallNow + 86_400_000).rfc3339)""#] {
          let body = String(repeating: "x", count: FakeAccount.limit + 1)
          let reply = gateway.ask("POST", "/v1/messages", #"{"to":\#(to),"notification":{"body":"\#(body)"}\#(more)}"#)
          // No account is there for the sandbox: nobody of `inner` goes through the one that would refuse.
          #expect(reply.status == (to.contains("inner") ? 202 : 422), "\(reply.text)")
        }
      }
    }
  }

  @Test("OneSignal aims itself where it is asked to: one delivery; what its filters cannot say is named")
  func provider() async throws {
    try await Gateway.running { gateway in
      let more = #""onesignal_targeting":"provider","providers":["onesignal"]"#
      let sent = send(gateway, #"{"audience":"plan:pro && !churned"}"#, more)
      #expect(sent.status == 202, "\(sent.text)")
      #expect(sent.json["targets"]?.integer == 1)
      let refused = send(gateway, #"{"audience":"plan:pro && platform:ios"}"#, more)
      #expect(refused.status == 422)
      #expect(refused.violations == ["/to/audience invalid_audience"])
      #expect(refused.text.contains("`platform:ios`"))
    }
  }
}
