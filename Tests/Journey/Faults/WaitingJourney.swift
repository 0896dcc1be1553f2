import Domain
import Foundation
import JSON
import Support
import Testing

private func message(_ provider: String, _ numbers: Range<Int>, _ text: String, ttl: Int = 86_400) -> String {
  let tokens = numbers.map { provider == "apns" ? Tokens.apns($0) : Tokens.fcm($0) }
  return
    #"{"to":{"tokens":[\#(Tokens.targets(provider, tokens))]},"kind":"alert","ttl":\#(ttl),"notification":{"body":"\#(text)"}}"#
}

/// Credentials that cannot send for a while, with settings as shipped.
extension Journeys {
  private static let faults: [(name: String, rule: String, code: String, word: String)] = [
    (
      "invalid_grant", #""provider":"oauth","status":400,"reason":"invalid_grant""#, "credential_blocked",
      "invalid_grant"
    ),
    ("OAuth's 302", #""provider":"oauth","status":302"#, "credential_failing", "HTTP 302"),
    (
      "OAuth's 403", #""provider":"oauth","status":403,"reason":"access_denied""#, "credential_blocked", "access_denied"
    ),
    ("OAuth's 500", #""provider":"oauth","status":500"#, "credential_failing", "HTTP 500"),
    (
      "FCM's 401", #""provider":"fcm","status":401,"reason":"UNAUTHENTICATED""#, "credential_blocked", "UNAUTHENTICATED"
    ),
  ]

  @Test(
    "whatever a credential is refused for is told everywhere, and SIGHUP lets it send at once, with nothing changed")
  func hangUp() async throws {
    let world = try await World()
    try world.installAsShipped()
    for (number, fault) in Self.faults.enumerated() {
      try await world.sandbox.play("[{\(fault.rule)}]")
      let gateway = try await world.gateway()
      let id = try await gateway.send(message("fcm", number * 10..<number * 10 + 3, fault.name))
      try await gateway.until("\(fault.name): the word for it") {
        try await $0.conditions()[fault.code]?.contains(fault.word) == true
      }
      let told = try await gateway.conditions()[fault.code] ?? ""
      #expect(told.contains("next try 20"), "\(fault.name): \(told)")
      let status = try await world.run(["status"], against: gateway)
      #expect(status.code == 1 && status.text.contains(fault.word), "\(fault.name): \(status.text)")
      for delivery in try await gateway.deliveries(id) {
        let state = fault.code == "credential_blocked" ? "blocked" : "pending"
        #expect(delivery["state"]?.string == state, "\(fault.name): \(delivery)")
        #expect(delivery["reason"]?.string?.contains(fault.word) == true, "\(fault.name): \(delivery)")
        #expect(delivery["next_attempt_at"]?.string != nil, "\(fault.name): \(delivery)")
      }
      let report = try await gateway.client.get("/v1/messages/\(id)").json
      let wait = report["waiting_for"]?.array?.first
      #expect(wait?["credential"]?.string == "shop/android" && wait?["count"]?.integer == 3, "\(fault.name): \(report)")
      #expect(wait?["next_try_at"]?.string != nil && wait?["began_at"]?.string != nil, "\(fault.name): \(report)")

      try await world.sandbox.play("[]")
      gateway.process.signal(SIGHUP)
      // A probe alone would come 30 s after the last.
      let began = ContinuousClock.now
      _ = try await gateway.completed(id)
      #expect(ContinuousClock.now - began < .seconds(15 * Sanitizer.slowness), "\(fault.name)")
      #expect(try await gateway.deliveries(id).allSatisfy { $0["state"]?.string == "accepted" }, "\(fault.name)")
      try await gateway.until("\(fault.name): readiness") {
        try await $0.client.get("/readyz").json["status"]?.string == "ready"
      }
      #expect(try await world.run(["status"], against: gateway).code == 0, "\(fault.name)")
      gateway.process.signal(SIGTERM)
      #expect(await gateway.process.waitForExit() == 0)
    }
  }

  @Test("a refused credential is tried every 30 s, a failing one sooner, and sends again by itself")
  func probes() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for fault in Self.faults { group.addTask { try await Self.goOnUnasked(after: fault) } }
      try await group.waitForAll()
    }
  }

