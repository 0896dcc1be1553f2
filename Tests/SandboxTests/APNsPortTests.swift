import Domain
import HTTP2
import JSON
import Loop
import Sandbox
import Support
import Testing

@Suite(.timeLimit(.minutes(6 * Sanitizer.slowness))) struct APNsPortTests {
  @Test("a push is accepted: id echoed, unique id given, logged, counted; then the connection may carry more")
  func accepted() async throws {
    try await SandboxRig.run { rig in
      let client = try rig.connect(port: rig.sandbox.ports.apns)
      await client.wait { $0.openable > 0 }
      #expect(client.streamLimit == 1)
      let id = "5d1c6a1e-3c1b-4d0e-9a5e-0d7c2f4b9a10"
      let reply = await client.send(try rig.apnsRequest([Header("apns-id", id)]))
      #expect(reply.status == 200)
      #expect(reply.body == "")
      #expect(reply.header("apns-id") == id)
      #expect(reply.header("apns-unique-id").flatMap { UUIDBytes($0) } != nil)
      await client.wait { $0.streamLimit == 1000 }
      #expect(client.streamLimit == 1000)
      let entry = try #require(rig.sandbox.stage.log[1])
      #expect(entry.accepted && !entry.duplicate)
      #expect(entry.id == id)
      #expect(entry.token == deviceToken)
      #expect(entry.status == 200)
      // The same push again is a duplicate, and the log says so.
      _ = await client.send(try rig.apnsRequest([Header("apns-id", id)]))
      #expect(rig.sandbox.stage.log[2]?.duplicate == true)
      #expect(rig.sandbox.stage.statistics[.apns].accepted == 2)
      #expect(rig.sandbox.stage.statistics[.apns].duplicates == 1)
      client.close()
    }
  }

  @Test("refusals carry status, reason and id")
  func refused() async throws {
    try await SandboxRig.run { rig in
      let client = try rig.connect(port: rig.sandbox.ports.apns)
      func expect(_ status: Int, _ reason: String, _ request: ProviderRequest) async {
        let reply = await client.send(request)
        #expect(reply.status == status)
        #expect(reply.body == #"{"reason":"\#(reason)"}"#)
        #expect(reply.header("apns-id").flatMap { UUIDBytes($0) } != nil)
      }
      // Nothing accepted yet: still one stream.
      await expect(
        403, "MissingProviderToken", ProviderRequest(path: "/3/device/\(deviceToken)", headers: [], body: []))
      await expect(403, "InvalidProviderToken", try rig.apnsRequest(authorization: "bearer x.y.z"))
      await expect(
        403, "InvalidProviderToken",
        try rig.apnsRequest(authorization: "bearer \(rig.providerToken(kid: "WRONGKEYID"))"))
      #expect(client.streamLimit == 1)
      await expect(400, "BadDeviceToken", try rig.apnsRequest(token: "abc"))
      await expect(400, "PayloadEmpty", try rig.apnsRequest(body: ""))
      var request = try rig.apnsRequest()
      request.path = "/4/device/x"
      await expect(404, "BadPath", request)
      request = try rig.apnsRequest()
      request.method = "GET"
      await expect(405, "MethodNotAllowed", request)
      await expect(
        400, "DuplicateHeaders", try rig.apnsRequest([Header("apns-topic", "com.example.app")]))
      await expect(413, "PayloadTooLarge", try rig.apnsRequest(body: String(repeating: "x", count: 4097)))
      client.close()
    }
  }

  @Test("token updates: too often is refused, an expired one ends the connection's trust, a new connection has its own")
  func tokens() async throws {
    try await SandboxRig.run { rig in
      let now = rig.loop.wallNow.seconds
      let client = try rig.connect(port: rig.sandbox.ports.apns)
      let old = "bearer \(try rig.providerToken(issuedAt: now - 100))"
      let new = "bearer \(try rig.providerToken(issuedAt: now))"
      #expect(await client.send(try rig.apnsRequest(authorization: old)).status == 200)
      let early = await client.send(try rig.apnsRequest(authorization: new))
      #expect(early.status == 429)
      #expect(early.body == #"{"reason":"TooManyProviderTokenUpdates"}"#)
      #expect(await client.send(try rig.apnsRequest(authorization: old)).status == 200)
      let stale = "bearer \(try rig.providerToken(issuedAt: now - 3700))"
      #expect(
        await client.send(try rig.apnsRequest(authorization: stale)).body == #"{"reason":"ExpiredProviderToken"}"#)
      #expect(await client.send(try rig.apnsRequest(authorization: old)).status == 403)
      let fresh = try rig.connect(port: rig.sandbox.ports.apns)
      #expect(await fresh.send(try rig.apnsRequest(authorization: new)).status == 200)
      client.close()
      fresh.close()
    }
  }

  @Test("replies by rule: 410 with its time, 429 with Retry-After, HTML; before is not accepted, after is")
  func replies() async throws {
    try await SandboxRig.run { rig in
      try await rig.rules(
        """
        [{"provider":"apns","token":"dead*","status":410,"reason":"Unregistered","timestamp":1767200000000},
         {"provider":"apns","token":"bb*","status":429,"retry_after":3,"times":1},
         {"provider":"apns","token":"cc*","status":503,"when":"after"},
         {"provider":"apns","token":"ee*","status":404,"body":"<html></html>"}]
        """)
      let client = try rig.connect(port: rig.sandbox.ports.apns)
      func token(_ start: String) -> String { start + String(repeating: "0", count: 64 - start.count) }
      let dead = await client.send(try rig.apnsRequest(token: token("dead")))
      #expect(dead.status == 410)
      #expect(dead.body == #"{"reason":"Unregistered","timestamp":1767200000000}"#)
      let slow = await client.send(try rig.apnsRequest(token: token("bb")))
      #expect(slow.status == 429)
      #expect(slow.body == #"{"reason":"TooManyRequests"}"#)
      #expect(slow.header("retry-after") == "3")
      #expect(await client.send(try rig.apnsRequest(token: token("bb"))).status == 200)
      #expect(await client.send(try rig.apnsRequest(token: token("cc"))).body == #"{"reason":"ServiceUnavailable"}"#)
      #expect(await client.send(try rig.apnsRequest(token: token("ee"))).body == "<html></html>")
      // An invalid request gets its own refusal, whatever the rules say.
      #expect(await client.send(try rig.apnsRequest(token: "dead")).body == #"{"reason":"BadDeviceToken"}"#)
      let log = rig.sandbox.stage.log.entries()
      #expect(log.map(\.accepted) == [false, false, true, true, false, false])
      #expect(log.map(\.fault) == [.reply, .reply, nil, .reply, .reply, nil])
      #expect(rig.sandbox.stage.statistics[.apns].faults == [.reply: 4])
      client.close()
    }
  }

  @Test("GOAWAY before: the request was not processed; after: it was answered, then the connection ends")
  func goaway() async throws {
    try await SandboxRig.run { rig in
      try await rig.rules(#"[{"action":"goaway","reason":"Shutdown","times":1,"after":1}]"#)
      let client = try rig.connect(port: rig.sandbox.ports.apns)
      #expect(await client.send(try rig.apnsRequest()).status == 200)
      guard case .failed(.notProcessed) = await client.send(try rig.apnsRequest()) else {
        Issue.record("GOAWAY must leave the second request unprocessed")
        return
      }
      await client.wait { _ in false }
      #expect(client.farewell == "Shutdown")
      #expect(rig.sandbox.stage.log.entries().map(\.accepted) == [true, false])
      #expect(rig.sandbox.stage.log.entries().map(\.fault) == [nil, .goaway])

      try await rig.rules(#"[{"action":"goaway","code":1,"reason":"IdleTimeout","times":1,"when":"after"}]"#)
      let second = try rig.connect(port: rig.sandbox.ports.apns)
      #expect(await second.send(try rig.apnsRequest()).status == 200)
      await second.wait { _ in false }
      #expect(second.farewell == "IdleTimeout")
      #expect(rig.sandbox.stage.log[3]?.accepted == true)
    }
  }

  @Test("GOAWAY in the middle of many: what it denies is not in the log as accepted, and nothing is both")
  func goawayInTheMiddle() async throws {
    try await SandboxRig.run { rig in
      let client = try rig.connect(port: rig.sandbox.ports.apns)
      #expect(await client.send(try rig.apnsRequest()).status == 200)
      await client.wait { $0.streamLimit > 100 }
      try await rig.rules(#"[{"action":"goaway","times":1,"after":40}]"#)
      let first = rig.sandbox.stage.log.last
      let requests = try (0..<100).map { number in
        let text = String(number)
        return try rig.apnsRequest(token: String(repeating: "0", count: 64 - text.count) + text)
      }
      let replies = await client.sendAll(requests)
      for (number, reply) in replies.enumerated() {
        let entries = rig.sandbox.stage.log.entries(after: first).filter { Int($0.token) == number }
        switch reply {
        case .answer(let answer): #expect(entries.contains { $0.accepted } == (answer.status == 200))
        case .failed(.notProcessed): #expect(!entries.contains { $0.accepted })
        case .failed(.unknown(let why)): Issue.record("\(number) is unknown: \(why)")
        case .failed(let failure): Issue.record("\(number): \(failure)")
        }
      }
      #expect(replies.contains { $0.status == nil })
    }
  }

  @Test("resets: REFUSED_STREAM is not processed, another code after processing is unknown to the client")
  func resets() async throws {
    try await SandboxRig.run { rig in
      try await rig.rules(
        #"[{"action":"reset","code":7,"times":1},{"action":"reset","code":2,"when":"after","times":1}]"#)
      let client = try rig.connect(port: rig.sandbox.ports.apns)
      guard case .failed(.notProcessed) = await client.send(try rig.apnsRequest()),
        case .failed(.unknown) = await client.send(try rig.apnsRequest())
      else {
        Issue.record("resets were not read as such")
        return
      }
      #expect(await client.send(try rig.apnsRequest()).status == 200)
      #expect(rig.sandbox.stage.log.entries().map(\.accepted) == [false, true, true])
      #expect(rig.sandbox.stage.log.entries().map(\.status) == [0, 0, 200])
      #expect(rig.sandbox.stage.statistics[.apns].withheld == 2)
      client.close()
    }
  }

  @Test("close drops the connection; delay answers late; a stall ends")
  func closeDelayStall() async throws {
    try await SandboxRig.run { rig in
      try await rig.rules(#"[{"action":"close","when":"after","times":1}]"#)
      let first = try rig.connect(port: rig.sandbox.ports.apns)
      guard case .failed(.lost(_, beside: 0)) = await first.send(try rig.apnsRequest()) else {
        Issue.record("a closed connection leaves the outcome unknown")
        return
      }
      #expect(rig.sandbox.stage.log[1]?.accepted == true)
      #expect(rig.sandbox.stage.log[1]?.status == 0)

      try await rig.rules(#"[{"delay_ms":60,"times":1},{"action":"stall","delay_ms":60,"when":"after","times":1}]"#)
      let client = try rig.connect(port: rig.sandbox.ports.apns)
      for kind in [FaultKind.delay, .stall] {
        let start = rig.loop.now
        #expect(await client.send(try rig.apnsRequest()).status == 200)
        #expect(rig.loop.now - start >= 60)
        #expect(rig.sandbox.stage.statistics.faults(kind) == 1)
      }
      client.close()
    }
  }

  @Test("SETTINGS lowered to 1 and raised again reach the client")
  func settings() async throws {
    try await SandboxRig.run { rig in
      try await rig.rules(
        #"[{"action":"settings","streams":1,"times":1,"after":1},{"action":"settings","streams":7,"times":1,"after":1}]"#
      )
      let client = try rig.connect(port: rig.sandbox.ports.apns)
      _ = await client.send(try rig.apnsRequest())
      await client.wait { $0.streamLimit == 1000 }
      _ = await client.send(try rig.apnsRequest())
      await client.wait { $0.streamLimit == 1 }
      _ = await client.send(try rig.apnsRequest())
      await client.wait { $0.streamLimit == 7 }
      #expect(client.streamLimit == 7)
      client.close()
    }
  }
}
