import API
import Domain
import JSON
import Store
import Testing

@Suite("Messages are sent line by line", .serialized)
struct BulkSendTests {
  private static let type = ["content-type": "application/x-ndjson"]

  private func bulk(_ gateway: Gateway, _ lines: [String]) -> [JSONValue] {
    let reply = gateway.ask("POST", "/v1/messages/bulk", lines.joined(separator: "\n"), as: .send, Self.type)
    #expect(reply.status == 200, "\(reply.text)")
    return reply.text.split(separator: "\n").compactMap { try? JSON.parse(Array($0.utf8)) }
  }

  private func line(_ device: String, _ title: String, key: String? = nil) -> String {
    let key = key.map { #","idempotency_key":"\#($0)""# } ?? ""
    return #"{"to":{"devices":["\#(device)"]},"notification":{"title":"\#(title)"}\#(key)}"#
  }

  @Test("a broken line is answered for with its place, and stops no other; a repeat under the keys sends nothing twice")
  func brokenLines() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      gateway.register("d2")
      let lines = [
        line("d1", "A", key: "k-a"), "", #"{"to":"#, #"{"to":{"devices":["d1"]},"notification":{"titel":"T"}}"#,
        line("d2", "B", key: "k-b"), line("d1", "C", key: "k-a"), line("d1", "A", key: "k-a"),
        #"{"to":{"devices":["d1"]},"notification":{"title":"T"},"idempotency_key":7}"#, line("ghost", "D"),
        #"{"to":{"audience":"a"},"notification":{"title":"T"},"send_at":"2020-12-01T09:00:00Z"}"#,
      ]
      let first = bulk(gateway, lines)
      #expect(first.map { $0["line"] } == [1, 3, 4, 5, 6, 7, 8, 9, 10].map { .integer($0) })
      #expect(first[0]["state"] == .string("queued"))
      #expect(first[0]["targets"] == .integer(1))
      #expect(first[1]["problem"]?["code"] == .string("malformed_json"))
      #expect(first[2]["problem"]?["violations"]?.array?.first?["pointer"] == .string("/notification/titel"))
      #expect(first[3]["id"]?.string?.hasPrefix("msg_") == true)
      #expect(first[4]["problem"]?["code"] == .string("idempotency_key_reused"))
      #expect(first[5]["id"] == first[0]["id"] && first[5]["replayed"] == .bool(true))
      #expect(first[6]["problem"]?["violations"]?.array?.first?["pointer"] == .string("/idempotency_key"))
      #expect(first[7]["state"] == .string("completed"))
      #expect(first[7]["warnings"]?.array?.count == 1)
      #expect(first[8]["problem"]?["code"] != nil)
      #expect(gateway.ask("GET", "/v1/messages").json["items"]?.array?.count == 3)

      let again = bulk(gateway, Array(lines.prefix(5)))
      #expect(again[0]["id"] == first[0]["id"] && again[0]["replayed"] == .bool(true))
      #expect(again[3]["id"] == first[3]["id"] && again[3]["replayed"] == .bool(true))
      #expect(gateway.ask("GET", "/v1/messages").json["items"]?.array?.count == 3)
    }
  }

  @Test("a line is told all its faults at once, of form, attributes and rendering; the lines share what may be told")
  func faultsTogether() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""attributes":{"name":"Ann"}"#)
      let long = String(repeating: "x", count: FakeAccount.limit + 17)
      func violations(_ line: JSONValue) -> Set<String> {
        Set(
          (line["problem"]?["violations"]?.array ?? []).map {
            "\($0["pointer"]?.string ?? "") \($0["code"]?.string ?? "")"
          })
      }
      let whole = #"{"to":{"devices":["d1"]},"notification":{"title":"Hi {{nmae}}","body":"\#(long)"}"#
      let told = bulk(
        gateway,
        [whole + "}", whole + #","ttl":-1,"idempotency_key":7}"#, whole + #","kind":"alrt"}"#, line("d1", "T")])
      #expect(
        violations(told[0]) == ["/notification/title unknown_value", "/notification/body payload_too_large"],
        "\(told[0])")
      #expect(
        violations(told[1]) == [
          "/idempotency_key invalid_format", "/ttl out_of_range", "/notification/title unknown_value",
          "/notification/body payload_too_large",
        ], "\(told[1])")
      #expect(violations(told[2]) == ["/kind unknown_value"], "\(told[2])")
      #expect(told[3]["id"] != nil, "\(told[3])")

      // Two hundred in all; then each line is told one, and how many are left out.
      let many = bulk(gateway, Array(repeating: whole + #","ttl":-1}"#, count: 300))
      let counts = many.map {
        $0["problem"]?["violations"]?.array?.filter { $0["code"] != "more_violations" }.count ?? 0
      }
      #expect(counts.first == 3 && counts.last == 1 && counts.allSatisfy { (1...3).contains($0) }, "\(counts)")
      #expect(counts.reduce(0) { $0 + $1 - 1 } <= 200, "\(counts)")
    }
  }

  @Test("lines for one device are accepted in their order, whatever stands between them")
  func order() async throws {
    try await Gateway.running { gateway in
      for name in ["d1", "d2", "d3"] { gateway.register(name) }
      // With and without a key: their ways to the store differ in length.
      let lines = (0..<300).map { line("d\($0 % 3 + 1)", "\($0)", key: $0 % 4 == 0 ? "k-\($0)" : nil) }
      let ids = bulk(gateway, lines).compactMap { $0["id"]?.string }
      #expect(ids.count == 300)
      // Sequences within a partition are the order of acceptance.
      let sequences = try await gateway.withStore { store in
        var found: [Int: UInt64] = [:]
        for partition in 0..<store.session.settings.partitions {
          guard let lease = try await store.leases.take(partition) else { continue }
          for ready in try await store.queue.readyStreams(lease) {
            for job in try await store.queue.claim(lease, ready.stream, after: nil, jobs: 1_000, targets: 1_000) {
              guard let line = ids.firstIndex(of: job.message.description) else { continue }
              found[line] = job.targets.first?.sequence
            }
          }
        }
        return found
      }
      #expect(sequences.count == 300)
      for device in 0..<3 {
        let own = stride(from: device, to: 300, by: 3).compactMap { sequences[$0] }
        #expect(own.count == 100 && own == own.sorted(), "d\(device + 1)")
      }
    }
  }
}
