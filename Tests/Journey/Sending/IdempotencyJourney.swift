import Domain
import Foundation
import JSON
import Support
import Synchronization
import Testing

extension Journeys {
  private static func message(_ number: Int) -> String {
    #"{"to":{"tokens":[\#(Tokens.targets("apns", [Tokens.apns(number)]))]},"kind":"alert","notification":{"body":"Hi"}}"#
  }

  /// Keyed requests, all at once; the ids that were answered, by number.
  private final class Burst: Sendable {
    let ids = Mutex<[Int: String]>([:])
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ gateway: Gateway, count: Int) {
      let task = Task {
        await withTaskGroup(of: Void.self) { group in
          for number in 0..<count {
            group.addTask {
              let key = Header("idempotency-key", "burst-\(number)")
              let answer = try? await gateway.client.post("/v1/messages", message(number), headers: [key])
              guard let answer, answer.status == 202, let id = answer.json["id"]?.string else { return }
              self.ids.withLock { $0[number] = id }
            }
          }
        }
      }
      self.task.withLock { $0 = task }
    }

    var answered: [Int: String] { ids.withLock { $0 } }
    /// Every request was answered, or never will be.
    func end() async { await task.withLock { $0 }?.value }
  }

  @Test(
    "idempotency keys whose answers were lost: the API is killed with requests under way; repeated, each is sent once")
  func lostAnswers() async throws {
    // A kill may come just when no message is stored without an answer: then the next one is tried.
    for _ in 0..<5 where try await Self.loseAnswers() > 0 { return }
    Issue.record("no kill has lost an answer")
  }

  /// How many messages were stored whose answers were lost.
  private static func loseAnswers() async throws -> Int {
    let world = try await World()
    let (first, worker) = (try await world.gateway(["--api-only"]), try await world.worker())
    let burst = Burst(first, count: 1_500)
    _ = try await world.sandbox.accepted(atLeast: 100)
    await first.process.destroy()
    await burst.end()
    let answered = burst.answered
    #expect(answered.count < 1_500, "the kill came too late to prove anything")
    let second = try await world.gateway(["--api-only"])
    // Before anything is repeated.
    var stored = Set<String>()
    var cursor: String?
    repeat {
      let page = try await second.client.get(
        "/v1/messages?limit=100" + (cursor.map { "&cursor=\($0)" } ?? "")
      ).json
      stored.formUnion((page["items"]?.array ?? []).compactMap { $0["id"]?.string })
      cursor = page["next_cursor"]?.string
    } while cursor != nil
    let lost = stored.subtracting(answered.values)
    var repeated = Set<String>()
    for number in 0..<1_500 {
      let id = try await insist(second, message(number), key: "burst-\(number)")
      if let known = answered[number] { #expect(id == known) }
      repeated.insert(id)
    }
    for id in repeated { _ = try await second.completed(id) }
    #expect(lost.isSubset(of: repeated), "a repeated request got another message")
    let tokens = try await world.sandbox.log().filter(\.accepted).map(\.token)
    #expect(tokens.count == 1_500 && Set(tokens).count == 1_500)
    _ = worker
    return lost.count
  }

  @Test("an API that is stopped with keyed requests under way, until others have sent them, sends none of them again")
  func stoppedAPI() async throws {
    let world = try await World()
    let (first, second) = (try await world.gateway(["--api-only"]), try await world.gateway(["--api-only"]))
    let worker = try await world.worker()
    let burst = Burst(first, count: 600)
    _ = try await world.sandbox.accepted(atLeast: 30)
    first.process.signal(SIGSTOP)
    #expect(burst.answered.count < 600, "the stop came too late to prove anything")
    var ids: [String] = []
    for number in 0..<600 { ids.append(try await Self.insist(second, Self.message(number), key: "burst-\(number)")) }
    for id in ids { _ = try await second.completed(id) }
    first.process.signal(SIGCONT)
    await burst.end()
    for (number, id) in burst.answered { #expect(id == ids[number]) }
    // What comes behind, in every partition, is sent last.
    var last: [String] = []
    for number in 600..<800 { last.append(try await second.send(Self.message(number))) }
    for id in last { _ = try await second.completed(id) }
    let tokens = try await world.sandbox.log().filter(\.accepted).map(\.token)
    #expect(tokens.count == 800 && Set(tokens).count == 800)
    _ = worker
  }

  @Test("an idempotency key: repeated, with another body, and many at once")
  func idempotency() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    func body(_ text: String) -> String {
      #"{"to":{"tokens":[{"provider":"apns","token":"\#(Tokens.apns(3))"}]},"kind":"alert","notification":{"body":"\#(text)"}}"#
    }
    let first = try await gateway.send(body("Once"), headers: [("idempotency-key", "order-881")])
    let again = try await gateway.client.post(
      "/v1/messages", body("Once"), headers: [.init("idempotency-key", "order-881")])
    #expect(again.status == 202)
    #expect(again.json["id"]?.string == first)
    #expect(again.header("idempotent-replayed") == "true")
    let other = try await gateway.client.post(
      "/v1/messages", body("Twice"), headers: [.init("idempotency-key", "order-881")])
    #expect(other.status == 422, "\(other.text)")

    let answers = try await withThrowingTaskGroup(of: Client.Answer.self) { group in
      for _ in 0..<20 {
        group.addTask {
          try await gateway.client.post(
            "/v1/messages", body("At once"), headers: [.init("idempotency-key", "burst")])
        }
      }
      return try await group.reduce(into: [Client.Answer]()) { $0.append($1) }
    }
    #expect(answers.allSatisfy { $0.status == 202 || $0.status == 409 }, "\(answers.map(\.text))")
    let ids = Set(answers.filter { $0.status == 202 }.compactMap { $0.json["id"]?.string })
    #expect(ids.count == 1)
    _ = try await gateway.completed(first)
    for id in ids { _ = try await gateway.completed(id) }
    #expect(try await world.sandbox.log().filter(\.accepted).count == 2)
  }
}
