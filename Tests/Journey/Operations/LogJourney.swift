import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test("the log tells of requests and failures at level debug, and of no token, key or text of a message")
  func logKeepsSecrets() async throws {
    let world = try await World(more: #"log_level: "debug","#)
    let gateway = try await world.gateway()
    let tokens = [
      ("apns", Tokens.apns(0xABCDEF)), ("fcm", Tokens.fcm(77_001)), ("onesignal", Tokens.oneSignal(77_002)),
      ("apns", Tokens.apns(0xFEDCBA)), ("fcm", Tokens.fcm(77_003)),
    ]
    try await world.sandbox.play(
      #"""
      [{"provider":"apns","token":"\#(tokens[3].1)","status":410,"reason":"Unregistered","timestamp":4102444800000},
       {"provider":"fcm","token":"\#(tokens[4].1)","status":400,"reason":"INVALID_ARGUMENT"},
       {"provider":"oauth","status":500,"times":1},
       {"provider":"apns","token":"\#(tokens[0].1)","action":"close","times":1},
       {"provider":"onesignal","status":503,"times":1}]
      """#)
    for (number, (provider, token)) in tokens.enumerated() {
      let device = #"{"provider":"\#(provider)","token":"\#(token)","user":"confidential-user"}"#
      #expect(try await gateway.client.put("/v1/devices/d\(number)", device).status == 201)
    }
    let text = "confidential words of a message"
    let message = #"{"to":{"everyone":true},"kind":"alert","notification":{"body":"\#(text)"}}"#
    _ = try await gateway.completed(try await gateway.send(message))
    let direct = tokens.map { Tokens.targets($0.0, [$0.1]) }.joined(separator: ",")
    _ = try await gateway.completed(
      try await gateway.send(#"{"to":{"tokens":[\#(direct)]},"kind":"alert","notification":{"body":"\#(text)"}}"#))
    // What is refused: a body, a path, a query, a key.
    _ = try await gateway.client.post("/v1/messages", #"{"to":{"tokens":["\#(tokens[1].1)"]}}"#)
    _ = try await gateway.client.get("/v1/devices/\(tokens[0].1)")
    _ = try await gateway.client.get("/v1/devices?user=confidential-user")
    let wrongKey = "fk_confidentialconfidentialconfidentialconfi"
    let stranger = try await Client(base: gateway.client.base, key: wrongKey, loop: world.loop)
    #expect(try await stranger.get("/v1/messages").status == 401)
    gateway.process.signal(SIGHUP)
    _ = try await gateway.process.line { $0.contains("event=reloaded") || $0.contains("reload") }
    gateway.process.signal(SIGTERM)
    #expect(await gateway.process.waitForExit() == 0)

    let log = gateway.process.text
    #expect(log.contains("level=debug") && log.contains("/v1/messages"), "nothing was logged: \(log.prefix(500))")
    let folder = world.directory.file("sandbox")
    let apiKey = try #require(gateway.client.key)
    var secrets = tokens.map(\.1) + [text, "confidential-user", wrongKey, apiKey]
    for name in ["apns-key.p8", "onesignal.key", "service-account.json"] {
      let lines = try String(contentsOf: folder.appending(path: name), encoding: .utf8).split(separator: "\n")
      secrets += lines.map(String.init).filter { $0.count > 30 && !$0.contains("-----") && !$0.contains("http") }
    }
    for secret in secrets {
      #expect(!log.contains(secret), "\(secret) in: \(log.split(separator: "\n").first { $0.contains(secret) } ?? "")")
    }
  }
}
