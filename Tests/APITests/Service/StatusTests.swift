import Domain
import JSON
import Store
import Support
import Testing

@testable import API

@Suite("How the gateway is, and what it did")
struct StatusTests {
  private func check(_ value: JSONValue?, _ schema: String) {
    let described = OpenAPI.document["components"]?["schemas"]?[schema]
    let fields = Set(described?["properties"]?.object?.map(\.key) ?? [])
    let found = Set(value?.object?.map(\.key) ?? [])
    let required = Set(described?["required"]?.array?.compactMap(\.string) ?? [])
    #expect(!fields.isEmpty && found.isSubset(of: fields), "\(schema): \(found.subtracting(fields))")
    #expect(required.isSubset(of: found), "\(schema): \(required.subtracting(found))")
  }

  private func names(_ status: JSONValue) -> [String] {
    (status["credentials"]?.array ?? []).compactMap { $0["credential"]?.string }
  }

  @Test("a key sees the credentials of its app alone, and only an administrator workers and Redis")
  func tenancy() async throws {
    try await Gateway.running { gateway in
      try await gateway.own()
      let admin = gateway.ask("GET", "/v1/status").json
      check(admin, "Status")
      check(admin["credentials"]?.array?.first, "CredentialStatus")
      #expect(names(admin) == ["shop/apns:production", "shop/fcm"], "\(admin)")
      #expect(admin["workers"]?.array?.count == 1 && admin["partitions"]?.array?.count == 16, "\(admin)")
      #expect(admin["redis"]?["version"]?.string != nil && admin["queue"]?["retries"] == .integer(0), "\(admin)")

      let reader = gateway.ask("GET", "/v1/status", as: .read).json
      check(reader, "Status")
      #expect(names(reader) == names(admin))
      for name in ["workers", "partitions", "redis", "configuration_faults"] { #expect(reader[name] == nil, "\(name)") }
      #expect(reader["queue"]?["retries"] == nil && reader["queue"]?["jobs"] == .integer(0), "\(reader)")

      // Within the second in which the answer is kept: what is kept is not told.
      let stranger = gateway.ask("GET", "/v1/status", as: nil, ["authorization": "Bearer \(gateway.stranger)"])
      #expect(stranger.status == 200 && names(stranger.json).isEmpty, "\(stranger.text)")
      for scope in [Scope.send, .register, .devices] {
        #expect(gateway.ask("GET", "/v1/status", as: scope).status == 403, "\(scope)")
        #expect(gateway.ask("GET", "/v1/activity", as: scope).status == 403, "\(scope)")
      }
    }
  }

  @Test("where operations are told elsewhere, no key is told of workers and Redis")
  func elsewhere() async throws {
    var settings = ServiceSettings()
    settings.operations = .elsewhere
    try await Gateway.running(settings: settings) { gateway in
      let status = gateway.ask("GET", "/v1/status").json
      #expect(names(status).count == 2 && status["redis"] == nil && status["workers"] == nil, "\(status)")
    }
  }

  @Test("numbers that are damaged add up to no more than a number can be")
  func damaged() async throws {
    try await Gateway.running { gateway in
      try await gateway.withStore { store in
        for serial in 1...3 as ClosedRange<UInt64> {
          var report = WorkerReport(serial: serial, host: "h", process: 1, startedAt: WallTime(milliseconds: 1))
          report.sendings = (1...2).map { _ in
            WorkerReport.Sending(
              credential: CredentialID(rawValue: "shop/fcm"), state: "open", reason: nil, connections: .max,
              atWork: .max, limit: .max, inMemory: .max, waitingPrunes: ["x": .max])
          }
          _ = try await store.workers.beat(report)
        }
      }
      let told = gateway.ask("GET", "/v1/status")
      #expect(told.status == 200, "\(told.text)")
      let credential = told.json["credentials"]?.array?.first { $0["credential"] == .string("shop/fcm") }
      #expect(credential?["limit"] == .integer(6 * Int64(Int32.max)), "\(told.text)")
    }
  }

  @Test("what takes long to find is told for longer, a failure for a second")
  func lives() {
    for (took, life) in [(0, 1_000), (50, 1_000), (51, 1_020), (2_000, 40_000), (40_000, 60_000)] as [(Int64, Int64)] {
      #expect(StatusCalls.life(took: took, isFailure: false) == life, "\(took)")
      #expect(StatusCalls.life(took: took, isFailure: true) == 1_000, "\(took)")
    }
  }

  @Test("jobs are counted where they wait, with the time of the oldest")
  func queues() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      _ = gateway.send(to: ["d1"])
      let status = gateway.ask("GET", "/v1/status", as: .read).json
      let credential = status["credentials"]?.array?.first
      #expect(credential?["jobs"] == .integer(1) && credential?["oldest_at"]?.string != nil, "\(status)")
      #expect(status["queue"]?["jobs"] == .integer(1), "\(status)")
    }
  }

  @Test("activity has each hour that is asked for, and counts what ended, of this app alone")
  func activity() async throws {
    try await Gateway.running { gateway in
      for bad in ["0", "49", "x", "", "-1"] {
        #expect(gateway.ask("GET", "/v1/activity?hours=\(bad)").status == 400, "\(bad)")
      }
      // Nobody has this device: the delivery ends as the message is accepted.
      _ = gateway.send(to: ["nobody"])
      try await gateway.withStore { store in
        for partition in 0..<16 {
          guard let lease = try await store.leases.take(partition, worker: 42) else { continue }
          _ = try await store.tallies.take(lease, number: 1, isRepeated: false)
        }
      }
      let told = gateway.ask("GET", "/v1/activity?hours=48", as: .read).json
      check(told, "Activity")
      #expect(told["hours"]?.array?.count == 48)
      let counts = (told["hours"]?.array ?? []).flatMap { $0["counts"]?.array ?? [] }
      #expect(counts.reduce(Int64(0)) { $0 + ($1["count"]?.integer ?? 0) } == 1, "\(counts)")
      // Fewer hours than were read before.
      #expect(gateway.ask("GET", "/v1/activity?hours=1").json["hours"]?.array?.count == 1)
      #expect(gateway.ask("GET", "/v1/activity").json["hours"]?.array?.count == 24)

      let stranger = gateway.ask("GET", "/v1/activity", as: nil, ["authorization": "Bearer \(gateway.stranger)"]).json
      #expect((stranger["hours"]?.array ?? []).allSatisfy { $0["counts"] == .array([]) }, "\(stranger)")
    }
  }
}
