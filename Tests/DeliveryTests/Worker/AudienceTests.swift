import Domain
import Loop
import Store
import Support
import Telemetry
import Testing

@testable import Delivery

@Suite("Audiences over a real store")
struct AudienceTests {
  @Test("every device gets its own text once; claims never exceed the room, and a direct send passes")
  func personal() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      try await post.register(600) { device, number in
        device.language = ["de-AT", "fr", nil][number % 3]
        if number % 10 > 0 { device.attributes = [JSONMember("name", .string("N\(number)\""))] }
      }
      var settings = Post.settings()
      settings.claim.room = 100
      settings.claim.membersAtOnce = 40
      var direct: MessageID?
      var most = 0
      var sender: Sender?
      responder.reply = { [unowned responder] _, _ in
        most = max(most, sender?.usage.inMemory ?? 0)
        if responder.pushes.count == 50 {
          post.loop.spawn { direct = try? await post.send("direct", to: ["t599"]) }
        }
        return .status(200)
      }
      let message = PlainMessage(title: "Hi {{name}}", localized: ["de:Hallo {{name|du}}"])
      let worker = try post.work([post.account(responder)], settings)
      sender = worker.senders.values.first
      let id = try await post.sendToAll(message, 600)
      // A tenth has no name, and a third of it a language whose text does without.
      #expect(try await post.done(id) == [.accepted: 560, .skipped: 40])
      try await post.until("the direct send") { responder.accepted.contains { $0.title == "direct" } }
      let texts = Dictionary(grouping: responder.accepted.filter { $0.title != "direct" }, by: \.token)
      #expect(texts.count == 560 && texts.values.allSatisfy { $0.count == 1 })
      #expect(texts["t3"]?.first?.title == "Hallo N3\"" && texts["t1"]?.first?.title == "Hi N1\"")
      #expect(texts["t30"]?.first?.title == "Hallo du" && texts["t10"] == nil)
      #expect(most <= 100)
      let report = try await post.report(id)
      #expect(report.counts.contains { $0.key.reason == "attribute_missing" && $0.value > 0 })
      #expect(Set(report.counts.keys.map(\.platform)) == ["ios", nil])
      #expect(try await post.done(#require(direct)) == [.accepted: 1])
      await post.finish(worker)
    }
  }

  @Test("a device whose own text makes its body too long fails alone, and says why")
  func tooLong() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      try await post.register(60) { device, number in
        let name = number % 20 == 7 ? String(repeating: "N", count: 40) : "N\(number)"
        device.attributes = [JSONMember("name", .string(name))]
      }
      var account = post.account(responder)
      account.limit = 40
      let worker = try post.work([account])
      let id = try await post.sendToAll(PlainMessage(title: "Hi {{name}}"), 60)
      #expect(try await post.done(id) == [.accepted: 57, .failed: 3])
      let failed = try await post.deliveries(id).filter { $0.state == "failed" }
      #expect(Set(failed.map(\.device.rawValue)) == ["d7", "d27", "d47"])
      #expect(failed.allSatisfy { $0.reason == "payload_too_large" && $0.attempts.isEmpty })
      #expect(Set(responder.accepted.map(\.token)) == Set((0..<60).filter { $0 % 20 != 7 }.map { "t\($0)" }))
      #expect(responder.accepted.allSatisfy { $0.title == "Hi N\($0.token.dropFirst())" })
      await post.finish(worker)
    }
  }

  @Test("without placeholders all devices of a language share one body, made once; with them each has its own")
  func sharedBodies() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      try await post.register(300) { device, number in
        device.language = ["de-AT", "fr", nil, "de", "fr-CA"][number % 5]
        device.attributes = [JSONMember("name", .string("N\(number)"))]
      }
      var account = post.account(responder)
      let tally = PlainAccount.Tally()
      account.tally = tally
      let worker = try post.work([account])
      let shared = try await post.sendToAll(PlainMessage(title: "Hi", localized: ["de:Hallo", "fr:Salut"]), 300)
      #expect(try await post.done(shared) == [.accepted: 300])
      #expect(tally.rendered.sorted() == ["Hallo", "Hi", "Salut"])
      let titles = Dictionary(uniqueKeysWithValues: responder.accepted.map { ($0.token, $0.title) })
      #expect(titles.count == 300)
      for number in 0..<300 {
        #expect(titles["t\(number)"] == ["Hallo", "Salut", "Hi", "Hallo", "Salut"][number % 5])
      }
      let own = try await post.sendToAll(PlainMessage(title: "Hi {{name}}", localized: ["de:Hallo"]), 300)
      #expect(try await post.done(own) == [.accepted: 300])
      let bodies = Set(responder.accepted.dropFirst(300).map(\.title))
      #expect(bodies == Set(["Hallo"] + (0..<300).filter { $0 % 5 != 0 && $0 % 5 != 3 }.map { "Hi N\($0)" }))
      #expect(tally.rendered.count { $0 == "Hallo" } == 2)
      await post.finish(worker)
    }
  }

  @Test("dead, refused, retried and gone members end as they should, and leave no hold")
  func outcomes() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { push, nth in
        switch Int(push.token.dropFirst()) ?? 0 {
        case let number where number % 7 == 0: .status(410, [Header("reason", "Unregistered")])
        case let number where number % 7 == 1: .status(400, [Header("reason", "Bad")])
        case let number where number % 7 == 2: nth < 3 ? .status(503, [Header("reason", "Busy")]) : .status(200)
        default: .status(200)
        }
      }
      try await post.register(140)
      let id = try await post.sendToAll(PlainMessage(title: "x", collapseKey: "k"), 140)
      let worker = try post.work([post.account(responder)])
      #expect(try await post.done(id) == [.accepted: 100, .dead: 20, .failed: 20])
      #expect(worker.senders.values.allSatisfy { $0.usage.barriers == 0 })
      let second = try await post.sendToAll(PlainMessage(title: "y"), 140)
      #expect(try await post.done(second)[.accepted] == 100)
      await post.finish(worker)
    }
  }

  @Test("members that a GOAWAY left unprocessed go once more from their batch; after a second one the slow path")
  func goaway() async throws {
    for often in [false, true] {
      try await withPost { post in
        let responder = try Responder(post.loop)
        var went: Set<String> = []
        responder.reply = { [unowned responder] push, _ in
          guard responder.pushes.count % 70 == 0, often || went.isEmpty else { return .status(200) }
          went.insert(push.token)
          return .goaway
        }
        try await post.register(400)
        let id = try await post.sendToAll(PlainMessage(title: "x"), 400)
        let worker = try post.work([post.account(responder)])
        #expect(try await post.done(id) == [.accepted: 400])
        #expect(responder.accepted.map(\.token).sorted() == (0..<400).map { "t\($0)" }.sorted())
        let (long, short) = try await post.deliveries(id).reduce(into: (0, 0)) {
          if $1.attempts.isEmpty { $0.1 += 1 } else { $0.0 += 1 }
        }
        #expect(long + short == 400)
        if !often { #expect(long == 0, "\(went) took the slow path") }
        #expect(worker.senders.values.allSatisfy { $0.usage.inMemory == 0 && $0.usage.atWork == 0 })
        await post.finish(worker)
      }
    }
  }

  @Test("one request at a time per token: a direct send waits for the member that is at work, and the other way round")
  func oneAtATime() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { _, _ in .barrier }
      try await post.register(6)
      let first = try await post.sendToAll(PlainMessage(title: "first"), 6)
      let worker = try post.work([post.account(responder)])
      try await post.until("all members at work") { responder.pushes.count == 6 }
      #expect(worker.laneKeeper.lanes.count == 0)
      let direct = try await post.send("direct", to: ["t2"])
      let second = try await post.sendToAll(PlainMessage(title: "second"), 6)
      try await post.until("all of both in memory") { worker.laneKeeper.lanes.count == 6 }
      responder.release()
      try await post.until("what waited") { responder.pushes.count == 12 }
      // The members of the second follow those of the first; of the direct send and its token's second, one waits for
      // the other.
      #expect(worker.laneKeeper.lanes.count == 6 && responder.accepted.count == 6)
      responder.reply = { _, _ in .status(200) }
      responder.release()
      #expect(try await post.done(first) == [.accepted: 6])
      #expect(try await post.done(second) == [.accepted: 6])
      #expect(try await post.done(direct) == [.accepted: 1])
      #expect(responder.pushes.filter { $0.token == "t2" }.map(\.title).first == "first")
      #expect(responder.pushes.count == 13)
      try await post.until("no lane is left") { worker.laneKeeper.lanes.count == 0 }
      await post.finish(worker)
    }
  }

  @Test("cancelled in the middle: what was at work finishes, all else ends, and the sum is exact")
  func cancel() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      try await post.register(1_000)
      let id = try await post.sendToAll(PlainMessage(title: "x"), 1_000)
      var cancelling = false
      responder.reply = { [unowned responder] _, _ in
        if responder.pushes.count >= 100, !cancelling {
          cancelling = true
          post.loop.spawn { _ = try? await post.store.control.cancel(id, app: Post.app) }
        }
        return .status(200)
      }
      var settings = Post.settings()
      settings.claim.room = 60
      settings.claim.membersAtOnce = 10
      let worker = try post.work([post.account(responder)], settings)
      let outcomes = try await post.done(id)
      #expect(outcomes[.accepted] == responder.accepted.count)
      #expect(outcomes[.accepted, default: 0] + outcomes[.cancelled, default: 0] == 1_000)
      #expect(outcomes[.cancelled, default: 0] > 0)
      await post.finish(worker)
    }
  }

  @Test("20,000 members, the worker dies in the middle: all get it, doubles within the bound, the sums exact")
  func takeOver() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      let count = 20_000
      try await post.register(count)
      let id = try await post.sendToAll(PlainMessage(title: "x"), count)
      let grave = EventLoop(name: "doomed")
      let thread = grave.start()
      responder.reply = { [unowned responder] _, _ in
        if responder.total == 9_000 { grave.stop() }
        return .status(200)
      }
      responder.keepsAll = false
      post.workDoomed(on: grave, responder.origin)
      try await post.until("the death", seconds: 60) { responder.total >= 9_000 }
      thread.join()
      let worker = try post.work([post.account(responder)])
      #expect(try await post.done(id, seconds: 90) == [.accepted: count])
      #expect(responder.tokens.count == count)
      // Design D4: what was in flight or not yet flushed.
      #expect(responder.total - count <= 2_000 + 2_000)
      let counts = try await post.report(id).counts
      #expect(counts.filter { $0.key.platform == "ios" }.values.reduce(0, +) == count - (count + 2) / 3)
      await post.finish(worker)
    }
  }
}
