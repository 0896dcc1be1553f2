import API
import Domain
import Foundation
import JSON
import Loop
import Store
import Testing

@Suite("What failed can be sent again", .serialized)
struct ReplayTests {
  /// Sends to the devices, and ends each delivery as `resolver` says by the device's name.
  private func ended(_ gateway: Gateway, _ body: String, _ resolver: [String: (Outcome, String?)]) async throws
    -> String
  {
    let sent = gateway.ask("POST", "/v1/messages", body)
    let id = try #require(sent.json["id"]?.string, "\(sent.text)")
    let devices = gateway.ask("GET", "/v1/messages/\(id)/deliveries").json["items"]?.array ?? []
    let names = devices.compactMap { $0["device"]?.string }
    try await end(gateway, resolver)
    #expect(names.count == devices.count)
    return id
  }

  /// Ends all deliveries that wait.
  private func end(_ gateway: Gateway, _ resolver: [String: (Outcome, String?)]) async throws {
    try await gateway.withStore { store in
      for partition in 0..<store.session.settings.partitions {
        guard let lease = try await store.leases.take(partition) else { continue }
        var flush = Flush(lease: lease, number: 1)
        for ready in try await store.queue.readyStreams(lease) {
          for job in try await store.queue.claim(lease, ready.stream, after: nil, jobs: 100, targets: 1_000) {
            for target in job.targets {
              let route = resolver[target.device.rawValue] ?? resolver["*"] ?? (.accepted, nil)
              flush.finals.append(
                .init(
                  delivery: target.delivery, device: target.device, provider: .apns, outcome: route.0, reason: route.1))
            }
            flush.finishedJobs.append(job.id)
          }
        }
        _ = try await store.outcomes.flush(flush)
        try await store.leases.release(lease)
      }
    }
  }

  private func targets(_ gateway: Gateway, of id: String) -> [String] {
    let items = gateway.ask("GET", "/v1/messages/\(id)/deliveries").json["items"]?.array ?? []
    return items.compactMap { $0["device"]?.string }.sorted()
  }

