import Domain
import JSON
import Support
import Testing

extension Journeys {
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
