import Domain
import HTTP2
import Loop
import Sandbox
import Support
import Testing

/// Faults that no vendor's library could make, as the gateway's own client sees them: it gives up in time, keeps little,
/// and says why.
@Suite(.timeLimit(.minutes(6 * Sanitizer.slowness))) struct FaultPortTests {
  private func unknown(_ reply: VendorClient.Reply) -> String? {
    switch reply {
    case .failed(.unknown(let reason)), .failed(.lost(let reason, _)), .failed(.silent(let reason)): reason
    default: nil
    }
  }

  @Test("headers: too many of them fail the stream; without end, and undecodable, they end the connection")
  func headers() async throws {
    try await SandboxRig.run { rig in
      for (rule, ends) in [
        (#"{"action":"headers","bytes":60000,"times":1}"#, false), (#"{"action":"headers","times":1}"#, true),
        (#"{"action":"hpack","times":1}"#, true),
      ] {
        try await rig.rules("[\(rule)]")
        let client = try rig.connect(port: rig.sandbox.ports.apns)
        let reply = await client.send(try rig.apnsRequest())
        #expect(unknown(reply) != nil, "\(rule): \(reply)")
        if ends {
          await client.wait { _ in false }
          #expect(client.end != nil)
        } else {
          #expect(await client.send(try rig.apnsRequest()).status == 200)
        }
        client.close()
      }
      #expect(rig.sandbox.stage.log.entries().map(\.accepted) == [false, true, false, false])
      #expect(rig.sandbox.stage.statistics[.apns].faults == [.headers: 2, .hpack: 1])
    }
  }

  @Test(
    "a body of a gigabyte is cut off, over HTTP/2 and HTTP/1.1; strange statuses and broken JSON arrive as they are")
  func bodies() async throws {
    try await SandboxRig.run { rig in
      try await rig.rules(
        """
        [{"provider":"apns","status":500,"body_bytes":1073741824,"times":1},
         {"provider":"apns","status":999,"body":"{\\"reason\\":","times":1},
         {"provider":"onesignal","status":200,"body_bytes":1073741824,"times":1},
         {"provider":"onesignal","status":999,"body":"[","times":1}]
        """)
      let client = try rig.connect(port: rig.sandbox.ports.apns)
      let large = await client.send(try rig.apnsRequest())
      #expect(large.status == 500)
      #expect(large.body?.utf8.count == HTTP2Settings().maximumAnswerBody)
      let strange = await client.send(try rig.apnsRequest())
      #expect(strange.status == 999)
      #expect(strange.body == #"{"reason":"#)
      #expect(strange.header("content-type") == "application/json")
      #expect(await client.send(try rig.apnsRequest()).status == 200)
      client.close()
      let list = #""include_subscription_ids":["1dd608f2-c6a1-11e3-851d-000c2940e62c"],"contents":{"en":"x"}"#
      let whole = try await rig.notify(list)
      #expect(whole.status == 200)
      #expect(whole.body.count == 1 << 20)
      #expect(try await rig.notify(list).status == 999)
    }
  }

  @Test(
    "a certificate of an unknown authority, an expired one and another host's are refused; a slow handshake is left")
  func handshakes() async throws {
    try await SandboxRig.run { rig in
      func end(_ rule: String, timeout: Int64) async throws -> String {
        try await rig.rules("[\(rule)]")
        let client = try rig.connect(port: rig.sandbox.ports.fcm, connectTimeout: timeout)
        await client.wait { $0.openable > 0 }
        defer { client.close() }
        if case .unreachable(let reason) = client.end { return reason }
        return "\(String(describing: client.end))"
      }
      for word in ["unknown_authority", "expired", "other_host"] {
        let reason = try await end(#"{"action":"certificate","certificate":"\#(word)","times":1}"#, timeout: 10_000)
        #expect(reason.contains("certificate refused"), "\(word): \(reason)")
      }
      for rule in [#"{"action":"handshake","times":1}"#, #"{"action":"handshake","every_ms":40,"times":1}"#] {
        #expect(try await end(rule, timeout: 300).contains("connection in"))
      }
      // Slow, but not too slow.
      #expect(try await end(#"{"action":"handshake","every_ms":1,"times":1}"#, timeout: 20_000) == "nil")
      let faults = rig.sandbox.stage.statistics[.fcm].faults
      #expect(faults == [.certificate: 3, .handshake: 3])
    }
  }

  @Test("expire: the token counts as too old everywhere; a refusal as expired spoils its connection only")
  func expire() async throws {
    try await SandboxRig.run { rig in
      try await rig.rules(#"[{"provider":"apns","status":403,"reason":"ExpiredProviderToken","times":1}]"#)
      let expired = #"{"reason":"ExpiredProviderToken"}"#
      let first = try rig.connect(port: rig.sandbox.ports.apns)
      for _ in 0..<2 { #expect(await first.send(try rig.apnsRequest()).body == expired) }
      let second = try rig.connect(port: rig.sandbox.ports.apns)
      #expect(await second.send(try rig.apnsRequest()).status == 200)
      try await rig.rules(#"[{"action":"expire","times":1},{"provider":"fcm","action":"expire","times":1}]"#)
      #expect(await second.send(try rig.apnsRequest()).body == expired)
      let third = try rig.connect(port: rig.sandbox.ports.apns)
      #expect(await third.send(try rig.apnsRequest()).body == expired)
      let fourth = try rig.connect(port: rig.sandbox.ports.apns)
      let fresh = "bearer \(try rig.providerToken())"
      #expect(await fourth.send(try rig.apnsRequest(authorization: fresh)).status == 200)
      let bearer = try await rig.bearer()
      let fcm = try rig.connect(port: rig.sandbox.ports.fcm)
      let message = #"{"message":{"token":"t1","data":{"k":"v"}}}"#
      for _ in 0..<2 { #expect(await fcm.send(rig.fcmRequest(message, bearer: bearer)).status == 401) }
      #expect(await fcm.send(rig.fcmRequest(message, bearer: try await rig.bearer())).status == 200)
      for client in [first, second, third, fourth, fcm] { client.close() }
    }
  }
}
