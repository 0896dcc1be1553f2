import Domain
import HTTP2
import Loop
import Sandbox
import Support
import Testing

private func token(_ number: Int) -> String { String(repeating: "0", count: 62) + String(number + 10) }

@Suite(.timeLimit(.minutes(6 * Sanitizer.slowness))) struct APNsCredentialTests {
  private func reason(_ reply: VendorClient.Reply) -> String {
    (reply.body ?? "\(reply)").replacing(#"{"reason":""#, with: "").replacing(#""}"#, with: "")
  }

  @Test(
    "a certificate opens its topics without a token, all streams at once; a bad one and the wrong world are told apart")
  func certificates() async throws {
    try await SandboxRig.run { rig in
      let good = try rig.connect(port: rig.sandbox.ports.apns, certificate: "apns-certificate")
      await good.wait { $0.streamLimit == 1000 }
      #expect(good.streamLimit == 1000)
      #expect(await good.send(try rig.apnsRequest(token: token(1), authorization: "bearer ignored")).status == 200)
      let voip = try rig.apnsRequest(token: token(2), topic: "com.example.app.voip", type: "voip", body: #"{"a":1}"#)
      #expect(await good.send(voip).status == 200)
      let other = await good.send(try rig.apnsRequest(token: token(3), topic: "com.example.other"))
      #expect(reason(other) == "TopicDisallowed")
      // "location: token auth only"
      let location = try rig.apnsRequest(
        token: token(4), topic: "com.example.app.location-query", type: "location", body: #"{"aps":{}}"#)
      #expect(reason(await good.send(location)) == "TopicDisallowed")
      let management = ProviderRequest(
        path: "/3/device/\(token(5))", headers: [Header("apns-push-type", "mdm")], body: Array(#"{"mdm":"magic"}"#.utf8)
      )
      #expect(reason(await good.send(management)) == "MissingTopic", "three topics: which is meant must be said")
      good.close()

      let mdm = try rig.connect(port: rig.sandbox.ports.apns, certificate: "mdm-certificate")
      #expect(await mdm.send(management).status == 200, "the only topic may be left out")
      mdm.close()
      for (name, word) in [
        ("apns-certificate-expired", "BadCertificate"), ("apns-certificate-development", "BadCertificateEnvironment"),
      ] {
        let client = try rig.connect(port: rig.sandbox.ports.apns, certificate: name)
        #expect(reason(await client.send(try rig.apnsRequest(token: token(6)))) == word)
        client.close()
      }
      let development = try rig.connect(
        port: rig.sandbox.ports.development, certificate: "apns-certificate-development")
      #expect(await development.send(try rig.apnsRequest(token: token(7))).status == 200)
      development.close()
    }
  }

  @Test("keys: of one environment, of another team, topic-specific; unrelated ones do not share a connection")
  func keys() async throws {
    try await SandboxRig.run { rig in
      func bearer(_ file: String, _ id: String, _ team: String? = nil) throws -> String {
        "bearer \(try rig.providerToken(kid: id, team: team, file: file))"
      }
      let development = try bearer("apns-development-key.p8", "DEVELOPKEY")
      let topical = try bearer("apns-topic-key.p8", "TOPICKEY01")
      let foreign = try bearer("apns-other-team-key.p8", "OTHERKEY01", "FANFARE002")
      let client = try rig.connect(port: rig.sandbox.ports.apns)
      #expect(
        reason(await client.send(try rig.apnsRequest(authorization: development))) == "BadEnvironmentKeyIdInToken")
      #expect(reason(await client.send(try rig.apnsRequest(authorization: foreign))) == "TopicDisallowed")
      let own = try rig.apnsRequest(token: token(1), authorization: foreign, topic: "com.example.other")
      #expect(await client.send(own).status == 200)
      #expect(reason(await client.send(try rig.apnsRequest())) == "UnrelatedKeyIdInToken")
      client.close()
      let second = try rig.connect(port: rig.sandbox.ports.apns)
      #expect(await second.send(try rig.apnsRequest()).status == 200)
      #expect(reason(await second.send(try rig.apnsRequest(authorization: topical))) == "UnrelatedKeyIdInToken")
      second.close()
      let third = try rig.connect(port: rig.sandbox.ports.apns)
      #expect(await third.send(try rig.apnsRequest(authorization: topical)).status == 200)
      third.close()
      let fourth = try rig.connect(port: rig.sandbox.ports.development)
      #expect(await fourth.send(try rig.apnsRequest(token: token(8), authorization: development)).status == 200)
      // A token of the other world.
      #expect(reason(await fourth.send(try rig.apnsRequest(authorization: development))) == "BadDeviceToken")
      fourth.close()
    }
  }

  @Test("a device token belongs to the topic that it was first used with")
  func tokenKinds() async throws {
    try await SandboxRig.run { rig in
      let client = try rig.connect(port: rig.sandbox.ports.apns)
      #expect(await client.send(try rig.apnsRequest()).status == 200)
      let voip = try rig.apnsRequest(topic: "com.example.app.voip", type: "voip", body: #"{"a":1}"#)
      #expect(reason(await client.send(voip)) == "DeviceTokenNotForTopic")
      let upper = try rig.apnsRequest(token: deviceToken.uppercased())
      #expect(await client.send(upper).status == 200, "hex is hex")
      #expect(rig.sandbox.stage.log.entries().map(\.accepted) == [true, false, true])
      client.close()
    }
  }

  @Test("channels: created, read, listed, broadcast to, deleted; each refusal of the table")
  func channels() async throws {
    @Sendable func twoChannels(_ settings: inout SandboxSettings) { settings.maximumChannels = 2 }
    try await SandboxRig.run(twoChannels) { rig in
      let manager = try rig.connect(port: rig.sandbox.ports.channels)
      let sender = try rig.connect(port: rig.sandbox.ports.apns)
      let app = "/1/apps/com.example.app"
      func call(_ method: String, _ path: String, _ id: String? = nil, _ body: String = "") async throws
        -> VendorClient.Reply
      {
        await manager.send(
          try rig.channelRequest(method, path, id.map { [Header("apns-channel-id", $0)] } ?? [], body: body))
      }
      func create(_ policy: Int) async throws -> VendorClient.Reply {
        try await call(
          "POST", "\(app)/channels", nil, #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#)
      }
      let made = try await create(0)
      #expect(made.status == 201 && made.body == "")
      #expect(made.header("apns-request-id").flatMap { UUIDBytes($0) } != nil)
      let id = try #require(made.header("apns-channel-id"))
      let stored = try #require(try await create(1).header("apns-channel-id"))
      #expect(reason(try await create(1)) == "CannotCreateChannelConfig")
      #expect(
        try await call("GET", "\(app)/channels", stored).body
          == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
      let all = try await call("GET", "\(app)/all-channels").body ?? ""
      #expect(all.contains(id) && all.contains(stored))
      for (method, path, channel, body, word) in [
        ("POST", "\(app)/channels", nil, "", "PayloadEmpty"),
        ("POST", "\(app)/channels", nil, "{", "BadRequestPayload"),
        ("POST", "\(app)/channels", nil, #"{"message-storage-policy":0}"#, "MissingPushType"),
        ("POST", "\(app)/channels", nil, #"{"push-type":"alert","message-storage-policy":0}"#, "InvalidPushType"),
        ("POST", "\(app)/channels", nil, #"{"push-type":"LiveActivity"}"#, "MissingChannelQueueSize"),
        ("GET", "\(app)/channels", nil, "", "MissingChannelId"), ("GET", "\(app)/channels", "?", "", "BadChannelId"),
        ("GET", "\(app)/channels", "dGVzdC1jaGFubmVs", "", "ChannelNotRegistered"),
        ("DELETE", "\(app)/channels", "dGVzdC1jaGFubmVs", "", "BadPath"),
        ("PUT", "\(app)/channels", nil, "", "MethodNotAllowed"), ("GET", "/1/apps/x", nil, "", "BadPath"),
        ("GET", "/1/apps/com.example.other/all-channels", nil, "", "TopicDisallowed"),
      ] as [(String, String, String?, String, String)] {
        #expect(reason(try await call(method, path, channel, body)) == word, "\(method) \(path) \(body)")
      }

      let update = #"{"aps":{"timestamp":1767220100,"event":"update","content-state":{"home":2,"away":2}}}"#
      func broadcast(
        _ changes: [String: String?] = [:], to channel: String? = nil,
        path: String = "/4/broadcasts/apps/com.example.app",
        _ body: String? = nil
      ) async throws -> VendorClient.Reply {
        var headers: [String: String?] = [
          "apns-channel-id": channel ?? id, "apns-push-type": "liveactivity", "apns-priority": "10",
          "apns-expiration": "0", "apns-request-id": "6a1f0b52-88a4-4b4e-9d0c-1a6f3f1f7c01",
        ]
        headers.merge(changes) { $1 }
        let fields = headers.compactMap { field in field.value.map { Header(field.key, $0) } }
        return await sender.send(try rig.channelRequest("POST", path, fields, body: body ?? update))
      }
      let sent = try await broadcast()
      #expect(sent.status == 200)
      #expect(sent.header("apns-request-id") == "6a1f0b52-88a4-4b4e-9d0c-1a6f3f1f7c01")
      #expect(rig.sandbox.stage.log.entries().last?.token == "channel:\(id)")
      #expect(try await broadcast(["apns-expiration": "1767225600"], to: stored).status == 200)
      for (changes, word) in [
        (["apns-channel-id": nil], "MissingChannelId"), (["apns-channel-id": "?"], "BadChannelId"),
        (["apns-channel-id": "dGVzdC1jaGFubmVs"], "ChannelNotRegistered"), (["apns-push-type": nil], "MissingPushType"),
        (["apns-push-type": "alert"], "InvalidPushType"), (["apns-priority": "1"], "BadPriority"),
        (["apns-expiration": "1767225600"], "BadExpirationDate"), (["apns-request-id": "x"], "BadMessageId"),
      ] as [([String: String?], String)] {
        #expect(reason(try await broadcast(changes)) == word, "\(changes)")
      }
      let start = update.replacing("update", with: "start")
      for (body, word) in [
        ("", "PayloadEmpty"), (start, "BadRequestPayload"), (#"{"aps":{"event":"update"}}"#, "BadRequestPayload"),
        (String(repeating: "x", count: 5121), "PayloadTooLarge"),
      ] {
        #expect(reason(try await broadcast(to: nil, body)) == word)
      }
      let suffixed = "/4/broadcasts/apps/com.example.app.push-type.liveactivity"
      #expect(reason(try await broadcast(path: suffixed)) == "TopicDisallowed")
      #expect(try await call("DELETE", "\(app)/channels", id).status == 204)
      #expect(reason(try await broadcast()) == "ChannelNotRegistered")

      let other = try rig.connect(port: rig.sandbox.ports.channels)
      let foreign =
        "bearer \(try rig.providerToken(kid: "OTHERKEY01", team: "FANFARE002", file: "apns-other-team-key.p8"))"
      let unable = try rig.channelRequest("GET", "/1/apps/com.example.other/all-channels", authorization: foreign)
      #expect(reason(await other.send(unable)) == "FeatureNotEnabled")
      let shown = try rig.connect(port: rig.sandbox.ports.channels, certificate: "apns-certificate")
      #expect(reason(await shown.send(unable)) == "TopicMismatch")
      for client in [manager, sender, other, shown] { client.close() }
    }
  }
}