  @Test(
    "failed and expired deliveries go again as a child, whose parent is named; a repeat answers with the same child")
  func replay() async throws {
    try await Gateway.running { gateway in
      let devices = ["ok", "failed", "expired", "dead", "full"]
      for device in devices { gateway.register(device) }
      let list = devices.map { "\"\($0)\"" }.joined(separator: ",")
      let parent = try await ended(
        gateway, #"{"to":{"devices":[\#(list)]},"notification":{"title":"T"},"ttl":60}"#,
        [
          "failed": (.failed, "ServiceUnavailable"), "expired": (.expired, nil), "dead": (.dead, "Unregistered"),
          "full": (.failed, "payload_too_large"),
        ])
      #expect(gateway.ask("GET", "/v1/messages/\(parent)").json["state"] == .string("completed"))
      let path = "/v1/messages/\(parent)/replay"
      let key = ["idempotency-key": "again"]
      let first = gateway.ask("POST", path, nil, as: .send, key)
      #expect(first.status == 202, "\(first.text)")
      let child = try #require(first.json["id"]?.string)
      #expect(child != parent && first.header("location") == "/v1/messages/\(child)")
      #expect(gateway.ask("GET", "/v1/messages/\(child)").json["replay_of"] == .string(parent))
      #expect(targets(gateway, of: child) == ["expired", "failed", "full"])
      let again = gateway.ask("POST", path, nil, as: .send, key)
      #expect(again.json["id"] == .string(child) && again.header("idempotent-replayed") == "true")
      #expect(gateway.ask("POST", path, #"{"outcomes":["failed"]}"#, as: .send, key).code == "idempotency_key_reused")

      #expect(gateway.ask("POST", path, #"{"outcomes":["dead"]}"#, as: .send).status == 202)
      #expect(gateway.ask("POST", path, #"{"outcomes":["cancelled"]}"#).code == "nothing_to_replay")
      for (body, violation) in [
        (#"{"outcomes":["accepted"]}"#, "/outcomes/0 not_allowed"),
        (#"{"outcomes":["faild"]}"#, "/outcomes/0 unknown_value"),
        (#"{"outcomes":[]}"#, "/outcomes empty"), (#"{"reason":["x"]}"#, "/reason unknown_field"),
      ] {
        let reply = gateway.ask("POST", path, body)
        #expect(reply.status == 422 && reply.violations == [violation], "\(reply.text)")
      }
      #expect(gateway.ask("POST", "/v1/messages/msg_00000000000000000000000000/replay").status == 404)
    }
  }

  @Test("outcomes and reasons say what goes again")
  func selected() async throws {
    try await Gateway.running { gateway in
      for device in ["failed", "full"] { gateway.register(device) }
      for (body, wanted) in [
        (#"{"outcomes":["failed"],"reasons":["ServiceUnavailable"]}"#, ["failed"]),
        (#"{"reasons":["payload_too_large","?"]}"#, ["full"]), ("{}", ["failed", "full"]),
      ] {
        let parent = try await ended(
          gateway, #"{"to":{"devices":["failed","full"]},"notification":{"title":"T"}}"#,
          ["failed": (.failed, "ServiceUnavailable"), "full": (.failed, "payload_too_large")])
        let reply = gateway.ask("POST", "/v1/messages/\(parent)/replay", body, as: .send)
        #expect(reply.status == 202, "\(reply.text)")
        #expect(reply.json["replay_of"] == .string(parent))
        #expect(targets(gateway, of: reply.json["id"]?.string ?? "") == wanted)
      }
    }
  }

  @Test("a second replay leaves out whom the first one, or a replay of it, has reached or still sends to, and says so")
  func twice() async throws {
    try await Gateway.running { gateway in
      for device in ["a", "b", "c"] { gateway.register(device) }
      let fails: [String: (Outcome, String?)] = ["*": (.failed, "ServiceUnavailable")]
      let parent = try await ended(
        gateway, #"{"to":{"devices":["a","b","c"]},"notification":{"title":"T"}}"#, fails)
      let path = "/v1/messages/\(parent)/replay"
      #expect(gateway.ask("GET", "/v1/messages/\(parent)").json["replayed_by"] == nil)
      let first = try #require(gateway.ask("POST", path, nil, as: .send).json["id"]?.string)
      // All of it still waits.
      let early = gateway.ask("POST", path, nil, as: .send)
      #expect(early.status == 409 && early.code == "nothing_to_replay" && early.text.contains(first), "\(early.text)")
      try await end(gateway, ["a": (.accepted, nil), "b": (.failed, "ServiceUnavailable"), "c": (.expired, nil)])
      // `b` is reached by a replay of the replay.
      let inner = gateway.ask("POST", "/v1/messages/\(first)/replay", #"{"outcomes":["failed"]}"#, as: .send)
      let second = try #require(inner.json["id"]?.string, "\(inner.text)")
      #expect(targets(gateway, of: second) == ["b"])
      let third = gateway.ask("POST", path, nil, as: .send)
      let id = try #require(third.json["id"]?.string, "\(third.text)")
      #expect(targets(gateway, of: id) == ["c"])
      let warning = third.json["warnings"]?.array?.first { $0["code"]?.string == "already_replayed" }
      #expect(warning?["detail"]?.string?.hasPrefix("2 devices are left out") == true, "\(third.text)")
      let report = gateway.ask("GET", "/v1/messages/\(parent)").json
      #expect(report["replayed_by"] == .array([first, second, id].map { .string($0) }), "\(report)")
      #expect(gateway.ask("GET", "/v1/messages/\(id)").json["replay_of"] == .string(parent))
    }
  }

  @Test("a replay of a replay leaves out whom another replay of the first message has reached or still sends to")
  func siblings() async throws {
    try await Gateway.running { gateway in
      for device in ["a", "b", "c"] { gateway.register(device) }
      let fails: [String: (Outcome, String?)] = ["*": (.failed, "ServiceUnavailable")]
      let parent = try await ended(
        gateway, #"{"to":{"devices":["a","b","c"]},"notification":{"title":"T"}}"#, fails)
      func replay(_ id: String) -> Reply { gateway.ask("POST", "/v1/messages/\(id)/replay", nil, as: .send) }
      let first = try #require(replay(parent).json["id"]?.string)
      try await end(gateway, fails)
      let inner = try #require(replay(first).json["id"]?.string)
      try await end(gateway, fails)
      let second = try #require(replay(parent).json["id"]?.string)
      #expect(targets(gateway, of: second) == ["a", "b", "c"])
      for id in [first, inner] {
        let early = replay(id)
        #expect(early.code == "nothing_to_replay" && early.text.contains(second), "\(early.text)")
      }
      try await end(gateway, ["a": (.accepted, nil), "*": (.failed, "ServiceUnavailable")])
      let third = replay(inner)
      #expect(targets(gateway, of: third.json["id"]?.string ?? "?") == ["b", "c"], "\(third.text)")
      let warning = third.json["warnings"]?.array?.first { $0["code"]?.string == "already_replayed" }
      #expect(warning?["detail"]?.string?.contains(second) == true, "\(third.text)")
      // What the innermost still sends to is left out above as well.
      #expect(replay(second).code == "nothing_to_replay")
    }
  }

  @Test("of many replays at once each device is in one")
  func atOnce() async throws {
    try await Gateway.running { gateway in
      for device in ["a", "b"] { gateway.register(device) }
      let parent = try await ended(
        gateway, #"{"to":{"devices":["a","b"]},"notification":{"title":"T"}}"#, ["*": (.failed, "ServiceUnavailable")])
      let clients = (0..<8).map { _ in Client(port: gateway.port) }
      let key = try #require(gateway.secrets[.send])
      for client in clients {
        client.send("POST", "/v1/messages/\(parent)/replay", ["authorization": "Bearer \(key)"], Array("{}".utf8))
      }
      let replies = clients.map { $0.receive() }
      #expect(replies.count { $0.status == 202 } == 1, "\(replies.map(\.text))")
      #expect(replies.allSatisfy { $0.status == 202 || $0.code == "nothing_to_replay" }, "\(replies.map(\.text))")
    }
  }

  @Test("what a cancelled message still has to end is not left out of its replay: the answer says to ask again")
  func cancelling() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      let tomorrow = WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000) + 86_400_000).rfc3339
      let later = gateway.ask(
        "POST", "/v1/messages",
        #"{"to":{"devices":["d1"]},"notification":{"title":"T"},"send_at":"\#(tomorrow)"}"#, as: .send)
      let id = later.json["id"]?.string ?? ""
      #expect(gateway.ask("POST", "/v1/messages/\(id)/cancel", nil, as: .send).status == 200, "\(later.text)")
      // Nothing here ends the delivery: no worker runs.
      let early = gateway.ask("POST", "/v1/messages/\(id)/replay", #"{"outcomes":["cancelled"]}"#, as: .send)
      #expect(early.status == 409 && early.code == "cancel_in_progress", "\(early.text)")
      #expect(early.json["retryable"]?.bool == true && early.header("retry-after") == "1")
      #expect(early.json["detail"]?.string?.contains("1 of its deliveries") == true, "\(early.text)")
      let failed = gateway.ask("POST", "/v1/messages/\(id)/replay", #"{"outcomes":["failed"]}"#, as: .send)
      #expect(failed.code == "nothing_to_replay", "\(failed.text)")
    }
  }

  @Test("a raw token goes again as it was given; content that is not kept is said to be gone")
  func tokens() async throws {
    try await Gateway.running { gateway in
      let token = #"{"provider":"fcm","token":"raw:1","token_kind":"fid"}"#
      let message = #"{"to":{"tokens":[\#(token)]},"notification":{"title":"T"}}"#
      let expired = try await ended(gateway, message, ["*": (.expired, nil)])
      let child = gateway.ask("POST", "/v1/messages/\(expired)/replay", "{}")
      #expect(child.status == 202, "\(child.text)")
      #expect(child.json["state"] == .string("queued"))
      let claimed = try await gateway.withStore { store in
        var found: [Address] = []
        for partition in 0..<store.session.settings.partitions {
          guard let lease = try await store.leases.take(partition) else { continue }
          for ready in try await store.queue.readyStreams(lease) {
            for job in try await store.queue.claim(lease, ready.stream, after: nil, jobs: 100, targets: 1_000) {
              found += job.targets.compactMap(\.address)
            }
          }
        }
        return found
      }
      #expect(claimed == [Address(provider: .fcm, token: "raw:1", tokenKind: .fid)])
    }
    try await Gateway.running { gateway in
      gateway.register("d1")
      let dead = try await ended(
        gateway, #"{"to":{"devices":["d1"]},"notification":{"title":"T"}}"#, ["d1": (.dead, "Unregistered")])
      let reply = gateway.ask("POST", "/v1/messages/\(dead)/replay", #"{"outcomes":["dead"]}"#)
      #expect(reply.status == 409 && reply.code == "nothing_to_replay", "\(reply.text)")
      #expect(reply.json["detail"]?.string?.contains("no longer stored") == true)
    }
  }

  @Test("a message that was cancelled keeps its content, so that it can be sent after all", arguments: [1, 40])
  func cancelled(devices: Int) async throws {
    try await Gateway.running { gateway in
      for device in 1...devices { gateway.register("d\(device)") }
      let names = (1...devices).map { "\"d\($0)\"" }.joined(separator: ",")
      let parent = try await ended(
        gateway, #"{"to":{"devices":[\#(names)]},"notification":{"title":"T"}}"#, ["*": (.cancelled, nil)])
      let reply = gateway.ask("POST", "/v1/messages/\(parent)/replay", #"{"outcomes":["cancelled"]}"#)
      #expect(reply.status == 202 && reply.json["targets"] == .integer(Int64(devices)), "\(reply.text)")
    }
  }

  @Test("devices that were deleted or disabled meanwhile are warned of; if none is left, the answer says why")
  func gone() async throws {
    try await Gateway.running { gateway in
      for device in ["a", "b", "c"] { gateway.register(device) }
      let fails: [String: (Outcome, String?)] = ["*": (.failed, "ServiceUnavailable")]
      let some = try await ended(gateway, #"{"to":{"devices":["a","b","c"]},"notification":{"title":"T"}}"#, fails)
      let none = try await ended(gateway, #"{"to":{"devices":["a","b"]},"notification":{"title":"T"}}"#, fails)
      #expect(gateway.ask("DELETE", "/v1/devices/a", nil, as: .devices).status == 204)
      let off = #"{"provider":"apns","token":"62","enabled":false}"#
      #expect(gateway.ask("PUT", "/v1/devices/b", off, as: .devices).status == 200)
      let refused = gateway.ask("POST", "/v1/messages/\(none)/replay", nil, as: .send)
      #expect(refused.status == 409 && refused.code == "nothing_to_replay", "\(refused.text)")
      let detail = refused.json["detail"]?.string ?? ""
      #expect(detail.hasPrefix("All 2 such devices get nothing now: 1 device_disabled ("), "\(detail)")
      #expect(detail.contains("1 unknown_device ("), "\(detail)")
      #expect(gateway.ask("GET", "/v1/messages/\(none)").json["replayed_by"] == nil)
      let replayed = gateway.ask("POST", "/v1/messages/\(some)/replay", nil, as: .send)
      let warnings = replayed.json["warnings"]?.array ?? []
      #expect(replayed.status == 202, "\(replayed.text)")
      #expect(warnings.compactMap { $0["code"]?.string } == ["targets_ended", "targets_ended"], "\(replayed.text)")
    }
  }

  @Test("what one message cannot hold is replayed in parts, that lose and repeat nothing")
  func parts() async throws {
    var settings = ServiceSettings()
    settings.maximumReplayed = 3
    try await Gateway.running(settings: settings) { gateway in
      let devices = (0..<11).map { "d\($0)" }
      for device in devices { gateway.register(device) }
      let list = devices.map { "\"\($0)\"" }.joined(separator: ",")
      let parent = try await ended(
        gateway, #"{"to":{"devices":[\#(list)]},"notification":{"title":"T"},"ttl":60}"#,
        ["*": (.failed, "ServiceUnavailable"), "d4": (.accepted, nil), "d9": (.dead, "Unregistered")])
      var replayed: [String] = []
      var after: String?
      var parts = 0
      repeat {
        let body = after.map { #"{"after":"\#($0)"}"# } ?? "{}"
        let key = ["idempotency-key": "part-\(parts)"]
        let answer = gateway.ask("POST", "/v1/messages/\(parent)/replay", body, as: .send, key)
        #expect(answer.status == 202, "\(answer.text)")
        let again = gateway.ask("POST", "/v1/messages/\(parent)/replay", body, as: .send, key)
        #expect(again.json["id"] == answer.json["id"] && again.json["next_after"] == answer.json["next_after"])
        let own = targets(gateway, of: answer.json["id"]?.string ?? "")
        #expect(own.count <= 3)
        replayed += own
        after = answer.json["next_after"]?.string
        parts += 1
      } while after != nil && parts < 20
      #expect(replayed.sorted() == devices.filter { $0 != "d4" && $0 != "d9" }.sorted())
      #expect(parts >= 3)
      let wrong = gateway.ask("POST", "/v1/messages/\(parent)/replay", #"{"after":"x"}"#, as: .send)
      #expect(wrong.status == 400 && wrong.code == "invalid_cursor", "\(wrong.text)")
    }
  }

  @Test("where a replay goes on holds for the outcomes and reasons that it began with, in any order")
  func partsOfOtherSelections() async throws {
    var settings = ServiceSettings()
    settings.maximumReplayed = 1
    try await Gateway.running(settings: settings) { gateway in
      for device in ["d1", "d2", "d3", "d4"] { gateway.register(device) }
      var parent = ""
      func replay(_ members: String) -> Reply {
        gateway.ask("POST", "/v1/messages/\(parent)/replay", "{\(members)}", as: .send)
      }
      let reasons = #""reasons":["ServiceUnavailable","Shutdown"]"#
      for (selection, same, others) in [
        (
          "", #","outcomes":["expired","failed"]"#,
          [#","outcomes":["failed"]"#, #","reasons":["ServiceUnavailable"]"#]
        ),
        (
          "," + reasons, #","reasons":["Shutdown","ServiceUnavailable"]"#,
          ["", #","reasons":["ServiceUnavailable"]"#, #","outcomes":["failed"],\#(reasons)"#]
        ),
      ] {
        parent = try await ended(
          gateway, #"{"to":{"devices":["d1","d2","d3","d4"]},"notification":{"title":"T"},"ttl":60}"#,
          ["*": (.failed, "ServiceUnavailable")])
        let first = replay(String(selection.dropFirst()))
        let after = #""after":"\#(try #require(first.json["next_after"]?.string, "\(first.text)"))""#
        for other in others {
          let wrong = replay(after + other)
          #expect(wrong.status == 400 && wrong.code == "invalid_cursor", "\(other): \(wrong.text)")
          #expect(wrong.json["detail"]?.string?.contains("`outcomes` and `reasons`") == true, "\(wrong.text)")
        }
        for good in [selection, same] { #expect(replay(after + good).status == 202) }
      }
    }
  }
}
