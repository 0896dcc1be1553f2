import API
import Domain
import JSON
import Loop
import Store
import Support
import Testing

@Suite("Drafts are written by several, and sent once", .serialized)
struct DraftTests {
  private static let message = #"{"to":{"audience":"beta"},"notification":{"title":"T"}}"#

  private func create(_ gateway: Gateway, _ message: String, name: String = "Sale") throws -> String {
    let made = gateway.ask("POST", "/v1/drafts", #"{"name":"\#(name)","message":\#(message)}"#, as: .send)
    #expect(made.status == 201 && made.header("etag") == "\"1\"", "\(made.text)")
    let id = try #require(made.json["id"]?.string)
    #expect(made.header("location") == "/v1/drafts/\(id)")
    return id
  }

  @Test("a draft that nobody would get is not sent, and stays as it is")
  func toNobody() async throws {
    try await Gateway.running { gateway in
      let id = try create(gateway, Self.message)
      let refused = gateway.ask("POST", "/v1/drafts/\(id)/send")
      #expect(refused.status == 422 && refused.text.contains("nobody would get it"), "\(refused.text)")
      #expect(refused.json["violations"]?.array?.first?["pointer"]?.string == "/message/to", "\(refused.text)")
      #expect(gateway.ask("GET", "/v1/drafts/\(id)").json["version"]?.integer == 1)
      gateway.register("d1", #""tags":["beta"]"#)
      #expect(gateway.ask("POST", "/v1/drafts/\(id)/send").status == 202)
    }
  }

  @Test("a draft that names an audience which does not exist says so wherever it is shown")
  func missingAudience() async throws {
    try await Gateway.running { gateway in
      func codes(_ reply: Reply) -> [String] {
        (reply.json["warnings"]?.array ?? []).compactMap { $0["code"]?.string }.filter { $0 == "unknown_audience" }
      }
      let body = #"{"audience":"beta"}"#
      #expect(gateway.ask("PUT", "/v1/audiences/winback", body).status == 201)
      let id = try create(gateway, #"{"to":{"audience":"audience:winback"},"notification":{"title":"T"}}"#)
      let path = "/v1/drafts/\(id)"
      #expect(codes(gateway.ask("GET", path, nil, as: .read)).isEmpty)
      #expect(gateway.ask("DELETE", "/v1/audiences/winback").status == 200)
      let message = #"{"message":{"to":{"audience":"beta || audience:winback"},"notification":{"title":"T"}}}"#
      for reply in [
        gateway.ask("GET", path, nil, as: .read), gateway.ask("POST", path + "/duplicate"),
        gateway.ask("PUT", path, message, as: .send, ["if-match": "*"]), gateway.ask("POST", "/v1/drafts", message),
      ] {
        #expect(reply.status < 300 && codes(reply) == ["unknown_audience"], "\(reply.text)")
        #expect(reply.text.contains("no audience is called `winback`"), "\(reply.text)")
      }
      #expect(gateway.ask("PUT", "/v1/audiences/winback", body).status == 201)
      #expect(codes(gateway.ask("GET", path, nil, as: .read)).isEmpty)
    }
  }

  @Test("a draft is kept, listed, read, replaced and deleted; of two who change it at once one is told")
  func editing() async throws {
    try await Gateway.running { gateway in
      let id = try create(gateway, Self.message)
      let other = try create(gateway, "{}", name: "Later")
      let list = gateway.ask("GET", "/v1/drafts", nil, as: .read).json["items"]?.array ?? []
      #expect(Set(list.compactMap { $0["id"]?.string }) == [id, other])
      #expect(Set(list.compactMap { $0["name"]?.string }) == ["Sale", "Later"] && list[0]["message"] == nil)
      for table in [
        gateway.ask("GET", "/v1/drafts?format=csv", nil, as: .read),
        gateway.ask("GET", "/v1/drafts", nil, as: .read, ["accept": "text/csv"]),
      ] {
        let lines = table.text.split(separator: "\r\n")
        #expect(
          lines.first
            == "id,name,version,created_at,updated_at,copy_of,sending_as,edited_by,approved_by,approved_at",
          "\(table.text)")
        #expect(lines.count == 3 && lines.contains { $0.hasPrefix("\(id),Sale,1,20") }, "\(table.text)")
      }
      let lines = gateway.ask("GET", "/v1/drafts?format=ndjson", nil, as: .read).text.split(separator: "\n")
      #expect(try lines.map { try JSON.parse(Array($0.utf8)) } == list)
      let read = gateway.ask("GET", "/v1/drafts/\(id)", nil, as: .read)
      #expect(read.json["message"]?["notification"]?["title"]?.string == "T" && read.json["missing"] == .array([]))

      let path = "/v1/drafts/\(id)"
      let changed = #"{"message":{"to":{"audience":"beta"},"notification":{"title":"\#("Better")"}}}"#
      #expect(gateway.ask("PUT", path, changed).code == "precondition_required")
      let first = gateway.ask("PUT", path, changed, as: .send, ["if-match": "\"1\""])
      #expect(first.status == 200 && first.header("etag") == "\"2\"" && first.json["name"] == nil, "\(first.text)")
      let second = gateway.ask("PUT", path, Self.message.draft, as: .send, ["if-match": "\"1\""])
      #expect(second.status == 412 && second.code == "draft_conflict" && second.header("etag") == "\"2\"")
      #expect(gateway.ask("GET", path).json["message"]?["notification"]?["title"]?.string == "Better")
      #expect(gateway.ask("PUT", path, Self.message.draft, as: .send, ["if-match": "*"]).json["version"]?.integer == 3)
      #expect(gateway.ask("DELETE", path, nil, as: .send, ["if-match": "\"2\""]).status == 412)
      #expect(gateway.ask("DELETE", path, nil, as: .send).status == 204)
      #expect(gateway.ask("GET", path).status == 404 && gateway.ask("DELETE", path).status == 404)
      #expect(gateway.ask("PUT", path, changed, as: .send, ["if-match": "*"]).status == 404)
      #expect(gateway.ask("PUT", "/v1/drafts/\(other)", changed, as: .read, ["if-match": "*"]).status == 403)
      // Another app's key does not see it.
      let stranger = gateway.ask("GET", "/v1/drafts", nil, as: nil, ["authorization": "Bearer \(gateway.stranger)"])
      #expect(stranger.json["items"] == .array([]))
    }
  }

  @Test("of many who replace the same version at the same time exactly one does")
  func race() async throws {
    try await Gateway.running { gateway in
      let id = try create(gateway, Self.message)
      let statuses = await withTaskGroup(of: Int.self) { group in
        for number in 0..<12 {
          group.addTask {
            await onOwnThread {
              gateway.ask(
                "PUT", "/v1/drafts/\(id)", #"{"message":{"notification":{"title":"\#(number)"}}}"#, as: .send,
                ["if-match": "\"1\""]
              ).status
            }.value
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.count { $0 == 200 } == 1 && statuses.count { $0 == 412 } == 11, "\(statuses)")
      #expect(gateway.ask("GET", "/v1/drafts/\(id)").json["version"]?.integer == 2)
    }
  }

  @Test("what is there must be valid; what is missing is told, and needed to send")
  func incomplete() async throws {
    try await Gateway.running { gateway in
      let bad = gateway.ask(
        "POST", "/v1/drafts", #"{"nam":"x","message":{"notification":{"titel":"T","badge":-1},"to":{"devices":[]}}}"#)
      #expect(bad.status == 422 && bad.code == "invalid_draft")
      #expect(
        bad.violations == [
          "/nam unknown_field", "/message/to/devices empty", "/message/notification/titel unknown_field",
          "/message/notification/badge out_of_range",
        ])
      #expect(gateway.ask("POST", "/v1/drafts", "{}").violations == ["/message required"])
      let half = #"{"variants":[{"name":"a","weight":40,"notification":{"title":"A"}}],"holdout":10}"#
      let id = try create(gateway, half)
      let missing = gateway.ask("GET", "/v1/drafts/\(id)").json["missing"]?.array ?? []
      #expect(missing.compactMap { $0["pointer"]?.string } == ["/to", "/variants"], "\(missing)")
      let sent = gateway.ask("POST", "/v1/drafts/\(id)/send")
      #expect(sent.status == 422 && sent.violations == ["/message/to required", "/message/variants required"])
      #expect(gateway.ask("GET", "/v1/drafts/\(id)").status == 200, "a refused draft stays")
      let tooMuch = #"{"variants":[{"name":"a","weight":95}],"holdout":10}"#
      #expect(
        gateway.ask("POST", "/v1/drafts", #"{"message":\#(tooMuch)}"#).violations == ["/message/variants out_of_range"])
    }
    var settings = ServiceSettings()
    settings.maximumDrafts = 2
    settings.maximumDraftBytes = 100
    try await Gateway.running(settings: settings) { gateway in
      let long = #"{"message":{"notification":{"body":"\#(String(repeating: "x", count: 100))"}}}"#
      #expect(gateway.ask("POST", "/v1/drafts", long).violations == ["/message too_long"])
      let first = try create(gateway, "{}")
      _ = try create(gateway, "{}")
      let third = gateway.ask("POST", "/v1/drafts/\(first)/duplicate")
      #expect(third.status == 409 && third.code == "draft_limit")
      let replaced = gateway.ask("PUT", "/v1/drafts/\(first)", long, as: .send, ["if-match": "*"])
      #expect(replaced.violations == ["/message too_long"], "\(replaced.text)")
    }
  }

  @Test("a count and a dry run of a draft say when it starts, and nothing where that is now")
  func starts() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""tags":["beta"]"#)
      let later = (gateway.loop.wallNow + 86_400_000).rfc3339
      let cases: [(time: String, starts: [String?])] = [
        (#","send_at":"\#(later)""#, [later, nil, "UTC"]),
        (#","send_at_local":"\#(later.prefix(19))""#, [nil, String(later.prefix(19)), nil]), ("", [nil, nil, nil]),
      ]
      for (time, starts) in cases {
        let id = try create(gateway, String(Self.message.dropLast()) + time + "}")
        let path = "/v1/drafts/\(id)"
        let count = gateway.ask("POST", path + "/count", nil, as: .read)
        func told(_ answer: Reply) -> [String?] {
          ["starts_at", "starts_at_local", "starts_at_zone"].map { answer.json[$0]?.string }
        }
        #expect(time.contains("local") ? told(count)[1] == starts[1] : told(count) == starts, "\(count.text)")
        let dry = gateway.ask("POST", path + "/send?dry_run=true")
        #expect(told(dry)[1] == starts[1] && (starts[0] == nil || told(dry) == starts), "\(dry.text)")
      }
    }
  }

  @Test("a draft is sent at the time that the request gives, whatever time it has itself; the message keeps that time")
  func sendingAt() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""tags":["beta"],"tz":"Europe/Vienna""#)
      let (soon, later) = ((gateway.loop.wallNow + 3_600_000).rfc3339, (gateway.loop.wallNow + 172_800_000).rfc3339)
      let local = String(later.prefix(19))
      for (own, body, starts) in [
        ("", #"{"send_at":"\#(later)"}"#, later), (#","send_at":"\#(soon)""#, #"{"send_at":"\#(later)"}"#, later),
        (#","send_at":"\#(soon)""#, #"{"send_at_local":"\#(local)"}"#, local), (#","send_at":"\#(soon)""#, "{}", soon),
      ] {
        let id = try create(gateway, String(Self.message.dropLast()) + own + "}")
        let path = "/v1/drafts/\(id)/send"
        let member = body.contains("local") ? "starts_at_local" : "starts_at"
        let dry = gateway.ask("POST", path + "?dry_run=true", body)
        #expect(dry.status == 200 && dry.json[member]?.string == starts && dry.json["forecast"] != nil, "\(dry.text)")
        let sent = gateway.ask("POST", path, body)
        #expect(sent.status == 202 && sent.json["state"]?.string == "scheduled", "\(sent.text)")
        let message = try #require(sent.json["id"]?.string)
        #expect(gateway.ask("GET", "/v1/messages/\(message)").json[member]?.string == starts)
        let copy = gateway.ask("POST", "/v1/messages/\(message)/duplicate").json["message"]
        let (at, atLocal) = (copy?["send_at"]?.string, copy?["send_at_local"]?.string)
        #expect(at == (body.contains("local") ? nil : starts) && atLocal == (body.contains("local") ? local : nil))
        // A repeat is answered as the first request, whatever it says.
        #expect(gateway.ask("POST", path, #"{"send_at":"\#(soon)"}"#).json["id"]?.string == message)
      }
      let id = try create(gateway, Self.message)
      for (body, violation) in [
        (#"{"send_at":"tomorrow"}"#, "/send_at invalid_format"), (#"{"dry_run":true}"#, "/dry_run unknown_field"),
        (#"{"send_at":"2020-01-01T09:00:00Z"}"#, "/send_at out_of_range"), ("[]", " wrong_type"),
        (#"{"send_at":"\#(soon)","send_at_local":"\#(local)"}"#, "/send_at_local not_allowed"),
      ] {
        let refused = gateway.ask("POST", "/v1/drafts/\(id)/send", body)
        #expect(refused.code == "invalid_body" && refused.violations.first == violation, "\(refused.text)")
      }
      #expect(gateway.ask("GET", "/v1/drafts/\(id)").status == 200)
    }
  }

  @Test("a draft is counted and looked at; sent by many at once it becomes one message, and is gone")
  func sending() async throws {
    try await Gateway.running { gateway in
      for number in 0..<6 { gateway.register("d\(number)", number < 4 ? #""tags":["beta"],"platform":"ios""# : "") }
      let id = try create(gateway, Self.message)
      let path = "/v1/drafts/\(id)"
      let count = gateway.ask("POST", path + "/count", nil, as: .read)
      #expect(count.json["forecast"]?["would_be_sent"]?.integer == 4, "\(count.text)")
      #expect(count.json["forecast"]?["by_provider"]?.array?.first?["provider"]?.string == "apns")
      let dry = gateway.ask("POST", path + "/send?dry_run=true")
      #expect(dry.status == 200 && dry.json["requests"]?.array?.first?["body"]?["shown"]?.string == "T", "\(dry.text)")
      #expect(gateway.ask("POST", path + "/send", nil, as: .send, ["if-match": "\"7\""]).status == 412)

      let answers = await withTaskGroup(of: Reply.self) { group in
        for _ in 0..<8 {
          group.addTask { await onOwnThread { gateway.ask("POST", path + "/send", nil, as: .send) }.value }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.allSatisfy { $0.status == 202 }, "\(answers.map(\.text))")
      #expect(Set(answers.compactMap { $0.json["id"]?.string }).count == 1)
      #expect(answers.count { $0.header("idempotent-replayed") == nil } == 1)
      let message = try #require(answers[0].json["id"]?.string)
      let messages = gateway.ask("GET", "/v1/messages").json["items"]?.array ?? []
      #expect(messages.compactMap { $0["id"]?.string } == [message] && messages[0]["draft_of"]?.string == id)
      #expect(messages[0]["targets"]?.integer == 4)
      #expect(gateway.ask("GET", "/v1/drafts").json["items"] == .array([]))
      for (method, tail) in [("GET", ""), ("DELETE", ""), ("POST", "/duplicate"), ("POST", "/count")] {
        let reply = gateway.ask(method, path + tail)
        #expect(reply.status == 409 && reply.code == "draft_sent" && reply.text.contains(message), "\(reply.text)")
      }
      let again = gateway.ask("POST", path + "/send")
      #expect(again.json["id"]?.string == message && again.header("idempotent-replayed") == "true")
    }
  }

  @Test("a draft that a dying gateway had taken for sending is sent under the same id, and changes no more")
  func interrupted() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""tags":["beta"]"#)
      let id = try create(gateway, Self.message)
      let draft = try #require(DraftID(id))
      let message = try await gateway.withStore { store in
        var submission = Submission(
          app: Gateway.shop, body: [], kind: .alert, urgency: .urgent, acceptedAt: gateway.loop.wallNow)
        submission.ttl = 60
        let message = store.acceptance.identify(submission)
        let taken = try await store.drafts.reserve(draft, version: 1, as: message, app: Gateway.shop)
        #expect(taken == .reserved(message, again: false))
        return message
      }
      let path = "/v1/drafts/\(id)"
      #expect(gateway.ask("GET", path).json["sending_as"]?.string == message.description)
      let edit = gateway.ask("PUT", path, Self.message.draft, as: .send, ["if-match": "*"])
      #expect(edit.status == 409 && edit.code == "draft_sent")
      let sent = gateway.ask("POST", path + "/send")
      #expect(sent.status == 202 && sent.json["id"]?.string == message.description, "\(sent.text)")
      #expect(gateway.ask("GET", "/v1/messages/\(message)").json["targets"]?.integer == 1)
    }
  }

  @Test("drafts and messages are duplicated while their content is kept")
  func duplicates() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      let id = try create(gateway, #"{"to":{"devices":["d1"]},"notification":{"title":"T"}}"#)
      let copy = gateway.ask("POST", "/v1/drafts/\(id)/duplicate")
      #expect(copy.status == 201 && copy.json["name"]?.string == "Copy of Sale" && copy.json["copy_of"]?.string == id)
      let message = try #require(gateway.ask("POST", "/v1/drafts/\(id)/send").json["id"]?.string)
      let gone = gateway.send(to: ["d1"])
      let all = gateway.ask("POST", "/v1/messages", #"{"to":{"everyone":true},"notification":{"title":"All"}}"#)
      let small = try #require(all.json["id"]?.string)
      try await gateway.endAll()
      let again = gateway.ask("POST", "/v1/messages/\(message)/duplicate", nil, as: .send)
      #expect(again.status == 201 && again.json["copy_of"]?.string == message, "\(again.text)")
      #expect(again.json["message"] == copy.json["message"])
      // An audience of one is still an audience.
      let ofAll = gateway.ask("POST", "/v1/messages/\(small)/duplicate", nil, as: .send)
      #expect(ofAll.status == 201 && ofAll.json["message"]?["to"]?["everyone"]?.bool == true, "\(ofAll.text)")
      #expect(again.json["warnings"] == .array([]), "\(again.text)")
      let refused = gateway.ask("POST", "/v1/messages/\(gone)/duplicate")
      #expect(refused.status == 410 && refused.code == "content_gone", "\(refused.text)")
      #expect(gateway.ask("POST", "/v1/messages/msg_00000000000000000000000000/duplicate").status == 404)
    }
  }
}

extension DraftTests {
  @Test("a copy warns as a new draft does, and of a time that has passed since")
  func copies() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""tags":["beta"]"#)
      let soon = (gateway.loop.wallNow + 60_000).rfc3339
      let text = #"{"to":{"audience":"beta"},"notification":{"title":"Hi {{nmae}}"},"send_at":"\#(soon)"}"#
      let made = gateway.ask("POST", "/v1/drafts", #"{"message":\#(text)}"#)
      let id = try #require(made.json["id"]?.string)
      let copy = gateway.ask("POST", "/v1/drafts/\(id)/duplicate")
      #expect(made.json["warnings"]?.array?.isEmpty == false, "\(made.text)")
      #expect(copy.status == 201 && copy.json["warnings"] == made.json["warnings"], "\(copy.text)")
      let passed = Array(text.replacing(soon, with: "2026-01-01T09:00:00Z").utf8)
      let old = try #require(
        try await gateway.withStore { store in
          try await store.drafts.create(
            passed, name: nil, copyOf: nil, by: "key", app: Gateway.shop, now: gateway.loop.wallNow, limit: 10)
        })
      let late = gateway.ask("POST", "/v1/drafts/\(old.id)/duplicate")
      let first = late.json["warnings"]?.array?.first
      #expect(late.status == 201 && first?["pointer"]?.string == "/message/send_at", "\(late.text)")
      #expect(first?["detail"]?.string?.contains("has passed") == true, "\(late.text)")
    }
  }
}

extension String {
  fileprivate var draft: String { #"{"message":\#(self)}"# }
}

extension Gateway {
  /// Ends every delivery as accepted.
  func endAll() async throws {
    try await withStore { store in
      for partition in 0..<store.session.settings.partitions {
        guard let lease = try await store.leases.take(partition) else { continue }
        var flush = Flush(lease: lease, number: 1)
        for ready in try await store.queue.readyStreams(lease) {
          for job in try await store.queue.claim(lease, ready.stream, after: nil, jobs: 100, targets: 1_000) {
            flush.finals += job.targets.map {
              .init(delivery: $0.delivery, device: $0.device, provider: .apns, outcome: .accepted, reason: nil)
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
