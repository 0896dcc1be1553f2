import Domain
import JSON
import Support
import Testing

extension Journeys {
  static func browsers(_ sandbox: Sandbox, _ folder: String) -> String {
    """
    { name: "browsers", provider: "webpush", key_file: "\(folder)/vapid-key.pem", subject: "mailto:push@example.com",
      services: ["localhost:\(sandbox.ports.webPush)", "push.invalid"] },
    """
  }

  @Test(
    "browsers get what they can read: subscribed as they are, sent to one by one and by tag, pruned when they have gone"
  )
  func webPush() async throws {
    let world = try await World(credentials: Self.browsers)
    let gateway = try await world.gateway()
    var subscriptions: [String: String] = [:]
    for name in ["anna", "bert", "carl"] { subscriptions[name] = try await world.sandbox.subscription(name) }

    // As an object, as its text, and in an import.
    let anna = try await gateway.client.put(
      "/v1/devices/anna", #"{"provider":"webpush","token":\#(subscriptions["anna"] ?? ""),"tags":["beta"]}"#)
    #expect(anna.status == 201, "\(anna.text)")
    let text = String(decoding: JSONValue.string(subscriptions["bert"] ?? "").encoded, as: UTF8.self)
    let bert = try await gateway.client.put(
      "/v1/devices/bert", #"{"provider":"webpush","token":\#(text),"tags":["beta"]}"#)
    #expect(bert.status == 201, "\(bert.text)")
    let carl = try await gateway.client.post(
      "/v1/devices/bulk",
      #"{"id":"carl","provider":"webpush","token":\#(subscriptions["carl"] ?? ""),"tags":["beta"]}"#,
      headers: [Header("content-type", "application/x-ndjson")])
    #expect(carl.status == 200 && carl.text.contains("created"), "\(carl.text)")

    // What is read back may be written again, and is the same device.
    let kept = try await gateway.client.get("/v1/devices/anna").json
    #expect(kept["bundle_id"]?.string == "localhost:\(world.sandbox.ports.webPush)")
    let copy = JSONValue.object(
      ["provider", "token", "bundle_id", "tags"].map { JSONMember($0, kept[$0] ?? .null) })
    let again = try await gateway.client.put("/v1/devices/anna", String(decoding: copy.encoded, as: UTF8.self))
    #expect(again.status == 200, "\(again.text)")

    let first = try await gateway.send(
      #"{"to":{"audience":"beta"},"notification":{"title":"Hello, Änna","link":"https://shop.example/1"},"ttl":600}"#)
    #expect(try await gateway.completed(first)["outcomes"]?["accepted"]?.integer == 3)
    let shown = try await world.sandbox.log().filter { $0.provider == "webpush" && $0.accepted }
    #expect(Set(shown.map(\.token)) == ["anna", "bert", "carl"])
    for entry in shown {
      #expect(
        entry.body
          == #"{"web_push":8030,"notification":{"title":"Hello, Änna","navigate":"https://shop.example/1"}}"#)
    }

    try await world.sandbox.play(
      """
      [{"provider":"webpush","token":"bert","status":410,"reason":"Unsubscribed"},
       {"provider":"webpush","token":"carl","status":503,"times":2}]
      """)
    let second = try await gateway.send(
      #"{"to":{"devices":["anna","bert","carl"]},"notification":{"title":"T"}}"#)
    let ended = try await gateway.completed(second)
    #expect(ended["outcomes"]?["accepted"]?.integer == 2 && ended["outcomes"]?["dead"]?.integer == 1, "\(ended)")
    #expect(try await gateway.client.get("/v1/devices/bert").json["tombstone"]?["reason"]?.string == "Unsubscribed")
    #expect(try await gateway.client.get("/v1/devices/carl").json["tombstone"] == nil)
  }

  @Test("an endpoint that is no public push service is refused, and one that is not configured is skipped")
  func webPushEndpoints() async throws {
    let world = try await World(credentials: Self.browsers)
    let gateway = try await world.gateway()
    let subscription = try await world.sandbox.subscription("anna")
    func put(_ endpoint: String) async throws -> Client.Answer {
      let other = subscription.replacing("https://localhost:\(world.sandbox.ports.webPush)", with: endpoint)
      return try await gateway.client.put("/v1/devices/d", #"{"provider":"webpush","token":\#(other)}"#)
    }
    for endpoint in ["https://10.0.0.1", "https://[fd00::1]", "https://169.254.169.254", "http://push.example.com"] {
      let answer = try await put(endpoint)
      #expect(answer.status == 422 && answer.text.contains("/token"), "\(endpoint): \(answer.text)")
    }
    // A name may lead anywhere: only services that the configuration names are asked.
    #expect(try await put("https://intranet.example.com").status == 201)
    let id = try await gateway.send(#"{"to":{"devices":["d"]},"notification":{"title":"T"}}"#)
    #expect(try await gateway.completed(id)["outcomes"]?["skipped"]?.integer == 1)
    #expect(try await gateway.deliveries(id)[0]["reason"]?.string == "no_credential")
    let wrong = try await gateway.client.put("/v1/devices/e", #"{"provider":"webpush","token":"abc"}"#)
    #expect(wrong.status == 422 && wrong.text.contains("p256dh"), "\(wrong.text)")
    let other = try await gateway.client.put("/v1/devices/e", #"{"provider":"fcm","token":{"endpoint":"x"}}"#)
    #expect(other.status == 422 && other.text.contains("must be a string"), "\(other.text)")
  }
}
