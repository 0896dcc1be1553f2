import API
import Domain
import JSON
import Store
import Testing

@Suite("Variants through the API", .serialized)
struct VariantTests {
  private static let variants =
    #""notification":{"title":"T","body":"B"},"variants":[{"name":"a","weight":50},{"name":"b","weight":30,"notification":{"title":"Other"}}],"holdout":20"#

  @Test("a dry run shows each variant; each is held against the provider's limit and the attributes that are known")
  func checked() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      let dry = gateway.ask("POST", "/v1/messages?dry_run=true", #"{"to":{"devices":["d1"]},\#(Self.variants)}"#)
      let requests = dry.json["requests"]?.array ?? []
      #expect(requests.map { $0["variant"]?.string } == ["a", "b"], "\(dry.text)")
      #expect(requests.map { $0["body"]?["shown"]?.string } == ["T", "Other"])

      let long = String(repeating: "x", count: FakeAccount.limit + 7)
      let tooLong = gateway.ask(
        "POST", "/v1/messages",
        #"{"to":{"devices":["d1"]},"notification":{"body":"B"},"variants":[{"name":"a","weight":99},{"name":"b","weight":1,"notification":{"body":"\#(long)"}}]}"#
      )
      #expect(tooLong.status == 422 && tooLong.text.contains("7 bytes too many"), "\(tooLong.text)")
      #expect(tooLong.text.contains("shorten it (variant `b`)"), "\(tooLong.text)")
      let unknown = gateway.ask(
        "POST", "/v1/messages",
        #"{"to":{"devices":["d1"]},"variants":[{"name":"a","weight":100,"notification":{"body":"{{nam}}"}}]}"#)
      #expect(unknown.status == 422 && unknown.text.contains("no device has an attribute `nam`"), "\(unknown.text)")
    }
  }

  @Test("the report tells weights and outcomes of each variant, deliveries and their export which one a device gets")
  func told() async throws {
    try await Gateway.running { gateway in
      let devices = (0..<60).map { "d\($0)" }
      for device in devices { gateway.register(device) }
      let list = devices.map { "\"\($0)\"" }.joined(separator: ",")
      let sent = gateway.ask("POST", "/v1/messages", #"{"to":{"devices":[\#(list)]},\#(Self.variants)}"#)
      let id = try #require(sent.json["id"]?.string, "\(sent.text)")
      try await end(gateway, .failed, "Broken")

      let typo = gateway.ask("GET", "/v1/messages/\(id)/deliveries?variant=aa")
      #expect(typo.status == 400 && typo.text.contains("did you mean `a`?"), "\(typo.text)")
      let report = gateway.ask("GET", "/v1/messages/\(id)").json
      #expect(report["variants"]?.array?.map { $0["name"]?.string } == ["a", "b"])
      #expect(report["variants"]?.array?.map { $0["weight"]?.integer } == [50, 30])
      #expect(report["holdout"]?.integer == 20)
      let items = gateway.ask("GET", "/v1/messages/\(id)/deliveries?limit=1000").json["items"]?.array ?? []
      func names(_ fits: (JSONValue) -> Bool) -> Set<String> {
        Set(items.filter(fits).compactMap { $0["device"]?.string })
      }
      var of: [String: Set<String>] = [:]
      for (place, name) in ["a", "b"].enumerated() {
        of[name] = names { $0["variant"]?.string == name }
        let row = report["variants"]?.array?[place]
        #expect(row?["outcomes"]?["failed"]?.integer == Int64(of[name]?.count ?? -1), "\(report)")
        #expect(row?["final"]?.integer == Int64(of[name]?.count ?? -1))
        let some = gateway.ask("GET", "/v1/messages/\(id)/deliveries?variant=\(name)").json["items"]?.array ?? []
        #expect(Set(some.compactMap { $0["device"]?.string }) == of[name])
      }
      let held = names { $0["reason"]?.string == "holdout" && $0["state"]?.string == "skipped" }
      #expect(held.count + (of["a"]?.count ?? 0) + (of["b"]?.count ?? 0) == 60 && !held.isEmpty)
      let table = gateway.ask("GET", "/v1/messages/\(id)/deliveries", nil, as: .export, ["accept": "text/csv"]).text
      #expect(table.hasPrefix("device,user,provider,platform,variant,state,"))

      // Sent again, each device gets the variant that it had, and nobody of the holdout gets one.
      let replay = gateway.ask("POST", "/v1/messages/\(id)/replay", #"{"outcomes":["failed","skipped"]}"#)
      #expect(replay.status == 202, "\(replay.text)")
      let child = try #require(replay.json["id"]?.string)
      let again = gateway.ask("GET", "/v1/messages/\(child)/deliveries?limit=1000").json["items"]?.array ?? []
      #expect(again.count == 60)
      for item in again {
        let device = item["device"]?.string ?? ""
        let before = of.first { $0.value.contains(device) }?.key
        #expect(item["variant"]?.string == before, "\(device)")
        #expect((item["reason"]?.string == "holdout") == held.contains(device))
      }
    }
  }

  private func end(_ gateway: Gateway, _ outcome: Outcome, _ reason: String) async throws {
    try await gateway.withStore { store in
      for partition in 0..<store.session.settings.partitions {
        guard let lease = try await store.leases.take(partition) else { continue }
        var flush = Flush(lease: lease, number: 1)
        for ready in try await store.queue.readyStreams(lease) {
          for job in try await store.queue.claim(lease, ready.stream, after: nil, jobs: 100, targets: 1_000) {
            flush.finals += job.targets.map {
              .init(delivery: $0.delivery, device: $0.device, provider: .apns, outcome: outcome, reason: reason)
            }
            flush.finishedJobs.append(job.id)
          }
        }
        _ = try await store.outcomes.flush(flush)
        try await store.leases.release(lease)
      }
    }
  }
}
