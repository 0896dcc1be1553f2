import Domain
import Foundation
import JSON
import Support
import Testing

private func message(_ provider: String, _ number: Int, ttl: Int = 172_800) -> String {
  let token =
    switch provider {
    case "apns": Tokens.apns(number)
    case "fcm": Tokens.fcm(number)
    default: Tokens.oneSignal(number)
    }
  return
    #"{"to":{"tokens":[\#(Tokens.targets(provider, [token]))]},"kind":"alert","ttl":\#(ttl),"notification":{"body":"Hi"}}"#
}

/// What stands against a credential that little is sent by, for as long as it stands, with settings as shipped.
extension Journeys {
  private static func sendEach(_ provider: String, _ count: Int, _ gateway: Gateway) async throws -> [String] {
    var ids: [String] = []
    for number in 1...count { ids.append(try await gateway.send(message(provider, number))) }
    return ids
  }

  private static func isReady(_ gateway: Gateway) async throws -> Bool {
    try await gateway.client.get("/readyz").json["status"]?.string == "ready"
  }

  @Test(
    "three sends to a provider that fails are told for as long as it fails, and no longer", .timed,
    .enabled(if: FastClock.isAvailable))
  func fewFail() async throws {
    let clock = FastClock(speed: 60)
    let world = try await World(more: Self.patientSettings, retries: .shipped, clock: clock)
    let gateway = try await world.gateway()
    try await world.sandbox.play(#"[{"provider":"fcm","status":503,"reason":"UNAVAILABLE"}]"#)
    let ids = try await Self.sendEach("fcm", 3, gateway)
    try await gateway.until("the word for it") {
      try await $0.conditions()["credential_failing"]?.contains("UNAVAILABLE") == true
    }
    // What is told once would be forgotten after ten minutes.
    let began = clock.seconds
    var (told, missed): (Int, [String]) = (0, [])
    try await gateway.until("twenty-five minutes") {
      let page = try await $0.client.get("/readyz").text
      // On this clock a moment in which the machine does something else is a Redis that does not answer, which is told alone.
      if page.contains("credential_failing") { told += 1 } else if !page.contains("\"store_") { missed.append(page) }
      return clock.seconds > began + 1_500
    }
    #expect(
      told >= 20 && missed.isEmpty, "told \(told) times, not told \(missed.count), first in \(missed.first ?? "")")
    #expect(try await world.run(["status"], against: gateway).code == 1)
    try await world.sandbox.play("[]")
    for id in ids { _ = try await gateway.completed(id) }
    try await gateway.until("readiness") { try await Self.isReady($0) }
  }

