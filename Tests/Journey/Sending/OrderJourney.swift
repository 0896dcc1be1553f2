import Domain
import JSON
import Support
import Testing

extension Journeys {
  /// A send that says its number.
  private func send(_ number: Int, to recipient: String, by gateway: Gateway) async throws -> String {
    try await gateway.send(#"{"to":{\#(recipient)},"notification":{"title":"N"},"data":{"n":\#(number)}}"#)
  }

  /// The numbers that a token was sent, in the order of their acceptance by the vendor.
  private func numbers(_ token: String, _ sandbox: Sandbox) async throws -> [Int] {
    try await sandbox.log().filter { $0.accepted && $0.token == token }.compactMap { entry in
      (try? JSON.parse(Array(entry.body.utf8)))?["n"]?.integer.map(Int.init)
    }
  }

  @Test("sends to a token and to the device registered with it keep one order, whatever names them")
  func tokenAndDevice() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let token = Tokens.apns(1)
    let raw = #""tokens":[{"provider":"apns","token":"\#(token)"}]"#
    try await world.sandbox.play(
      #"[{"provider":"apns","token":"\#(token)","after":3,"times":4,"status":503,"reason":"ServiceUnavailable"}]"#)
    _ = try await gateway.client.put("/v1/devices/phone", #"{"provider":"apns","token":"\#(token)","user":"ana"}"#)
    var last = ""
    for number in 0..<60 {
      last = try await send(
        number, to: [raw, #""devices":["phone"]"#, #""users":["ana"]"#][number % 3], by: gateway)
    }
    _ = try await gateway.completed(last)
    #expect(try await numbers(token, world.sandbox) == Array(0..<60))
  }

  @Test("what waits for a message's rate is passed by a later send to the same token")
  func pacedIsPassed() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let tokens = (1...40).map(Tokens.apns)
    let paced = try await gateway.send(
      #"{"to":{"tokens":[\#(Tokens.targets("apns", tokens))]},"notification":{"title":"N"},"data":{"n":1},"rate_per_second":1}"#
    )
    let later = try await gateway.send(
      #"{"to":{"tokens":[\#(Tokens.targets("apns", tokens))]},"notification":{"title":"N"},"data":{"n":2}}"#)
    _ = try await gateway.completed(later)
    let accepted = try await gateway.client.get("/v1/messages/\(paced)").json["progress"]?["final"]?.integer ?? 0
    #expect(accepted < 40, "it was held up by none of them")
    _ = try await gateway.client.post("/v1/messages/\(paced)/cancel", "")
  }

  @Test("an audience that is being sent holds back no direct send, not even to one of its own devices")
  func audienceBeside() async throws {
    let world = try await World(more: "http2: { connections: 1 },")
    let gateway = try await world.gateway()
    let members = (1_000..<9_000).map(Tokens.apns)
    let lines = members.map { #"{"provider":"apns","token":"\#($0)"}"# }.joined(separator: "\n")
    let imported = try await gateway.client.post(
      "/v1/devices/bulk", lines, headers: [Header("content-type", "application/x-ndjson")])
    #expect(imported.status == 200, "\(imported.text.prefix(500))")
    // With a thousand streams at most the whole takes sixteen seconds.
    try await world.sandbox.play(#"[{"provider":"apns","delay_ms":2000}]"#)
    let crowd = try await gateway.send(#"{"to":{"everyone":true},"kind":"alert","notification":{"body":"All"}}"#)
    _ = try await world.sandbox.accepted(atLeast: 100)
    for token in [Tokens.apns(1), members[7_999]] {
      let id = try await send(1, to: #""tokens":[\#(Tokens.targets("apns", [token]))]"#, by: gateway)
      _ = try await gateway.completed(id)
    }
    let report = try await gateway.client.get("/v1/messages/\(crowd)").json
    #expect((report["progress"]?["final"]?.integer ?? 0) < 8_000, "\(report)")
    _ = try await gateway.completed(crowd)
  }

  @Test("urgent and bulk sends to one token keep each their own order, while faults play")
  func urgentAndBulk() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let hot = (1...3).map(Tokens.apns)
    let rules = hot.enumerated().map { place, token in
      #"{"provider":"apns","token":"\#(token)","after":\#(2 + place),"times":\#(3 + place),"status":503,"reason":"ServiceUnavailable"}"#
    }
    try await world.sandbox.play("[\(rules.joined(separator: ","))]")
    // More than 500 targets are bulk.
    let crowd = Tokens.targets("apns", hot + (100..<650).map(Tokens.apns))
    let few = Tokens.targets("apns", hot)
    var ids: [String] = []
    for round in 0..<8 {
      ids.append(try await send(1_000 + round, to: #""tokens":[\#(crowd)]"#, by: gateway))
      for number in 0..<10 { ids.append(try await send(round * 10 + number, to: #""tokens":[\#(few)]"#, by: gateway)) }
    }
    for id in ids { _ = try await gateway.completed(id) }
    #expect(try await world.sandbox.log().contains { $0.status == 503 })
    for token in hot {
      let numbers = try await numbers(token, world.sandbox)
      #expect(numbers.filter { $0 < 1_000 } == Array(0..<80))
      #expect(numbers.filter { $0 >= 1_000 } == Array(1_000..<1_008))
    }
  }
}
