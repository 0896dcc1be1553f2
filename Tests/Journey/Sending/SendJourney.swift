import Domain
import JSON
import Support
import Testing

extension Journeys {
  @Test("one send reaches a device of each provider, and says so")
  func oneSendReachesAll() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    for (name, provider, token) in [
      ("phone", "apns", Tokens.apns(1)), ("tablet", "fcm", Tokens.fcm(1)),
      ("browser", "onesignal", Tokens.oneSignal(1)),
    ] {
      let answer = try await gateway.client.put(
        "/v1/devices/\(name)", #"{"provider":"\#(provider)","token":"\#(token)","user":"ana"}"#)
      #expect(answer.status == 201 || answer.status == 200, "\(answer.text)")
    }
    let id = try await gateway.send(
      #"{"to":{"users":["ana"]},"kind":"alert","notification":{"title":"Order shipped","body":"Arrives Tuesday"}}"#)
    let report = try await gateway.completed(id)
    #expect(report["state"]?.string == "completed")
    let deliveries = try await gateway.deliveries(id)
    #expect(
      Set(deliveries.compactMap { $0["device"]?.string ?? $0["device_id"]?.string }) == ["phone", "tablet", "browser"])
    #expect(deliveries.allSatisfy { $0["state"]?.string == "accepted" }, "\(deliveries)")
    let log = try await world.sandbox.log().filter(\.accepted)
    #expect(Set(log.map(\.provider)) == ["apns", "fcm", "onesignal"])
    #expect(log.count == 3)
    try await gateway.metricsAgreeWithReports()
  }

  @Test("a send that waits is answered with the outcomes; its repeat and the send of a draft too")
  func sendThatWaits() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let targets = Tokens.targets("apns", [Tokens.apns(1)]) + "," + Tokens.targets("fcm", [Tokens.fcm(1)])
    let message = #"{"to":{"tokens":[\#(targets)]},"kind":"alert","notification":{"body":"Now"}}"#
    let headers = [Header("prefer", "wait=10"), Header("idempotency-key", "now")]
    func isAccepted(_ answer: Client.Answer) -> Bool {
      let report = answer.json["report"]
      return answer.status == 200 && answer.header("preference-applied") == "wait=10"
        && report?["state"]?.string == "completed" && report?["outcomes"]?["accepted"] == .integer(2)
    }
    let first = try await gateway.client.post("/v1/messages", message, headers: headers)
    #expect(isAccepted(first), "\(first.text)")
    let again = try await gateway.client.post("/v1/messages", message, headers: headers)
    #expect(isAccepted(again) && again.json["id"] == first.json["id"], "\(again.text)")
    let draft = try await gateway.client.post("/v1/drafts", #"{"message":\#(message)}"#)
    let send = "/v1/drafts/\(draft.json["id"]?.string ?? "?")/send"
    let sent = try await gateway.client.call("POST", send, headers: [Header("prefer", "wait=10")])
    #expect(isAccepted(sent), "\(sent.text)")
    #expect(try await world.sandbox.log().filter(\.accepted).count == 4)
    try await gateway.metricsAgreeWithReports()
  }

