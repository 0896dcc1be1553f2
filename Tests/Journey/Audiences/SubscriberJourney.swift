import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "what would reach more than ten times the subscribers is warned of, waits with its reason, and goes when there is room"
  )
  func subscriberLimit() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    func register(_ number: Int) async throws {
      let answer = try await gateway.client.put(
        "/v1/devices/web-\(number)", #"{"provider":"onesignal","token":"\#(Tokens.oneSignal(number))","tags":["all"]}"#)
      #expect(answer.status == 201, "\(answer.text)")
    }
    for number in 0..<2 { try await register(number) }
    func send() async throws -> (id: String, warnings: [String]) {
      let answer = try await gateway.client.post(
        "/v1/messages", #"{"to":{"audience":"all"},"notification":{"title":"T","body":"B"}}"#)
      #expect(answer.status == 202, "\(answer.text)")
      let codes = answer.json["warnings"]?.array?.compactMap { $0["code"]?.string } ?? []
      return (answer.json["id"]?.string ?? "", codes)
    }
    for _ in 0..<10 {
      let (id, warnings) = try await send()
      #expect(!warnings.contains("subscriber_limit"))
      _ = try await gateway.completed(id)
    }
    // What was reached is asked for once a second.
    var last = try await send()
    var held = [last.id]
    try await gateway.until("the warning") { _ in
      if last.warnings.contains("subscriber_limit") { return true }
      last = try await send()
      held.append(last.id)
      return false
    }
    try await gateway.until("the reason") { gateway in
      try await gateway.deliveries(held[0]).allSatisfy { $0["reason"]?.string == "subscriber_limit" }
    }
    let report = try await gateway.client.get("/v1/messages/\(held[0])").json
    #expect(report["waiting_for"]?.array?.first?["reason"]?.string == "subscriber_limit", "\(report)")
    #expect(try await gateway.client.get("/readyz").text.contains("subscriber_limit"))
    #expect(try await world.sandbox.log().filter(\.accepted).count == 20, "ten times two")

    // Others subscribe: a changed configuration counts anew, as each minute does.
    for number in 2..<40 { try await register(number) }
    let file = world.directory.file("fanfare.json5")
    let text = try String(contentsOf: file, encoding: .utf8)
    let changed = text.replacing(
      "onesignal: { per_minute: 0 }", with: "onesignal: { per_minute: 0, times_subscribers: 9 }")
    #expect(changed != text)
    try changed.write(to: file, atomically: true, encoding: .utf8)
    gateway.process.signal(SIGHUP)
    for id in held { _ = try await gateway.completed(id) }
    try await gateway.until("the end of the wait") { gateway in
      try await !gateway.client.get("/readyz").text.contains("subscriber_limit")
    }

    // It warns by what a reload has brought, too: of forty subscribers, nobody is to be reached twice.
    try text.replacing("onesignal: { per_minute: 0 }", with: "onesignal: { per_minute: 0, times_subscribers: 1 }")
      .write(to: file, atomically: true, encoding: .utf8)
    gateway.process.signal(SIGHUP)
    try await gateway.until("the reload") {
      $0.process.text.components(separatedBy: "event=configuration_reloaded").count > 2
    }
    #expect(try await send().warnings.contains("subscriber_limit"))
  }
}
