import Domain
import HTTPClient
import JSON
import Loop
import Sandbox
import Support
import Testing

private let ids = (0..<4).map { UUIDBytes(high: 7, low: UInt64($0)).description }
private let list = #""include_subscription_ids":["\#(ids.joined(separator: "\",\""))"],"contents":{"en":"x"}"#
private let key = #""idempotency_key":"0f8a1f0e-5d0a-4c8b-8a55-8f3f5f1d2c11""#

@Suite(.timeLimit(.minutes(6 * Sanitizer.slowness))) struct OneSignalPortTests {
  private func text(_ answer: ProviderAnswer) -> String { String(decoding: answer.body, as: UTF8.self) }

  @Test("one line a member; a repeated key replays the first result and is a duplicate")
  func accepted() async throws {
    try await SandboxRig.run { rig in
      let first = try await rig.notify("\(list),\(key)")
      #expect(first.status == 200)
      let log = rig.sandbox.stage.log.entries()
      #expect(log.map(\.token) == ids)
      #expect(log.allSatisfy { $0.accepted && !$0.duplicate && $0.id.hasPrefix("0f8a") })
      let again = try await rig.notify("\(list),\(key)")
      #expect(again.body == first.body)
      #expect(again.header("idempotent-replayed") == "true")
      #expect(rig.sandbox.stage.log.entries().suffix(4).allSatisfy { $0.accepted && $0.duplicate })
      #expect(rig.sandbox.stage.statistics[.oneSignal].requests == 2)
      let legacy = try await rig.notify(
        #""include_player_ids":["\#(ids[0])"],"contents":{"en":"x"}"#, path: "/api/v1/notifications")
      #expect(legacy.status == 200)
    }
  }

  @Test("partial answers name the members that a rule picks")
  func partial() async throws {
    try await SandboxRig.run { rig in
      try await rig.rules(
        #"[{"provider":"onesignal","token":"\#(ids[1])","status":200,"reason":"invalid_player_ids"}]"#)
      let answer = try await rig.notify(list)
      #expect(text(answer).contains(#""errors":{"invalid_player_ids":["\#(ids[1])"]}"#))
      let log = rig.sandbox.stage.log.entries()
      #expect(log.map(\.accepted) == [true, false, true, true])
      #expect(log[1].reason == "invalid_player_ids")
      #expect(rig.sandbox.stage.statistics.faults(.reply) == 1)
    }
  }

  @Test("faults: 429, nobody subscribed, closed before and after, stalled, delayed")
  func faults() async throws {
    try await SandboxRig.run { rig in
      try await rig.rules(
        """
        [{"provider":"onesignal","status":429,"retry_after":12,"times":1},
         {"provider":"onesignal","status":200,"reason":"not_subscribed","times":1},
         {"provider":"onesignal","action":"close","times":1},
         {"provider":"onesignal","action":"close","when":"after","times":1},
         {"provider":"onesignal","action":"stall","times":1,"after":1},
         {"provider":"onesignal","delay_ms":60,"times":1}]
        """)
      let slow = try await rig.notify("\(list),\(key)")
      #expect(slow.status == 429)
      #expect(slow.retryAfter == 12)
      #expect(text(try await rig.notify("\(list),\(key)")).hasPrefix(#"{"id":"","errors""#))
      for _ in 0..<2 {
        await #expect(throws: HTTPClientFailure.self) { try await rig.notify("\(list),\(key)") }
      }
      // The request closed after processing was processed: its key replays. (The stall rule lets one pass, the delay plays.)
      let start = rig.loop.now
      let replay = try await rig.notify("\(list),\(key)")
      #expect(replay.header("idempotent-replayed") == "true")
      #expect(rig.loop.now - start >= 60)
      await #expect(throws: HTTPClientFailure.self) { try await rig.notify(list, timeout: 300) }
      let log = rig.sandbox.stage.log.entries().filter { $0.token == ids[0] }
      #expect(log.map(\.accepted) == [false, false, false, true, true, false])
      #expect(log.map(\.fault) == [.reply, .reply, .close, .close, .delay, .stall])
      #expect(log.map(\.status) == [429, 200, 0, 0, 200, 0])
    }
  }
}
