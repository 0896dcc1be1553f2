import Domain
import HTTP2
import HTTPClient
import JSON
import Loop
import Sandbox
import Support
import Testing

/// FCM, OneSignal and the token endpoint serve HTTP/1.1 and HTTP/2 on one port, and play the same faults in both.
@Suite(.timeLimit(.minutes(6 * Sanitizer.slowness))) struct BothVersionsTests {
  enum Port: String, CaseIterable { case fcm, onesignal, oauth }

  /// One valid request over HTTP/1.1, on a connection of its own: libcurl repeats by itself what a kept connection loses.
  private func send(_ port: Port, _ rig: SandboxRig, _ bearer: String, timeout: Int64 = 30_000) async throws
    -> ProviderAnswer
  {
    switch port {
    case .onesignal:
      return try await rig.notify(
        #""include_subscription_ids":["1dd608f2-c6a1-11e3-851d-000c2940e62c"],"contents":{"en":"x"}"#, timeout: timeout)
    case .oauth: return try await rig.accessToken(timeout: timeout)
    case .fcm:
      return try await rig.http.send(
        HTTPClientRequest(
          url: "https://localhost:\(rig.sandbox.ports.fcm)/v1/projects/demo-app/messages:send",
          headers: [
            Header("authorization", "Bearer \(bearer)"), Header("content-type", "application/json"),
            Header("connection", "close"),
          ], body: Array(#"{"message":{"token":"t1","data":{"k":"v"}}}"#.utf8), timeout: timeout))
    }
  }

  @Test("one port, both versions: the same answers and the same log")
  func versions() async throws {
    try await SandboxRig.run { rig in
      let bearer = try await rig.bearer()
      let old = try await send(.fcm, rig, bearer)
      let client = try rig.connect(port: rig.sandbox.ports.fcm)
      let new = await client.send(
        rig.fcmRequest(#"{"message":{"token":"t1","data":{"k":"v"}}}"#, bearer: bearer))
      client.close()
      #expect(old.status == 200)
      #expect(new.status == 200)
      #expect(old.header("content-type") == new.header("content-type"))
      let log = rig.sandbox.stage.log.entries().filter { $0.provider == .fcm }
      #expect(log.map(\.accepted) == [true, true])
      #expect(log[0].bodyDigest == log[1].bodyDigest)
      #expect(log[1].duplicate)

      let oneSignal = try rig.connect(port: rig.sandbox.ports.oneSignal)
      let list = #""include_subscription_ids":["1dd608f2-c6a1-11e3-851d-000c2940e62c"],"contents":{"en":"x"}"#
      let answer = await oneSignal.send(
        ProviderRequest(
          path: "/notifications",
          headers: [
            Header("authorization", "Key \(rig.sandbox.oneSignalKey)"), Header("content-type", "application/json"),
          ], body: Array(#"{"app_id":"\#(rig.sandbox.settings.oneSignalAppID)",\#(list)}"#.utf8)))
      #expect(answer.status == 200)
      oneSignal.close()
      #expect(rig.sandbox.stage.statistics[.oneSignal].connectionsOpened >= 1)
    }
  }

  @Test("faults of requests end them as the rules say, over HTTP/1.1 on every port", arguments: Port.allCases)
  func requests(_ port: Port) async throws {
    try await SandboxRig.run { rig in
      let bearer = try await rig.bearer()
      rig.sandbox.stage.log.removeAll()
      for (action, fault) in [
        (#""action":"close""#, FaultKind.close), (#""action":"reset""#, .reset), (#""action":"goaway""#, .goaway),
        (#""action":"hpack""#, .hpack), (#""action":"headers""#, .headers),
        (#""action":"headers","bytes":2000000"#, .headers), (#""action":"stall""#, .stall),
        (#""action":"stall","delay_ms":50"#, .stall),
      ] {
        try await rig.rules(#"[{"provider":"\#(port.rawValue)",\#(action),"times":1}]"#)
        let patience: Int64 = fault == .stall || action == #""action":"headers""# ? 300 : 30_000
        await #expect(throws: HTTPClientFailure.self, "\(action)") {
          try await send(port, rig, bearer, timeout: patience)
        }
        let entry = try #require(rig.sandbox.stage.log.entries().last)
        #expect(entry.fault == fault, "\(action)")
        #expect(entry.status == 0, "\(action)")
        #expect(!entry.accepted, "\(action)")
        // The next one is served.
        #expect(try await send(port, rig, bearer).status == 200, "after \(action)")
      }
      // Answers that a client takes.
      for action in [#""action":"goaway","when":"after""#, #""action":"settings","streams":1"#, #""delay_ms":20"#] {
        try await rig.rules(#"[{"provider":"\#(port.rawValue)",\#(action),"times":1}]"#)
        #expect(try await send(port, rig, bearer).status == 200, "\(action)")
      }
    }
  }

  @Test("bad certificates are refused and slow handshakes left, on every port with TLS", arguments: Port.allCases)
  func handshakes(_ port: Port) async throws {
    try await SandboxRig.run { rig in
      let bearer = try await rig.bearer()
      let provider: SandboxProvider = port == .fcm ? .fcm : port == .oauth ? .oauth : .oneSignal
      for word in ["unknown_authority", "expired", "other_host"] {
        try await rig.rules(
          #"[{"provider":"\#(port.rawValue)","action":"certificate","certificate":"\#(word)","times":1}]"#)
        let failure = await #expect(throws: HTTPClientFailure.self, "\(word)") { try await send(port, rig, bearer) }
        #expect(String(describing: failure).lowercased().contains("cert"), "\(word): \(String(describing: failure))")
      }
      try await rig.rules(#"[{"provider":"\#(port.rawValue)","action":"handshake","times":1}]"#)
      await #expect(throws: HTTPClientFailure.self) { try await send(port, rig, bearer, timeout: 300) }
      // Slow, but not too slow.
      try await rig.rules(#"[{"provider":"\#(port.rawValue)","action":"handshake","every_ms":1,"times":1}]"#)
      #expect(try await send(port, rig, bearer).status == 200)
      #expect(rig.sandbox.stage.statistics[provider].faults == [.certificate: 3, .handshake: 2])
    }
  }

  @Test("an access token expires over HTTP/1.1 as over HTTP/2")
  func expire() async throws {
    try await SandboxRig.run { rig in
      let bearer = try await rig.bearer()
      try await rig.rules(#"[{"provider":"fcm","action":"expire","times":1}]"#)
      for _ in 0..<2 { #expect(try await send(.fcm, rig, bearer).status == 401) }
      #expect(try await send(.fcm, rig, try await rig.bearer()).status == 200)
    }
  }
}
