import Domain
import JSON
import Support
import Testing

extension Journeys {
  @Test("a hostile or ailing APNs: nothing is lost, nothing doubled, no token pruned, and memory stays flat")
  func hostileAPNs() async throws {
    let bench = try await FaultBench()
    bench.expectAll(try await bench.meet("calm", "apns", 500, "[]"))
    let before = try bench.peakMemory()

    bench.expectAll(
      try await bench.meet(
        "SETTINGS", "apns", 600,
        #"[{"provider":"apns","action":"settings","streams":1,"after":100,"times":1},{"provider":"apns","action":"settings","streams":50,"after":150,"times":1}]"#
      ))
    #expect(try await bench.world.sandbox.faults("apns")["streams"] == 2)
    bench.expectAll(
      try await bench.meet(
        "GOAWAY", "apns", 600, #"[{"provider":"apns","action":"goaway","reason":"IdleTimeout","after":200,"times":1}]"#)
    )
    let refused = try await bench.meet(
      "REFUSED_STREAM", "apns", 600, #"[{"provider":"apns","action":"reset","code":7,"share":0.3,"times_per_token":1}]"#
    )
    bench.expectAll(refused)
    #expect(refused.log.contains { $0.fault == "reset" })

    // What ends the connection ends it for all that is at work on it: unknown, and sent again under the same id.
    for (name, rule) in [
      ("headers without end", #""action":"headers""#), ("too many headers", #""action":"headers","bytes":300000"#),
      ("bad HPACK", #""action":"hpack""#),
    ] {
      let meeting = try await bench.meet(
        name, "apns", 400, "[{\"provider\":\"apns\",\(rule),\"after\":100,\"times\":3}]")
      bench.expectAll(meeting, doubles: 400)
      #expect(meeting.log.filter { $0.fault == "headers" || $0.fault == "hpack" }.count == 3)
      let ids = Dictionary(grouping: meeting.log, by: \.token).mapValues { Set($0.map(\.id)).count }
      #expect(ids.values.allSatisfy { $0 == 1 }, "\(name): an attempt again has the id of the first")
    }

    let large = try await bench.meet(
      "1 GB of body", "apns", 50, #"[{"provider":"apns","status":200,"body_bytes":1073741824,"times":3}]"#)
    bench.expectAll(large)
    #expect(large.mostAttempts <= 1, "a status that was heard is believed, whatever follows it")

    let broken = try await bench.meet(
      "broken JSON", "apns", 20, #"[{"provider":"apns","status":500,"body":"{\"reason\":","times_per_token":1}]"#)
    bench.expectAll(broken)
    let strange = try await bench.meet("status 999", "apns", 20, #"[{"provider":"apns","status":999,"body":"?"}]"#)
    #expect(strange.states == ["failed": 20])
    #expect(strange.reasons.allSatisfy { $0.contains("999") }, "\(strange.reasons)")

    let expired = try await bench.meet(
      "JWT age", "apns", 300,
      #"[{"provider":"apns","status":403,"reason":"ExpiredProviderToken","after":50,"times":1}]"#)
    bench.expectAll(expired)
    #expect(!expired.log.contains { $0.reason == "TooManyProviderTokenUpdates" })

    #expect(try await bench.metric("fanfare_pruned_total") == 0)
    #expect(try await bench.metric("fanfare_retries_total", #"provider="apns""#) > 0)
    #expect(try await bench.metric("fanfare_attempts_total", #"verdict="blocked""#) == 0)
    let after = try bench.peakMemory()
    #expect(Sanitizer.isOn || after - before < 64, "\(before) MiB before, \(after) MiB after")
  }

  @Test("refused provider tokens: the credential waits, says why, and all is sent once the operator has acted")
  func refusedTokens() async throws {
    let bench = try await FaultBench()
    bench.expectAll(try await bench.meet("calm", "apns", 10, "[]"))
    for (name, rule, word) in [
      ("refresh rate", #""status":429,"reason":"TooManyProviderTokenUpdates""#, "TooManyProviderTokenUpdates"),
      ("clock", #""action":"expire""#, "ExpiredProviderToken"),
    ] {
      try await bench.world.sandbox.forget()
      try await bench.world.sandbox.play("[{\"provider\":\"apns\",\(rule)}]")
      let tokens = bench.fresh("apns", 100)
      let id = try await bench.send("apns", tokens, name)
      #expect(try await bench.blocked(id).contains(word))
      #expect(try await bench.gateway.client.get("/readyz").text.contains(word), "\(name)")
      #expect(try await bench.metric("fanfare_credentials_blocked") >= 1)
      try await bench.world.sandbox.play("[]")
      try await bench.restart()
      _ = try await bench.gateway.completed(id)
      let meeting = try await bench.meeting(name, id, tokens)
      bench.expectAll(meeting)
      #expect(meeting.log.contains { $0.reason == word || $0.fault == "expire" }, "\(name)")
      // What the process before said is taken back.
      try await bench.ready("\(name)")
    }
    #expect(try await bench.metric("fanfare_pruned_total") == 0)
  }

  @Test("bad handshakes of FCM: the certificate is refused and reported, slow ones are left, and then all is sent")
  func badHandshakes() async throws {
    let bench = try await FaultBench()
    try await bench.world.sandbox.play(
      #"[{"provider":"fcm","action":"certificate","certificate":"unknown_authority"}]"#)
    let tokens = bench.fresh("fcm", 50)
    let id = try await bench.send("fcm", tokens, "unknown authority")
    let deadline = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < deadline {
      if try await bench.gateway.client.get("/readyz").text.contains("certificate refused") { break }
      try await Task.sleep(for: .milliseconds(50))
    }
    #expect(try await bench.gateway.client.get("/readyz").text.contains("certificate refused"))
    // The other providers go on meanwhile.
    bench.expectAll(try await bench.meetBeside("apns", 50))
    try await bench.world.sandbox.play(
      #"[{"provider":"fcm","action":"handshake","times":1},{"provider":"fcm","action":"handshake","every_ms":50,"times":1}]"#
    )
    _ = try await bench.gateway.completed(id)
    let meeting = try await bench.meeting("handshakes", id, tokens)
    bench.expectAll(
      FaultBench.Meeting(
        name: "handshakes", tokens: tokens, deliveries: meeting.deliveries,
        log: meeting.log.filter { $0.provider == "fcm" }))
    #expect(meeting.mostAttempts <= 1, "what never left is nobody's attempt")
    let faults = try await bench.world.sandbox.faults("fcm")
    #expect(faults["handshake"] == 2)
    #expect(faults["certificate"] ?? 0 >= 3)
    try await bench.ready("handshakes")
  }

  @Test("an ailing FCM: HTML, quotas without words, expired access tokens, endless bodies")
  func ailingFCM() async throws {
    let bench = try await FaultBench()
    bench.expectAll(try await bench.meet("calm", "fcm", 100, "[]"))
    let before = try bench.peakMemory()
    bench.expectAll(
      try await bench.meet(
        "HTML 404", "fcm", 50,
        #"[{"provider":"fcm","status":404,"body":"<html><title>Error 404</title></html>","times_per_token":1}]"#))
    let quota = try await bench.meet(
      "429 without FcmError", "fcm", 200,
      #"[{"provider":"fcm","status":429,"reason":"RATE_LIMIT_EXCEEDED","retry_after":1,"after":50,"times":5}]"#)
    bench.expectAll(quota)
    #expect(quota.log.contains { $0.status == 429 })
    let expired = try await bench.meet(
      "access token", "fcm", 200, #"[{"provider":"fcm","action":"expire","after":50,"times":1}]"#)
    bench.expectAll(expired)
    #expect(expired.log.contains { $0.status == 401 })
    bench.expectAll(
      try await bench.meet(
        "1 GB of 404", "fcm", 20,
        #"[{"provider":"fcm","status":404,"body_bytes":1073741824,"times_per_token":1,"times":5}]"#
      ))
    bench.expectAll(
      try await bench.meet(
        "GOAWAY", "fcm", 300,
        #"[{"provider":"fcm","action":"goaway","reason":"exceeded_max_concurrent_streams","after":100,"times":1}]"#))
    bench.expectAll(
      try await bench.meet(
        "headers", "fcm", 200, #"[{"provider":"fcm","action":"headers","after":50,"times":2}]"#), doubles: 200)
    #expect(try await bench.metric("fanfare_pruned_total") == 0)
    let after = try bench.peakMemory()
    #expect(Sanitizer.isOn || after - before < 64, "\(before) MiB before, \(after) MiB after")
  }

  @Test("an ailing OneSignal: members that are off, answers lost after the work, endless bodies")
  func ailingOneSignal() async throws {
    let bench = try await FaultBench()
    bench.expectAll(try await bench.meet("calm", "onesignal", 50, "[]"))
    let before = try bench.peakMemory()

    let off = bench.fresh("onesignal", 1)[0]
    try await bench.world.sandbox.forget()
    try await bench.world.sandbox.play(
      #"[{"provider":"onesignal","token":"\#(off)","status":200,"reason":"invalid_player_ids"}]"#)
    let tokens = bench.fresh("onesignal", 49) + [off]
    let id = try await bench.send("onesignal", tokens, "invalid_player_ids")
    _ = try await bench.gateway.completed(id)
    let partial = try await bench.meeting("invalid_player_ids", id, tokens)
    #expect(partial.states == ["accepted": 49, "dead": 1], "\(partial.states)")
    #expect(difference(Set(partial.accepted.map(\.token)), from: tokens.filter { $0 != off }) == nil)

    // Processed, and the answer lost: the same key brings the first result back.
    let lost = try await bench.meet(
      "lost answer", "onesignal", 50, #"[{"provider":"onesignal","action":"close","when":"after","times":1}]"#)
    #expect(lost.states == ["accepted": 50], "\(lost.states)")
    let again = lost.accepted.filter(\.duplicate)
    #expect(!again.isEmpty, "the key was not used again")
    #expect(Set(lost.log.map(\.id)).count == Set(lost.accepted.filter { !$0.duplicate }.map(\.id)).count)
    #expect(Set(lost.accepted.filter { !$0.duplicate }.map(\.token)).count == 50)

    bench.expectAll(
      try await bench.meet(
        "1 GB of 503", "onesignal", 20, #"[{"provider":"onesignal","status":503,"body_bytes":1073741824,"times":2}]"#))
    bench.expectAll(
      try await bench.meet(
        "broken JSON", "onesignal", 20, #"[{"provider":"onesignal","status":500,"body":"{\"errors\":","times":1}]"#))
    bench.expectAll(
      try await bench.meet(
        "429", "onesignal", 20, #"[{"provider":"onesignal","status":429,"retry_after":1,"times":2}]"#))
    let after = try bench.peakMemory()
    #expect(Sanitizer.isOn || after - before < 64, "\(before) MiB before, \(after) MiB after")
  }
}

extension FaultBench {
  /// A send to another provider while the rules of now stay in force.
  fileprivate func meetBeside(_ provider: String, _ count: Int) async throws -> Meeting {
    let tokens = fresh(provider, count)
    let id = try await send(provider, tokens, "beside")
    _ = try await gateway.completed(id)
    var meeting = try await meeting("beside", id, tokens)
    meeting.log = meeting.log.filter { $0.provider == provider }
    return meeting
  }
}