  @Test("each retry class ends in one accepted delivery, with its attempts told")
  func retryClasses() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    try await world.sandbox.play(
      """
      [{"provider":"apns","token":"*1","times_per_token":1,"status":503,"reason":"ServiceUnavailable"},
       {"provider":"apns","token":"*2","times_per_token":1,"status":429,"reason":"TooManyRequests"},
       {"provider":"apns","token":"*3","times_per_token":1,"status":500,"reason":"InternalServerError"},
       {"provider":"apns","token":"*4","times_per_token":1,"action":"reset","code":7},
       {"provider":"apns","token":"*5","times_per_token":1,"action":"close"},
       {"provider":"apns","token":"*6","times":1,"status":403,"reason":"ExpiredProviderToken"},
       {"provider":"fcm","token":"fcm-1:*","times_per_token":1,"status":503,"retry_after":1},
       {"provider":"fcm","token":"fcm-2:*","times_per_token":1,"status":429,"reason":"QUOTA_EXCEEDED","retry_after":1},
       {"provider":"fcm","token":"fcm-3:*","times_per_token":1,"status":500},
       {"provider":"onesignal","token":"*1","times_per_token":1,"status":429,"retry_after":1},
       {"provider":"onesignal","token":"*2","times_per_token":1,"status":503}]
      """)
    var targets = Tokens.targets("apns", (1...6).map(Tokens.apns))
    targets += "," + Tokens.targets("fcm", (1...3).map(Tokens.fcm))
    targets += "," + Tokens.targets("onesignal", (1...2).map(Tokens.oneSignal))
    let id = try await gateway.send(
      #"{"to":{"tokens":[\#(targets)]},"kind":"alert","notification":{"body":"Retried"}}"#)
    _ = try await gateway.completed(id)
    let deliveries = try await gateway.deliveries(id)
    #expect(deliveries.count == 11)
    #expect(
      deliveries.allSatisfy { $0["state"]?.string == "accepted" },
      "\(deliveries.filter { $0["state"]?.string != "accepted" })")
    let accepted = try await world.sandbox.log().filter(\.accepted)
    #expect(Set(accepted.map(\.token)).count == 11)
    try await gateway.metricsAgreeWithReports()
  }

  @Test("GOAWAY in the middle loses nothing and doubles nothing")
  func goaway() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    try await world.sandbox.play(
      #"[{"provider":"apns","after":300,"times":1,"action":"goaway"},{"provider":"apns","after":900,"times":1,"action":"goaway"}]"#
    )
    let tokens = (0..<2_000).map(Tokens.apns)
    let id = try await gateway.send(
      #"{"to":{"tokens":[\#(Tokens.targets("apns", tokens))]},"kind":"alert","notification":{"body":"All"}}"#)
    let report = try await gateway.completed(id)
    let log = try await world.sandbox.log()
    #expect(log.contains { $0.fault == "goaway" })
    let accepted = log.filter(\.accepted)
    #expect(difference(Set(accepted.map(\.token)), from: tokens) == nil, "\(report)")
    #expect(accepted.count == tokens.count)
    try await gateway.metricsAgreeWithReports()
  }

  @Test("sends to one token arrive in the order of their acceptance, over retries")
  func order() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    try await world.sandbox.play(
      #"[{"provider":"apns","share":0.4,"times":8,"status":503,"reason":"ServiceUnavailable"}]"#)
    var ids: [String] = []
    for number in 0..<12 {
      ids.append(
        try await gateway.send(
          """
          {"to":{"tokens":[{"provider":"apns","token":"\(Tokens.apns(7))"}]},"kind":"alert",\
          "notification":{"body":"Number \(number)"}}
          """))
    }
    for id in ids { _ = try await gateway.completed(id) }
    let log = try await world.sandbox.log()
    #expect(log.contains { $0.status == 503 })
    let bodies = log.filter(\.accepted).map(\.body)
    #expect(bodies.count == 12)
    for (number, body) in bodies.enumerated() { #expect(body.contains("Number \(number)\""), "\(bodies)") }
    try await gateway.metricsAgreeWithReports()
  }

  @Test("a newer message with the same collapse key supersedes what still waits for the token")
  func supersede() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    try await world.sandbox.play(
      #"[{"provider":"apns","times":1,"status":503,"reason":"ServiceUnavailable","retry_after":2}]"#)
    func send(_ text: String) async throws -> String {
      try await gateway.send(
        """
        {"to":{"tokens":[{"provider":"apns","token":"\(Tokens.apns(9))"}]},"kind":"alert","collapse_key":"score",\
        "notification":{"body":"\(text)"}}
        """)
    }
    let first = try await send("1:0")
    while try await world.sandbox.log().isEmpty { try await Task.sleep(for: .milliseconds(20)) }
    let second = try await send("2:0")
    _ = try await gateway.completed(first)
    _ = try await gateway.completed(second)
    let states = try await (gateway.deliveries(first) + gateway.deliveries(second)).map { $0["state"]?.string }
    #expect(states == ["superseded", "accepted"])
    let accepted = try await world.sandbox.log().filter(\.accepted)
    #expect(accepted.count == 1 && accepted[0].body.contains("2:0"))
    try await gateway.metricsAgreeWithReports()
  }

  @Test("a provider that answers nothing leaves the others at their speed")
  func deadProvider() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    try await world.sandbox.play(#"[{"provider":"fcm","action":"stall"}]"#)
    let stuck = try await gateway.send(
      """
      {"to":{"tokens":[\(Tokens.targets("fcm", (0..<2_000).map(Tokens.fcm)))]},"kind":"alert",\
      "notification":{"body":"Stuck"}}
      """)
    let free = try await gateway.send(
      """
      {"to":{"tokens":[\(Tokens.targets("apns", (0..<2_000).map(Tokens.apns)))]},"kind":"alert",\
      "notification":{"body":"Free"}}
      """)
    _ = try await gateway.completed(free)
    let report = try await gateway.client.get("/v1/messages/\(stuck)").json
    #expect(report["state"]?.string != "completed")
    let accepted = try await world.sandbox.log().filter { $0.provider == "apns" && $0.accepted }
    #expect(accepted.count == 2_000)
    try await gateway.metricsAgreeWithReports()
  }
}
