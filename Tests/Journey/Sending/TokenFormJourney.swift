import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  /// Tokens in another form than they are kept in.
  private static func written(_ subscription: String, _ service: String) -> [String] {
    let text = String(decoding: JSONValue.string(subscription).encoded, as: UTF8.self)
    return [
      #"{"provider":"apns","token":"\#(Tokens.apns(0xABC).uppercased())"}"#,
      #"{"provider":"onesignal","token":"\#(Tokens.oneSignal(0xABC).uppercased())"}"#,
      #"{"provider":"webpush","token":\#(text),"bundle_id":"\#(service)"}"#,
    ]
  }

  @Test(
    "a token may be written in every form that its vendor knows: in a message, its replay, its new time and test lists"
  )
  func tokenForms() async throws {
    let world = try await World { sandbox, folder in
      World.usualCredentials(sandbox, folder) + Self.browsers(sandbox, folder)
    }
    let gateway = try await world.gateway()
    let subscription = try await world.sandbox.subscription("anna")
    let service = "localhost:\(world.sandbox.ports.webPush)"
    let tokens = Self.written(subscription, service)
    let message =
      #""to":{"tokens":[\#(tokens.joined(separator: ","))]},"notification":{"title":"T"}"#

    try await world.sandbox.play(
      #"[{"provider":"apns","status":400,"reason":"PayloadEmpty"},{"provider":"onesignal","status":400},{"provider":"webpush","status":400}]"#
    )
    let first = try await gateway.send("{\(message)}")
    let failed = try await gateway.completed(first)
    #expect(failed["outcomes"]?["failed"]?.integer == 3, "\(failed)")
    try await world.sandbox.play("[]")
    try await world.sandbox.forget()
    let replay = try await gateway.client.post("/v1/messages/\(first)/replay", "{}")
    #expect(replay.status == 202, "\(replay.text)")
    let again = try await gateway.completed(replay.json["id"]?.string ?? "")
    #expect(again["outcomes"]?["accepted"]?.integer == 3, "\(again)")

    let tomorrow = Date.now.addingTimeInterval(86_400).formatted(.iso8601)
    let later = try await gateway.client.post("/v1/messages", #"{\#(message),"send_at":"\#(tomorrow)"}"#)
    #expect(later.status == 202, "\(later.text)")
    let id = later.json["id"]?.string ?? ""
    let sooner = try await gateway.client.call(
      "PATCH", "/v1/messages/\(id)", #"{"send_at":"\#(Date.now.addingTimeInterval(43_200).formatted(.iso8601))"}"#)
    #expect(sooner.status == 200, "\(sooner.text)")

    let list = try await gateway.client.put("/v1/test_lists/team", #"{"tokens":[\#(tokens.joined(separator: ","))]}"#)
    #expect(list.status < 300, "\(list.text)")
    let draft = try await gateway.client.post(
      "/v1/drafts", #"{"message":{"to":{"everyone":true},"notification":{"title":"D"}}}"#)
    let trial = try await gateway.client.post(
      "/v1/drafts/\(draft.json["id"]?.string ?? "")/test", #"{"lists":["team"]}"#)
    #expect(trial.status == 202, "\(trial.text)")
    let tested = try await gateway.completed(trial.json["items"]?.array?.first?["id"]?.string ?? "")
    #expect(tested["outcomes"]?["accepted"]?.integer == 3, "\(tested)")

    let shown = try await world.sandbox.log().filter(\.accepted)
    #expect(Set(shown.map(\.token)) == [Tokens.apns(0xABC), Tokens.oneSignal(0xABC), "anna"])
    #expect(shown.count == 6)
  }

  @Test("a dry run shows who may not read devices a whole request, with the token of nobody")
  func maskedSubscription() async throws {
    let world = try await World(credentials: Self.browsers)
    let gateway = try await world.gateway()
    let subscription = try await world.sandbox.subscription("anna")
    _ = try await gateway.client.put("/v1/devices/anna", #"{"provider":"webpush","token":\#(subscription)}"#)
    let key = try await world.key(scopes: "send")
    let sender = try await Client(base: gateway.client.base, key: key, loop: world.loop)
    let run = try await sender.post(
      "/v1/messages?dry_run=true", #"{"to":{"devices":["anna"]},"notification":{"title":"Hello"}}"#)
    let request = run.json["requests"]?.array?.first
    #expect(request?["url"]?.string == "https://localhost:\(world.sandbox.ports.webPush)/sample", "\(run.text)")
    #expect(request?["body"]?["notification"]?["title"]?.string == "Hello")
    let keys = try JSON.parse(Array(subscription.utf8))["keys"]
    for secret in ["/push/anna", keys?["p256dh"]?.string ?? "", keys?["auth"]?.string ?? ""] {
      #expect(!secret.isEmpty && !run.text.contains(secret))
    }
  }
}