  private static func goOnUnasked(
    after fault: (name: String, rule: String, code: String, word: String)
  ) async throws {
    let world = try await World()
    try world.installAsShipped()
    try await world.sandbox.play("[{\(fault.rule)}]")
    let gateway = try await world.gateway()
    let id = try await gateway.send(message("fcm", 0..<3, fault.name))
    try await gateway.until("\(fault.name): the word for it") {
      try await $0.conditions()[fault.code]?.contains(fault.word) == true
    }
    // The first tries are over, and what may hold it up is in force.
    let first = try await gateway.conditions()[fault.code]
    try await gateway.until("\(fault.name): another try") { try await $0.conditions()[fault.code] != first }
    try await world.sandbox.play("[]")
    let began = ContinuousClock.now
    _ = try await gateway.completed(id)
    #expect(ContinuousClock.now - began < .seconds(40 * Sanitizer.slowness), "\(fault.name)")
  }

  @Test(
    "a Retry-After of a day is obeyed and told; what lives shorter waits until its time is over, and ends with the reason"
  )
  func longWait() async throws {
    let world = try await World()
    try world.installAsShipped()
    try await world.sandbox.play(
      #"[{"provider":"fcm","status":429,"reason":"QUOTA_EXCEEDED","retry_after":86400}]"#)
    let gateway = try await world.gateway()
    let id = try await gateway.send(message("fcm", 0..<5, "Wait"))
    try await gateway.until("the wait") { try await $0.conditions()["credential_waiting"] != nil }
    let told = try await gateway.conditions()["credential_waiting"] ?? ""
    #expect(told.contains("QUOTA_EXCEEDED") && told.contains("the provider asks to wait until"), "\(told)")
    let status = try await world.run(["status", "--json"], against: gateway)
    #expect(status.code == 1, "\(status.text)")
    let credential = try JSON.parse(Array(status.text.utf8))["credentials"]?.array?
      .first { $0["credential"]?.string == "shop/android" }
    func time(_ name: String) -> WallTime? { credential?[name]?.string.flatMap { WallTime(rfc3339: $0) } }
    let since = try #require(time("began_at"), "\(status.text)")
    let (next, until) = (try #require(time("next_try_at")), try #require(time("not_before_at")))
    #expect((3_500_000...3_700_000).contains(next - since), "an hour: \(status.text)")
    #expect((86_300_000...86_500_000).contains(until - since), "a day: \(status.text)")

    let short = try await gateway.send(message("fcm", 10..<12, "Soon over", ttl: 4))
    let sentAt = ContinuousClock.now
    try await gateway.until("the reason") {
      try await $0.deliveries(short).allSatisfy { $0["reason"]?.string == "QUOTA_EXCEEDED" }
    }
    _ = try await gateway.completed(short)
    #expect(ContinuousClock.now - sentAt > .seconds(3.5))
    for delivery in try await gateway.deliveries(short) {
      #expect(delivery["state"]?.string == "expired" && delivery["reason"]?.string == "QUOTA_EXCEEDED", "\(delivery)")
    }
    let received = try await world.sandbox.log().filter { $0.provider == "fcm" }.count
    #expect(received <= 5, "it is left alone")

    try await world.sandbox.play("[]")
    gateway.process.signal(SIGHUP)
    _ = try await gateway.completed(id)
    #expect(try await gateway.deliveries(id).allSatisfy { $0["state"]?.string == "accepted" })
    try await gateway.until("readiness") { try await $0.client.get("/readyz").json["status"]?.string == "ready" }
  }

  @Test(
    "a quota without a word of when it ends is told in readiness, report and deliveries, and each answer is an attempt on record"
  )
  func quotaTold() async throws {
    let world = try await World()
    try world.installAsShipped()
    try await world.sandbox.play(#"[{"provider":"fcm","status":429,"reason":"QUOTA_EXCEEDED"}]"#)
    let gateway = try await world.gateway()
    let id = try await gateway.send(message("fcm", 0..<5, "Wait"))
    try await gateway.until("the word for it") {
      try await $0.conditions()["credential_waiting"]?.contains("QUOTA_EXCEEDED") == true
    }
    let wait = try await gateway.client.get("/v1/messages/\(id)").json["waiting_for"]?.array?.first
    #expect(wait?["reason"]?.string == "QUOTA_EXCEEDED" && wait?["count"]?.integer == 5, "\(wait ?? .null)")
    #expect(wait?["next_try_at"]?.string != nil, "\(wait ?? .null)")
    for delivery in try await gateway.deliveries(id) {
      #expect(delivery["state"]?.string == "pending" && delivery["reason"]?.string == "QUOTA_EXCEEDED", "\(delivery)")
      #expect(delivery["next_attempt_at"]?.string != nil, "\(delivery)")
    }
    // Those that were answered say so while they wait, in the API and in the command line.
    try await gateway.until("attempts of those that wait") {
      try await $0.deliveries(id).contains { ($0["attempts"]?.array ?? []).contains(where: Self.isQuota) }
    }
    let shown = try await world.run(["messages", "deliveries", id, "--json"], against: gateway)
    #expect(shown.text.contains(#""verdict":"deferred""#) && shown.text.contains("next_attempt_at"), "\(shown.text)")
    try await world.sandbox.play("[]")
    gateway.process.signal(SIGHUP)
    _ = try await gateway.completed(id)
    let tried = try await gateway.deliveries(id).filter { delivery in
      (delivery["attempts"]?.array ?? []).contains(where: Self.isQuota)
    }
    #expect(!tried.isEmpty, "whose request got the answer says so")
    try await gateway.metricsAgreeWithReports()
  }

  private static func isQuota(_ attempt: JSONValue) -> Bool {
    attempt["reason"]?.string == "QUOTA_EXCEEDED" && attempt["http_status"]?.integer == 429
  }

  @Test("a provider that fails or refuses whatever it is asked is told as such, until it takes a push again")
  func failing() async throws {
    let world = try await World()
    try world.installAsShipped()
    try await world.sandbox.play(#"[{"provider":"fcm","status":503,"reason":"UNAVAILABLE"}]"#)
    let gateway = try await world.gateway()
    let many = try await gateway.send(message("fcm", 0..<80, "Away"))
    try await gateway.until("the failures") {
      try await $0.conditions()["credential_failing"]?.contains("UNAVAILABLE") == true
    }
    let status = try await world.run(["status"], against: gateway)
    #expect(status.code == 1 && status.text.contains("UNAVAILABLE"), "\(status.text)")
    try await gateway.until("a word on each delivery") {
      try await $0.deliveries(many).allSatisfy {
        ["pending", "retrying"].contains($0["state"]?.string) && $0["reason"]?.string == "UNAVAILABLE"
      }
    }
    try await world.sandbox.play("[]")
    gateway.process.signal(SIGHUP)
    _ = try await gateway.completed(many)
    #expect(try await gateway.deliveries(many).allSatisfy { $0["state"]?.string == "accepted" })
    try await gateway.until("readiness") { try await $0.client.get("/readyz").json["status"]?.string == "ready" }

    try await world.sandbox.play(#"[{"provider":"apns","status":400,"reason":"TopicDisallowed"}]"#)
    let refused = try await gateway.send(message("apns", 0..<30, "Nobody may"))
    _ = try await gateway.completed(refused)
    #expect(try await gateway.deliveries(refused).allSatisfy { $0["reason"]?.string == "TopicDisallowed" })
    try await gateway.until("the refusals") {
      try await $0.conditions()["credential_failing"]?.contains("TopicDisallowed") == true
    }
    #expect(try await world.run(["status"], against: gateway).code == 1)
    try await world.sandbox.play("[]")
    _ = try await gateway.completed(try await gateway.send(message("apns", 50..<51, "All may")))
    try await gateway.until("readiness") { try await $0.client.get("/readyz").json["status"]?.string == "ready" }
  }
}
