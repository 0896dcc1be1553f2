import Domain
import Foundation
import Support
import Testing

extension Journeys {
  /// What each of the first requests gets, whatever it needs of Redis.
  @Test("while Redis is frozen under an idle gateway the first requests are answered within a second, sends with 503")
  func frozenRedis() async throws {
    let world = try await World(retries: .shipped)
    let gateway = try await world.gateway()
    let other = try await world.key(scopes: "send,read")
    let message = #"{"to":{"tokens":[\#(Tokens.targets("apns", [Tokens.apns(1)]))]},"notification":{"body":"Hi"}}"#
    _ = try await gateway.completed(try await gateway.send(message))

    // Idle for longer than a key is kept in memory, and then with one that is.
    for isKnown in [false, true] {
      if isKnown {
        #expect(try await gateway.client.get("/v1/messages").status == 200)
      } else {
        try await Task.sleep(for: .seconds(4))
      }
      world.redis.signal(SIGSTOP)
      try await Self.hasStopped(world.redis.processID)
      let asked: [(String, String, String?, [Header])] = [
        ("POST", "/v1/messages", message, []), ("POST", "/v1/messages", message, [Header("idempotency-key", "k1")]),
        ("GET", "/v1/messages", nil, []), ("GET", "/readyz", nil, []), ("GET", "/metrics", nil, []),
        ("PUT", "/v1/devices/d1", #"{"provider":"fcm","token":"\#(Tokens.fcm(1))"}"#, []),
        ("POST", "/v1/audiences/count", #"{"audience":"everyone"}"#, []),
      ]
      let fastest = try await withThrowingTaskGroup(of: Duration.self) { group in
        for (method, path, body, headers) in asked {
          group.addTask {
            let began = ContinuousClock.now
            let answer = try await gateway.client.call(method, path, body, headers: headers)
            let took = ContinuousClock.now - began
            // A machine that does other work may be late by itself, but not four seconds.
            #expect(took < .seconds(2 * Sanitizer.slowness), "\(method) \(path) took \(took)")
            guard path != "/metrics" else {
              #expect(answer.text.contains("fanfare_store_available 0"))
              return took
            }
            #expect(answer.status == 503, "\(method) \(path): \(answer.text)")
            #expect(answer.header("retry-after") != nil, "\(method) \(path)")
            return took
          }
        }
        return try await group.reduce(Duration.seconds(60)) { min($0, $1) }
      }
      #expect(fastest < .seconds(Sanitizer.slowness))
      // Once it is known, nobody waits.
      let began = ContinuousClock.now
      let stranger = try await Client(base: gateway.client.base, key: other, loop: world.loop)
      #expect(try await stranger.post("/v1/messages", message).status == 503)
      #expect(ContinuousClock.now - began < .milliseconds(500 * Sanitizer.slowness))
      world.redis.signal(SIGCONT)
      try await gateway.until("readiness") { try await $0.client.get("/readyz").status == 200 }
      _ = try await gateway.completed(try await gateway.send(message))
    }
  }

  /// A signal is on its way for a moment; what Redis said before it is of no age then.
  private static func hasStopped(_ process: Int32) async throws {
    while true {
      let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
      if status.contains("State:\tT") { break }
      try await Task.sleep(for: .milliseconds(5))
    }
    try await Task.sleep(for: .milliseconds(200))
  }
}
