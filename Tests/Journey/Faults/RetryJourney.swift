import Domain
import Foundation
import JSON
import Support
import Testing

/// When a delivery goes again, with nothing about retries in the configuration, by clocks that run faster: all processes of a
/// world live by one.
extension Journeys {
  /// One thing that a vendor answers to a token whatever comes, and what it asks for then.
  private struct Cause {
    var name: String
    var provider: String
    /// Members of the sandbox's rule.
    var rule: String
    /// Seconds between the first request and the second, the second and the third, the third and the fourth.
    var waits: [ClosedRange<Double>]
    /// Of APNs: its second credential.
    var inSandbox = false

    init(_ provider: String, _ name: String, _ rule: String, _ waits: [ClosedRange<Double>], inSandbox: Bool = false) {
      self.name = name
      self.provider = provider
      self.rule = rule
      self.waits = waits
      self.inSandbox = inSandbox
    }
  }

  /// The first wait and its doubles, each with the half that chance may add.
  private static func doubling(_ first: Double) -> [ClosedRange<Double>] {
    [first...1.5 * first, 2 * first...3 * first, 4 * first...6 * first]
  }
  private static let atOnce = 0.0...0.0

  private static let short = [
    Cause(
      "apns", "TooManyRequests", #""status":429,"reason":"TooManyRequests""#, [30...60, 60...120, 120...240]),
    Cause("apns", "connection lost", #""action":"close""#, [atOnce, 1...3, 2...6]),
    Cause(
      "apns", "TooManyProviderTokenUpdates", #""status":429,"reason":"TooManyProviderTokenUpdates""#,
      [60...90, 60...180, 60...360], inSandbox: true),
    Cause("fcm", "quota", #""status":429,"reason":"RATE_LIMIT_EXCEEDED""#, [60...90, 120...180, 240...360]),
    Cause("onesignal", "503", #""status":503"#, doubling(2)),
  ]

  private static let long = [
    Cause("apns", "500", #""status":500,"reason":"InternalServerError""#, doubling(900)),
    Cause("apns", "503", #""status":503,"reason":"ServiceUnavailable""#, doubling(900)),
    Cause("apns", "Shutdown", #""status":503,"reason":"Shutdown""#, [atOnce, 900...1_350, 1_800...2_700]),
    Cause("fcm", "500", #""status":500"#, doubling(10)),
    Cause("fcm", "503 with Retry-After", #""status":503,"retry_after":300"#, [300...450, 300...450, 300...450]),
    Cause("fcm", "connection lost", #""action":"close""#, doubling(10)),
    Cause("onesignal", "no answer", #""action":"stall""#, [100...150, 100...300, 100...600]),
    Cause("onesignal", "connection lost", #""action":"close""#, [100...150, 100...300, 100...600]),
    Cause("onesignal", "500", #""status":500"#, [100...150, 100...300, 100...600]),
  ]

  /// What a machine under load may add to a wait, in seconds of its own time.
  private static let delay = 4.0

  @Test(
    "on shipped defaults each cause waits as its vendor asks, and no request goes out beside the attempts", .timed,
    .enabled(if: FastClock.isAvailable))
  func shippedWaits() async throws {
    async let long: Void = Self.measure(Self.long, speed: 60)
    async let short: Void = Self.measure(Self.short, speed: 8)
    _ = try await (long, short)
  }

  @Test(
    "a vendor that is away for most of an hour costs no message with a day to live, few as they are", .timed,
    .enabled(if: FastClock.isAvailable))
  func vendorAway() async throws {
    let clock = FastClock(speed: 60)
    let world = try await World(more: Self.patientSettings, retries: .shipped, clock: clock)
    let gateway = try await world.gateway()
    // Too few for the breaker, so that each costs its delivery an attempt.
    let ailments = [
      ("apns", #""status":429,"reason":"TooManyRequests""#), ("apns", #""action":"close""#),
      ("onesignal", #""status":503"#), ("onesignal", #""action":"close""#), ("fcm", #""status":503"#),
    ]
    let tokens = ailments.enumerated().map { Self.token($1.0, $0 + 1) }
    try await world.sandbox.play(
      "[" + zip(ailments, tokens).map { #"{"provider":"\#($0.0)","token":"\#($1)",\#($0.1)}"# }.joined(separator: ",")
        + "]")
    var ids: [String] = []
    for (ailment, token) in zip(ailments, tokens) {
      ids.append(try await gateway.send(Self.message(ailment.0, token)))
      _ = try await Self.requests(world, to: token, atLeast: 1, within: Gateway.patience)
    }
    // Ten attempts were over after nine minutes at most.
    try await gateway.until("most of an hour") { (_: Gateway) in clock.seconds > 2_700 }
    for id in ids { #expect(try await gateway.deliveries(id).map { $0["state"]?.string } == ["retrying"]) }
    try await world.sandbox.play("[]")
    for (place, id) in ids.enumerated() {
      _ = try await gateway.completed(id)
      let delivery = try #require(try await gateway.deliveries(id).first)
      #expect(delivery["state"]?.string == "accepted", "\(ailments[place]): \(delivery)")
      let sent = try await world.sandbox.log().filter { $0.token == tokens[place] }
      #expect(sent.count(where: \.accepted) == 1)
      let told = (delivery["attempts"]?.array?.count ?? 0) + Int(delivery["attempts_omitted"]?.integer ?? 0)
      #expect(told == sent.count, "\(ailments[place]): \(told) attempts on record, \(sent.count) requests")
    }
  }

  @Test(
    "what ends without success says what ended it: its time, the vendor's sixty minutes, or the operator's attempts",
    .timed,
    .enabled(if: FastClock.isAvailable))
  func ends() async throws {
    let clock = FastClock(speed: 60)
    let world = try await World(
      more: Self.patientSettings + #"retry: { onesignal: { attempts: 3 } },"#, retries: .shipped, clock: clock)
    let gateway = try await world.gateway()
    let faults = ["apns", "fcm", "onesignal"].map { #"{"provider":"\#($0)","status":503}"# }
    try await world.sandbox.play("[\(faults.joined(separator: ","))]")
    func end(_ provider: String, ttl: Int) async throws -> (state: String?, reason: String?, lastedSeconds: Double) {
      let token = Self.token(provider, ttl)
      let id = try await gateway.send(Self.message(provider, token, ttl: ttl))
      _ = try await gateway.completed(id)
      let delivery = try #require(try await gateway.deliveries(id).first)
      let times = try await world.sandbox.log().filter { $0.token == token }.map(\.time)
      return (
        delivery["state"]?.string, delivery["reason"]?.string, Double((times.max() ?? 0) - (times.min() ?? 0)) / 1_000
      )
    }
    async let fcm = end("fcm", ttl: 86_400)
    async let apns = end("apns", ttl: 1_500)
    async let oneSignal = end("onesignal", ttl: 86_400)
    let (window, time, attempts) = try await (fcm, apns, oneSignal)
    #expect(window.state == "failed" && window.reason == "given_up: UNAVAILABLE", "\(window)")
    // It was tried until then.
    #expect(window.lastedSeconds > 3_000 && window.lastedSeconds < 3_600 + 60, "\(window)")
    #expect(time.state == "expired" && time.reason == "ServiceUnavailable", "\(time)")
    #expect(time.lastedSeconds >= 900 && time.lastedSeconds < 1_500 + 60, "\(time)")
    #expect(attempts.state == "failed" && attempts.reason?.hasPrefix("attempts_exhausted: ") == true, "\(attempts)")
  }

  @Test(
    "FCM's sixty minutes do not begin with a wait of the credential, be it a long Retry-After or a refused credential",
    .timed,
    .enabled(if: FastClock.isAvailable))
  func credentialWaits() async throws {
    async let asked: Void = Self.outlastWait(
      #""status":429,"reason":"RATE_LIMIT_EXCEEDED","retry_after":4800"#)
    async let refused: Void = Self.outlastWait(#""status":401,"reason":"UNAUTHENTICATED""#)
    _ = try await (asked, refused)
  }

  /// For more than an hour FCM takes nothing of the credential; then it does.
  private static func outlastWait(_ rule: String) async throws {
    let clock = FastClock(speed: 60)
    let world = try await World(more: patientSettings, retries: .shipped, clock: clock)
    let gateway = try await world.gateway()
    try await world.sandbox.play(#"[{"provider":"fcm",\#(rule)}]"#)
    let token = token("fcm", 1)
    let id = try await gateway.send(message("fcm", token))
    let met = try await requests(world, to: token, atLeast: 1, within: Gateway.patience)
    #expect(!met.isEmpty, "\(rule): no request of this delivery met the fault")
    let began = clock.seconds
    try await gateway.until("more than an hour") { (_: Gateway) in clock.seconds > began + 3_900 }
    let waiting = try await gateway.deliveries(id)
    #expect(waiting.allSatisfy { ["pending", "blocked"].contains($0["state"]?.string) }, "\(rule): \(waiting)")
    try await world.sandbox.play("[]")
    gateway.process.signal(SIGHUP)
    _ = try await gateway.completed(id)
    let ended = try await gateway.deliveries(id)
    #expect(ended.map { $0["state"]?.string } == ["accepted"], "\(rule): \(ended)")
  }

  @Test(
    "a retry that came due while its credential waited for a day goes out soon after SIGHUP, not an hour later",
    .timed,
    .enabled(if: FastClock.isAvailable))
  func postponed() async throws {
    let clock = FastClock(speed: 60)
    let world = try await World(more: Self.patientSettings, retries: .shipped, clock: clock)
    let gateway = try await world.gateway()
    let (first, second) = (Self.token("fcm", 1), Self.token("fcm", 2))
    let fault = #"{"provider":"fcm","token":"\#(first)","status":503}"#
    try await world.sandbox.play("[\(fault)]")
    let retried = try await gateway.send(Self.message("fcm", first))
    _ = try await Self.requests(world, to: first, atLeast: 1, within: Gateway.patience)
    // The other one meets it: the first may be tried again at any time.
    try await world.sandbox.play(#"[\#(fault),{"provider":"fcm","status":429,"retry_after":86400}]"#)
    let waiting = try await gateway.send(Self.message("fcm", second))
    #expect(!(try await Self.requests(world, to: second, atLeast: 1, within: Gateway.patience)).isEmpty)
    let began = clock.seconds
    // Its own retry comes due meanwhile.
    try await gateway.until("ten minutes") { (_: Gateway) in clock.seconds > began + 600 }
    try await world.sandbox.play("[]")
    gateway.process.signal(SIGHUP)
    let hungUp = clock.seconds
    for id in [waiting, retried] { _ = try await gateway.completed(id) }
    for id in [waiting, retried] {
      let ended = try await gateway.deliveries(id)
      #expect(ended.map { $0["state"]?.string } == ["accepted"], "\(ended)")
    }
    #expect(clock.seconds < hungUp + 1_200, "\(clock.seconds - hungUp) s after SIGHUP")
  }

  @Test(
    "a connection opened shortly before the provider token is renewed does not see the next one: no send is refused for it",
    .timed, .enabled(if: FastClock.isAvailable))
  func renewed() async throws {
    let clock = FastClock(speed: 60)
    let world = try await World(more: Self.patientSettings, retries: .shipped, clock: clock)
    let gateway = try await world.gateway()
    _ = try await gateway.completed(try await gateway.send(Self.message("apns", Self.token("apns", 1))))
    let began = clock.seconds
    try await gateway.until("forty minutes") { (_: Gateway) in clock.seconds > began + 2_400 }
    // The next connection begins with a token that has ten minutes to go.
    try await world.sandbox.play(#"[{"provider":"apns","action":"goaway","times":1}]"#)
    for number in 2...3 {
      _ = try await gateway.completed(try await gateway.send(Self.message("apns", Self.token("apns", number))))
    }
    try await world.sandbox.play("[]")
    try await gateway.until("the end of its time") { (_: Gateway) in clock.seconds > began + 3_100 }
    for number in 4...6 {
      _ = try await gateway.completed(try await gateway.send(Self.message("apns", Self.token("apns", number))))
    }
    let log = try await world.sandbox.log()
    #expect(!log.contains { $0.status == 429 }, "\(log.map { "\($0.time) \($0.token) \($0.status)" })")
  }

  /// Timeouts and leases are long, as a moment of this machine is many of that time.
  static let patientSettings = """
    workers: { lease: "300s" },
    http2: { connect_timeout: "600s", answer_timeout: "600s", ping_timeout: "600s" },
    """

  private static func measure(_ causes: [Cause], speed: Int) async throws {
    let world = try await World(more: patientSettings, retries: .shipped, clock: FastClock(speed: speed))
    let gateway = try await world.gateway()
    let tokens = causes.enumerated().map { token($1.provider, $0 + 1) }
    try await world.sandbox.play(
      "["
        + zip(causes, tokens).map { #"{"provider":"\#($0.provider)","token":"\#($1)",\#($0.rule)}"# }
        .joined(separator: ",") + "]")
    for (cause, token) in zip(causes, tokens) {
      _ = try await gateway.send(message(cause.provider, token, inSandbox: cause.inSandbox))
      // One after the other: what breaks a connection meets no other request on it.
      _ = try await requests(world, to: token, atLeast: 1, within: Gateway.patience)
    }
    for (place, cause) in causes.enumerated() {
      let most = cause.waits.reduce(0) { $0 + $1.upperBound }
      let met = try await requests(
        world, to: tokens[place], atLeast: 4, within: most / Double(speed) + Gateway.patience)
      let waits = zip(met.dropFirst(), met).map { Double($0.time - $1.time) / 1_000 }
      let told = waits.map { String(format: "%.1f", $0) }.joined(separator: ", ")
      print("\(cause.provider) \(cause.name): \(told)")
      #expect(waits.count >= 3, "\(cause.provider) \(cause.name): only \(told)")
      for (wait, asked) in zip(waits, cause.waits) {
        // The sandbox has whole milliseconds, and so have timers.
        #expect(wait >= asked.lowerBound - 0.1, "\(cause.provider) \(cause.name): \(told)")
        #expect(
          wait <= asked.upperBound + delay * Double(speed), "\(cause.provider) \(cause.name): \(told)")
      }
      #expect(Set(met.map(\.id)).count == 1, "\(cause.provider) \(cause.name): not the same id")
    }
  }

  /// What the sandbox has of a token, once that is so much, or time is up.
  private static func requests(
    _ world: World, to token: String, atLeast count: Int, within seconds: Double
  ) async throws -> [Sandbox.Entry] {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while true {
      let found = try await world.sandbox.log().filter { $0.token == token }
      if found.count >= count || ContinuousClock.now > deadline { return found }
      try await Task.sleep(for: .milliseconds(200))
    }
  }

  private static func token(_ provider: String, _ number: Int) -> String {
    switch provider {
    case "apns": Tokens.apns(number)
    case "fcm": Tokens.fcm(number)
    default: Tokens.oneSignal(number)
    }
  }

  private static func message(
    _ provider: String, _ token: String, inSandbox: Bool = false, ttl: Int = 86_400
  ) -> String {
    """
    {"to":{"tokens":[{"provider":"\(provider)","token":"\(token)"\(inSandbox ? #","environment":"sandbox""# : "")}]},\
    "kind":"alert","ttl":\(ttl),"notification":{"body":"Hi"}}
    """
  }
}
