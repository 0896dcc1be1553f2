import Domain
import Foundation
import JSON
import Support
import Testing

/// Messages whose request does harm, between others of the same credential, with nothing about it in the configuration.
extension Journeys {
  enum Poison: String, CaseIterable {
    case close
    case reset
    case silence
    case fault = "500"

    /// Members of the sandbox's rule.
    var rule: String {
      switch self {
      case .close: #""action":"close""#
      case .reset: #""action":"reset","code":2"#
      // Longer than anybody waits.
      case .silence: #""status":500,"delay_ms":3600000"#
      case .fault: #""status":500,"reason":"InternalServerError""#
      }
    }

    /// What its deliveries end with.
    var reason: String {
      switch self {
      case .close: "the connection ended while this request was at work alone"
      case .reset: "the stream was reset"
      case .silence: "no answer in 30000 ms"
      case .fault: "InternalServerError"
      }
    }
  }

  /// The 60 meet a credential that has no connection yet.
  private static let counts = [60, 10, 1]
  /// Healthy sends beside each, and milliseconds between them.
  private static let healthy = (count: 120, every: 30)
  private static let allowed = 2.0
  /// Glob of the sandbox' rule; no healthy token meets it.
  private static let glob = "*dead*"

  /// Each in a world of its own, side by side: most of their time is waiting.
  @Test(
    "1, 10 and 60 messages that end their connection or stream, get no answer or a 500, cost others no two seconds",
    .timed)
  func poison() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for poison in Poison.allCases { group.addTask { try await Self.meet(poison, at: "apns", Self.counts) } }
      try await group.waitForAll()
    }
  }

  /// Both at once, as each of them takes its time.
  @Test(
    "60 sends with a day's time that are never answered cost others no two seconds when they time out and after that",
    .timed)
  func silentForLong() async throws {
    async let beside: Void = Self.outlast(from: 0, seconds: 75)
    // Nothing else was answered when these time out: the credential waits, and they are its first probes.
    async let behind: Void = Self.outlast(from: 33, seconds: 15)
    // Nothing was ever answered, and some of these time out while others go.
    async let cold: Void = Self.outlast(from: 40, seconds: 20, isCold: true)
    _ = try await (beside, behind, cold)
  }

  /// Every poisoned one of them waits for an answer when the first healthy one comes, or stands before it in the queue.
  @Test(
    "60 sends that are never answered, before all others of a credential that has had no answer yet, cost those no two seconds",
    .timed,
    arguments: ["apns", "fcm"])
  func cold(_ provider: String) async throws {
    let world = try await World(retries: .shipped)
    try await world.sandbox.play("[{\"provider\":\"\(provider)\",\"token\":\"\(Self.glob)\",\(Poison.silence.rule)}]")
    let gateway = try await world.gateway()
    let poisoned = (0..<60).map { Self.token(provider, $0, isPoisoned: true) }
    _ = try await Self.send(poisoned, ttl: 86_400, beside: [], of: provider, to: gateway)
    try await gateway.until("twenty requests without an answer") { (_: Gateway) in
      try await world.sandbox.log().count { $0.fault != nil } >= 20
    }
    let others = (0..<Self.healthy.count).map { Self.token(provider, 1_000_000 + $0) }
    let (_, sentAt) = try await Self.send([], beside: others, of: provider, to: gateway)
    let accepted = try await Self.accepted(others, in: world, gateway)
    let waits = others.map { Double(max(0, (accepted[$0] ?? .max) - (sentAt[$0]?.at ?? 0))) / 1_000 }.sorted()
    try Self.judge(waits, "60 × silence at \(provider), nothing answered before", gateway)
    // At most two connections a second, and each of them until its request times out.
    #expect(try await world.sandbox.statistic(provider, "connections_opened") <= 64)
  }

  /// A healthy send each second, from so many seconds after the poisoned ones on.
  private static func outlast(from start: Int, seconds: Int, isCold: Bool = false) async throws {
    let world = try await World(retries: .shipped)
    try await world.sandbox.play("[{\"provider\":\"apns\",\"token\":\"\(glob)\",\(Poison.silence.rule)}]")
    let gateway = try await world.gateway()
    func send(_ token: String) async throws {
      _ = try await gateway.send(
        """
        {"to":{"tokens":[{"provider":"apns","token":"\(token)"}]},"kind":"alert","ttl":86400,\
        "notification":{"body":"Hi"}}
        """)
    }
    // Its connection has shown itself to be of use.
    if !isCold {
      let first = token("apns", 999)
      try await send(first)
      _ = try await accepted([first], in: world, gateway)
    }
    let began = ContinuousClock.now
    for number in 0..<60 { try await send(token("apns", number, isPoisoned: true)) }
    var sentAt: [String: Int64] = [:]
    for number in 0..<seconds {
      try await Task.sleep(until: began + .seconds(start + number))
      let token = token("apns", 1_000 + number)
      sentAt[token] = Int64(Date().timeIntervalSince1970 * 1_000)
      try await send(token)
    }
    let accepted = try await accepted(sentAt.keys, in: world, gateway)
    let waits = sentAt.map { Double(max(0, (accepted[$0.key] ?? .max) - $0.value)) / 1_000 }.sorted()
    let name = "60 × silence, healthy from \(start) s\(isCold ? ", nothing answered before" : "")"
    try judge(waits, name, gateway)
  }

  /// When each of these was accepted: all of them are, whatever the time.
  private static func accepted(
    _ tokens: some Collection<String>, in world: World, _ gateway: Gateway
  ) async throws -> [String: Int64] {
    var accepted: [String: Int64] = [:]
    try await gateway.until("the healthy ones") { (_: Gateway) in
      accepted = try await world.sandbox.log().filter { $0.accepted && !$0.duplicate }
        .reduce(into: [:]) { $0[$1.token] = min($0[$1.token] ?? .max, $1.time) }
      return tokens.allSatisfy { accepted[$0] != nil }
    }
    return accepted
  }

  /// One of a hundred may take longer than others.
  private static func judge(_ waits: [Double], _ name: String, _ gateway: Gateway) throws {
    let figures = [waits[waits.count / 2], waits[waits.count - 1 - waits.count / 100], waits[waits.count - 1]]
    let told = figures.map { String(format: "%.3f", $0) }
    print("\(name): healthy p50 \(told[0]) s, p99 \(told[1]) s, most \(told[2]) s")
    #expect(
      figures[1] <= allowed * Double(Sanitizer.slowness), "\(name): \(told)\n\(gateway.process.text.suffix(2_000))")
  }

  @Test(
    "the same holds for FCM and OneSignal; at FCM who was at work when a connection ended waits the ten seconds it asks for",
    .timed,
    arguments: ["fcm", "onesignal"], [Poison.close, .silence, .fault])
  func poisonElsewhere(_ provider: String, _ poison: Poison) async throws {
    try await Self.meet(poison, at: provider, [60])
  }

  private static func meet(_ poison: Poison, at provider: String, _ counts: [Int]) async throws {
    let world = try await World(retries: .shipped)
    try await world.sandbox.play("[{\"provider\":\"\(provider)\",\"token\":\"\(glob)\",\(poison.rule)}]")
    let gateway = try await world.gateway()
    for (place, count) in counts.enumerated() {
      let name = "\(count) × \(poison.rawValue) at \(provider)"
      let poisoned = (0..<count).map { token(provider, place * 100 + $0, isPoisoned: true) }
      let others = (0..<healthy.count).map { token(provider, 1_000_000 + place * 1_000 + $0) }
      let (sick, sentAt) = try await send(poisoned, beside: others, of: provider, to: gateway)
      let accepted = try await accepted(others, in: world, gateway)
      let neighbours = try await neighbours(poison, provider, others, sentAt.mapValues(\.id), gateway)
      let waits = others.filter { !neighbours.contains($0) }
        .map { Double(max(0, (accepted[$0] ?? .max) - (sentAt[$0]?.at ?? 0))) / 1_000 }.sorted()
      // Of 60 connections that end, some have another one at work; the more, the slower the machine.
      #expect(neighbours.count <= others.count / 4, "\(name)")
      try judge(waits, "\(name), neighbours \(neighbours.count)", gateway)
      guard provider == "apns", count < 60, poison != .silence else { continue }
      for id in sick {
        _ = try await gateway.completed(id)
        let delivery = try #require(try await gateway.deliveries(id).first)
        #expect(["expired", "failed"].contains(delivery["state"]?.string ?? ""), "\(delivery)")
        #expect(delivery["reason"]?.string?.hasPrefix(poison.reason) == true, "\(name): \(delivery)")
        // Ever more rarely: at once, then after 1 s and twice as long each time.
        #expect((delivery["attempts"]?.array?.count ?? 0) <= 6, "\(delivery)")
      }
    }
  }

  /// Those that FCM's rule holds up: it wants ten seconds after a request that nobody answered.
  private static func neighbours(
    _ poison: Poison, _ provider: String, _ others: [String], _ ids: [String: String], _ gateway: Gateway
  ) async throws -> Set<String> {
    guard provider == "fcm", poison == .close else { return [] }
    var found: Set<String> = []
    for token in others {
      let id = try #require(ids[token])
      _ = try await gateway.completed(id)
      let attempts = try await gateway.deliveries(id).first?["attempts"]?.array ?? []
      if attempts.first?["reason"]?.string?.hasPrefix("the connection ended while this request was at work") == true {
        found.insert(token)
      }
    }
    return found
  }

  private static func token(_ provider: String, _ number: Int, isPoisoned: Bool = false) -> String {
    let token =
      switch provider {
      case "apns": Tokens.apns(number)
      case "fcm": Tokens.fcm(number)
      default: Tokens.oneSignal(number)
      }
    guard isPoisoned else { return token }
    switch provider {
    case "apns": return "dead" + token.dropFirst(4)
    case "fcm": return "dead-" + token
    default: return token.replacing("-c6a1-", with: "-dead-")
    }
  }

  /// Messages to the poisoned tokens at once, and to the others one after the other; the ids of the first, and when the others were
  /// accepted.
  private static func send(
    _ poisoned: [String], ttl: Int = 8, beside others: [String], of provider: String, to gateway: Gateway
  ) async throws -> (ids: [String], sentAt: [String: (id: String, at: Int64)]) {
    try await withThrowingTaskGroup(of: (token: String, id: String, at: Int64).self) { group in
      func add(_ token: String, ttl: Int) {
        group.addTask {
          let id = try await gateway.send(
            """
            {"to":{"tokens":[{"provider":"\(provider)","token":"\(token)"}]},"kind":"alert","ttl":\(ttl),\
            "notification":{"body":"Hi"}}
            """)
          return (token, id, Int64(Date().timeIntervalSince1970 * 1_000))
        }
      }
      for token in poisoned { add(token, ttl: ttl) }
      for token in others {
        add(token, ttl: 86_400)
        try await Task.sleep(for: .milliseconds(healthy.every))
      }
      let sick = Set(poisoned)
      var (ids, sentAt) = ([String](), [String: (id: String, at: Int64)]())
      for try await sent in group {
        if sick.contains(sent.token) { ids.append(sent.id) } else { sentAt[sent.token] = (sent.id, sent.at) }
      }
      return (ids, sentAt)
    }
  }
}