  @Test("a Retry-After of a day beside a 503 makes the credential wait and is told, and SIGHUP lets it try at once")
  func failingAsksLong() async throws {
    let world = try await World()
    try world.installAsShipped()
    let gateway = try await world.gateway()
    for (provider, credential) in [("apns", "shop/ios"), ("fcm", "shop/android"), ("onesignal", "shop/web")] {
      try await world.sandbox.play(#"[{"provider":"\#(provider)","status":503,"retry_after":86400}]"#)
      let ids = try await Self.sendEach(provider, 4, gateway)
      try await gateway.until("the wait of \(credential)") {
        try await $0.conditions()["credential_waiting"]?.contains(credential) == true
      }
      let told = try await gateway.conditions()["credential_waiting"] ?? ""
      #expect(told.contains("the provider asks to wait until") && told.contains("next try"), "\(told)")
      #expect(try await world.run(["status"], against: gateway).code == 1)
      for id in ids {
        let report = try await gateway.client.get("/v1/messages/\(id)").json
        #expect(report["waiting_for"]?.array?.first?["not_before_at"]?.string != nil, "\(report)")
        #expect(try await gateway.deliveries(id).map { $0["state"]?.string } == ["pending"])
      }
      try await world.sandbox.play("[]")
      gateway.process.signal(SIGHUP)
      for id in ids { _ = try await gateway.completed(id) }
      try await gateway.until("readiness after \(credential)") { try await Self.isReady($0) }
    }
  }

  @Test("a Retry-After as a date is obeyed at each provider, in all three forms of RFC 9110, and told")
  func askedByDate() async throws {
    let world = try await World()
    try world.installAsShipped()
    let gateway = try await world.gateway()
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "UTC")
    for provider in ["apns", "fcm", "onesignal"] {
      for form in ["EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM dd HH:mm:ss yyyy"] {
        formatter.dateFormat = form
        let asked = Int64(Date().timeIntervalSince1970) + 86_400
        // C's asctime pads the day with a space.
        let date = formatter.string(from: Date(timeIntervalSince1970: Double(asked))).replacing(/^(\w+ \w+) 0/) {
          "\($0.1)  "
        }
        try await world.sandbox.play(#"[{"provider":"\#(provider)","status":503,"retry_after":"\#(date)"}]"#)
        let ids = try await Self.sendEach(provider, 4, gateway)
        var told: WallTime?
        try await gateway.until("the wait for \(date)") {
          let report = try await $0.client.get("/v1/messages/\(ids[0])").json
          told = report["waiting_for"]?.array?.first?["not_before_at"]?.string.flatMap { WallTime(rfc3339: $0) }
          return told != nil
        }
        let wait = try #require(told).milliseconds - asked * 1_000
        #expect(abs(wait) <= 2_000, "\(provider), \(date): \(wait) ms beside it")
        try await world.sandbox.play("[]")
        gateway.process.signal(SIGHUP)
        for id in ids { _ = try await gateway.completed(id) }
        try await gateway.until("readiness after \(date)") { try await Self.isReady($0) }
      }
    }
  }

  @Test("messages that are all refused are told, few as they are, and SIGHUP forgets it, as does a start")
  func fewRefused() async throws {
    let world = try await World()
    try world.installAsShipped()
    var gateway = try await world.gateway()
    try await world.sandbox.play(#"[{"provider":"apns","status":400,"reason":"TopicDisallowed"}]"#)
    for restarts in [false, true] {
      for id in try await Self.sendEach("apns", 8, gateway) { _ = try await gateway.completed(id) }
      try await gateway.until("the refusals") {
        try await $0.conditions()["credential_failing"]?.contains("TopicDisallowed") == true
      }
      #expect(try await world.run(["status"], against: gateway).code == 1)
      if restarts {
        gateway.process.signal(SIGTERM)
        #expect(await gateway.process.waitForExit() == 0)
        gateway = try await world.gateway()
      } else {
        gateway.process.signal(SIGHUP)
      }
      try await gateway.until("readiness") { try await Self.isReady($0) }
    }
  }

  @Test("a refused credential whose deliveries are all over is forgotten by SIGHUP and by a start, without a new send")
  func refusedAndOver() async throws {
    let world = try await World()
    try world.installAsShipped()
    var gateway = try await world.gateway()
    for restarts in [false, true] {
      try await world.sandbox.play(#"[{"provider":"fcm","status":401,"reason":"UNAUTHENTICATED"}]"#)
      let id = try await gateway.send(message("fcm", 1, ttl: 3))
      try await gateway.until("the block") { try await $0.conditions()["credential_blocked"] != nil }
      _ = try await gateway.completed(id)
      #expect(try await gateway.conditions()["credential_blocked"] != nil)
      try await world.sandbox.play("[]")
      if restarts {
        gateway.process.signal(SIGTERM)
        #expect(await gateway.process.waitForExit() == 0)
        gateway = try await world.gateway()
      } else {
        gateway.process.signal(SIGHUP)
      }
      try await gateway.until("readiness") { try await Self.isReady($0) }
      #expect(try await world.run(["status"], against: gateway).code == 0)
    }
  }

  @Test(
    "deliveries whose own retry comes while their credential waits hear of it, end with their time, and go soon after SIGHUP",
    .enabled(if: FastClock.isAvailable))
  func retriesMeetWait() async throws {
    let clock = FastClock(speed: 30)
    let world = try await World(more: Self.patientSettings, retries: .shipped, clock: clock)
    let gateway = try await world.gateway()
    let (patient, short) = (Tokens.fcm(101), Tokens.fcm(102))
    let failing = [patient, short].map { #"{"provider":"fcm","token":"\#($0)","status":503}"# }.joined(separator: ",")
    try await world.sandbox.play("[\(failing)]")
    let began = clock.seconds
    let kept = try await gateway.send(message("fcm", 101))
    let over = try await gateway.send(message("fcm", 102, ttl: 900))
    try await gateway.until("both have failed") { (_: Gateway) in
      let tokens = Set(try await world.sandbox.log().map(\.token))
      return tokens.contains(patient) && tokens.contains(short)
    }
    // Every worker thread learns of the wait, and soon nothing but the retries is left.
    try await world.sandbox.play(
      #"[\#(failing),{"provider":"fcm","status":429,"reason":"QUOTA_EXCEEDED","retry_after":86400}]"#)
    for number in 1...60 { _ = try await gateway.send(message("fcm", number, ttl: 300)) }
    try await gateway.until("the wait") {
      try await $0.conditions()["credential_waiting"]?.contains("QUOTA_EXCEEDED") == true
    }
    try await gateway.until("more than ten minutes after the others are over") { (_: Gateway) in
      clock.seconds > began + 1_400
    }
    let ended = try await gateway.deliveries(over)
    #expect(ended.map { $0["state"]?.string } == ["expired"], "\(ended)")
    #expect(ended.first?["reason"]?.string == "UNAVAILABLE", "\(ended)")
    let told = try await gateway.conditions()["credential_waiting"] ?? ""
    #expect(told.contains("QUOTA_EXCEEDED") && told.contains("next try 20"), "\(told)")
    let waiting = try await gateway.deliveries(kept)
    #expect(waiting.map { $0["state"]?.string } == ["retrying"], "\(waiting)")

    try await world.sandbox.play("[]")
    gateway.process.signal(SIGHUP)
    let hurried = clock.seconds
    _ = try await gateway.completed(kept)
    #expect(try await gateway.deliveries(kept).map { $0["state"]?.string } == ["accepted"])
    // The credential would have waited for more than half an hour.
    #expect(clock.seconds - hurried < 900, "\(clock.seconds - hurried) s")
    try await gateway.until("readiness") { try await Self.isReady($0) }
  }
}
