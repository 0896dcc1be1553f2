import Domain
import HTTP2
import JSON
import Sandbox
import Support
import Testing

@Suite(.timeLimit(.minutes(6 * Sanitizer.slowness))) struct FCMPortTests {
  @Test("a token from the endpoint opens the door; the message gets a name; the log has it")
  func accepted() async throws {
    try await SandboxRig.run { rig in
      let bearer = try await rig.bearer()
      let client = try rig.connect(port: rig.sandbox.ports.fcm)
      let reply = await client.send(rig.fcmRequest(#"{"message":{"token":"t1","data":{"k":"v"}}}"#, bearer: bearer))
      #expect(reply.status == 200)
      #expect(client.streamLimit == 100)
      let name = try #require(JSON.parse(Array((reply.body ?? "").utf8))["name"]?.string)
      #expect(name.hasPrefix("projects/demo-app/messages/0:"))
      let entry = try #require(rig.sandbox.stage.log.entries().last)
      #expect(entry.provider == .fcm)
      #expect(entry.token == "t1")
      #expect(entry.name == name)
      #expect(entry.accepted)
      // A dry run is answered and not delivered.
      let rehearsal = await client.send(
        rig.fcmRequest(#"{"validate_only":true,"message":{"token":"t1","data":{"k":"v"}}}"#, bearer: bearer))
      #expect(rehearsal.body == #"{"name":"projects/demo-app/messages/fake_message_id"}"#)
      #expect(rig.sandbox.stage.log.entries().last?.accepted == false)
      let topic = await client.send(
        rig.fcmRequest(#"{"message":{"topic":"weather","notification":{"title":"Storm"}}}"#, bearer: bearer))
      #expect(topic.status == 200)
      #expect(rig.sandbox.stage.log.entries().last?.token == "topic:weather")
      client.close()
    }
  }

  @Test("without a token, with another project, with a bad body or path")
  func refused() async throws {
    try await SandboxRig.run { rig in
      let bearer = try await rig.bearer()
      let client = try rig.connect(port: rig.sandbox.ports.fcm)
      let message = #"{"message":{"token":"t1"}}"#
      #expect(await client.send(rig.fcmRequest(message, bearer: "ya29.other")).status == 401)
      var request = rig.fcmRequest(message, bearer: bearer)
      request.path = "/v1/projects/other/messages:send"
      let denied = await client.send(request)
      #expect(denied.status == 403)
      #expect(denied.body?.contains("cloudmessaging.messages.create") == true)
      request.path = "/v1/messages:send"
      let lost = await client.send(request)
      #expect(lost.status == 404)
      #expect(lost.body?.contains("<html") == true)
      #expect(await client.send(rig.fcmRequest("{", bearer: bearer)).status == 400)
      let bad = await client.send(rig.fcmRequest(#"{"message":{"token":"t1","data":{"a":1}}}"#, bearer: bearer))
      #expect(bad.status == 400)
      #expect(bad.body?.contains("fieldViolations") == true)
      #expect(rig.sandbox.stage.log.entries().allSatisfy { !$0.accepted })
      client.close()
    }
  }

  @Test("rules on tokens and on the token endpoint")
  func rules() async throws {
    try await SandboxRig.run { rig in
      try await rig.rules(
        """
        [{"provider":"oauth","status":503,"retry_after":1,"times":1}, {"provider":"oauth","status":400,"times":1},
         {"provider":"fcm","token":"gone*","status":404}, {"provider":"fcm","token":"slow","status":503,"retry_after":30},
         {"provider":"fcm","token":"quota","status":429,"reason":"RATE_LIMIT_EXCEEDED"},
         {"provider":"fcm","token":"leave","action":"goaway","reason":"exceeded_max_concurrent_streams"}]
        """)
      let away = try await rig.accessToken()
      #expect(away.status == 503)
      #expect(away.retryAfter == 1)
      #expect(
        String(decoding: try await rig.accessToken().body, as: UTF8.self)
          == #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#)
      let bearer = try await rig.bearer()
      let client = try rig.connect(port: rig.sandbox.ports.fcm)
      func send(_ token: String) async -> VendorClient.Reply {
        await client.send(rig.fcmRequest(#"{"message":{"token":"\#(token)"}}"#, bearer: bearer))
      }
      #expect(await send("gone1").body?.contains("UNREGISTERED") == true)
      #expect(await send("slow").header("retry-after") == "30")
      let quota = await send("quota")
      #expect(quota.status == 429)
      #expect(quota.body?.contains("FcmError") == false)
      guard case .failed(.notProcessed) = await send("leave") else {
        Issue.record("GOAWAY must leave the request unprocessed")
        return
      }
      await client.wait { _ in false }
      #expect(client.farewell == "exceeded_max_concurrent_streams")
    }
  }
}
