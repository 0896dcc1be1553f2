import Domain
import GatewayClient
import HTTPClient
import JSON
import Loop

/// How far the load has come, as the main thread may know it.
struct ChaosProgress: Sendable {
  var sent = 0
  var ended = 0
  var isOver = false
  var failure: String?
}

/// Clients of the gateway: direct sends in order, lists, audiences. Each repeats a send with its idempotency key until it is
/// accepted, as a client should. Belongs to its loop.
final class ChaosLoad {
  private let loop: EventLoop
  private let gateway: Client
  private let wanted: Int
  private let report: (ChaosProgress) -> Void
  private var progress = ChaosProgress()
  private var number = 0
  private var open: [Int: ChaosSend] = [:]
  private(set) var sends: [ChaosSend] = []
  private var mayEnd = false
  private var helpers = 0
  /// Messages that begin from now on count as accepted when a replica has them.
  var asksReplicas = false
  /// Messages on their way that began before that.
  private(set) var unconfirmed = 0
  /// Requests that the gateway did not take at once: 503, 409, or nobody there.
  private(set) var repeats = 0

  let registered: [Population.Member]
  /// Tokens of lists and of ordered sends, as `provider token`.
  private let listed: [String]
  private let ordered: [String]

  private let began: Instant
  /// Deliveries a second: so spread, faults meet all of them.
  private let pace: Int64
  private static let leastPace = 300
  /// Seconds over which the deliveries are spread.
  private static let spread = 30

  /// Deliveries that may be under way: what is beyond waits for them.
  private static let ahead = 20_000
  private static let listSize = 500
  private static let orderedTokens = 64
  /// Milliseconds until a send is repeated.
  private static let again: Int64 = 100
  /// Milliseconds in which a send must be accepted at last, and a message end after the last fault.
  private static let patience: Int64 = 120_000

  init(loop: EventLoop, gateway: Client, deliveries: Int, report: @escaping (ChaosProgress) -> Void) {
    self.loop = loop
    self.gateway = gateway
    self.report = report
    wanted = deliveries
    began = loop.now
    pace = Int64(max(Self.leastPace, deliveries / Self.spread))
    let devices = max(200, min(5_000, deliveries / 20))
    // All alive: no rule speaks of the demo's marks.
    registered = Population(apns: devices / 2, fcm: devices * 2 / 5, oneSignal: devices / 10).members
    listed = (0..<2_000).map { Self.token($0, "aa") }
    ordered = (0..<Self.orderedTokens).map { Self.token($0, "cc") }
  }

  private static func token(_ number: Int, _ mark: String) -> String {
    let text = String(number, radix: 16)
    let hex = mark + String(repeating: "0", count: 62 - text.count) + text
    return number % 2 == 0 ? "apns \(hex)" : "fcm \(hex)"
  }

  var everyone: [String] { registered.map { "\($0.provider.rawValue) \($0.token)" } }

  // MARK: Life

  /// Sends until as many deliveries as wanted are accepted and `finish` was called, then waits for their end.
  func run() async {
    do {
      try await register()
      for place in 0..<8 { start { try await self.sendInOrder(place) } }
      start { try await self.sendLists() }
      start { try await self.sendToAll() }
      start { try await self.watch() }
      while helpers > 0 { await loop.sleep(milliseconds: 50) }
    } catch {
      fail(error)
    }
    progress.isOver = true
    report(progress)
  }

  /// No more faults will come: the load may end.
  func finish() { mayEnd = true }

  private func start(_ body: @escaping () async throws -> Void) {
    helpers += 1
    loop.spawn {
      do { try await body() } catch { self.fail(error) }
      self.helpers -= 1
    }
  }

  private func fail(_ error: any Error) {
    let reason = (error as? Campaign.Failure)?.reason ?? "\(error)"
    progress.failure = progress.failure ?? reason
    report(progress)
  }

  private var goesOn: Bool { progress.failure == nil && !(mayEnd && progress.sent >= wanted) }

  /// Shares: 15 % in order, 45 % lists, 40 % audiences; each waits for its own and for the room.
  private func turn(_ kind: Int, share: Int, size: Int) async -> Bool {
    while goesOn {
      let due = (loop.now - began) * pace / 1_000
      let total = sentBy.reduce(0, +)
      let isBehind = sentBy[kind] * 100 <= share * (total + size)
      if progress.sent - progress.ended + size <= Self.ahead, isBehind, Int64(total) <= due { break }
      await loop.sleep(milliseconds: 5)
    }
    sentBy[kind] += size
    return goesOn
  }
  private var sentBy = [0, 0, 0]

  // MARK: Sending

  private func register() async throws {
    var body: [UInt8] = []
    for member in registered {
      var line = Array("{\"id\":\"\(member.id)\",".utf8)
      line += Population.registration(member).dropFirst()
      body += line + [UInt8(ascii: "\n")]
    }
    let answer = try await gateway.call("POST", "/v1/devices/bulk", body, type: "application/x-ndjson")
    let refused = answer.body.split(separator: UInt8(ascii: "\n")).first {
      String(decoding: $0, as: UTF8.self).contains("\"problem\"")
    }
    guard answer.isSuccess, refused == nil else {
      throw Campaign.Failure(
        reason: "devices were refused: \(refused.map { String(decoding: $0, as: UTF8.self) } ?? answer.problem)")
    }
  }

  private func sendInOrder(_ place: Int) async throws {
    var turnNumber = place
    while await turn(0, share: 15, size: 1) {
      let token = ordered[turnNumber % ordered.count]
      turnNumber += 8
      try await send(.ordered(token), targets: [token])
    }
  }

  private func sendLists() async throws {
    var from = 0
    while await turn(1, share: 45, size: Self.listSize) {
      let tokens = (from..<from + Self.listSize).map { listed[$0 % listed.count] }
      from += Self.listSize / 2 + 1
      try await send(.list(tokens), targets: tokens)
    }
  }

  private func sendToAll() async throws {
    while await turn(2, share: 40, size: registered.count) { try await send(.everyone, targets: nil) }
  }

  private func send(_ aim: ChaosSend.Aim, targets: [String]?) async throws {
    number += 1
    let mine = number
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("to")
    writer.beginObject()
    if let targets {
      writer.key("tokens")
      writer.beginArray()
      for target in targets {
        let words = target.split(separator: " ", maxSplits: 1)
        writer.beginObject()
        writer.member("provider", String(words[0]))
        writer.member("token", String(words[1]))
        writer.endObject()
      }
      writer.endArray()
    } else {
      writer.member("everyone", true)
    }
    writer.endObject()
    writer.key("notification")
    writer.beginObject()
    writer.member("body", "Number \(mine)")
    writer.endObject()
    writer.key("data")
    writer.beginObject()
    writer.member("n", String(mine))
    writer.endObject()
    let isConfirmed = asksReplicas
    if isConfirmed {
      writer.key("durability")
      writer.beginObject()
      writer.member("replicas", 1)
      writer.endObject()
    }
    writer.endObject()
    if !isConfirmed { unconfirmed += 1 }
    defer { if !isConfirmed { unconfirmed -= 1 } }
    let id = try await accepted(writer.bytes, key: "chaos-\(mine)")
    open[mine] = ChaosSend(number: mine, id: id, aim: aim)
    progress.sent += targets?.count ?? registered.count
    report(progress)
  }

  private func accepted(_ body: [UInt8], key: String) async throws -> String {
    let end = loop.now + Self.patience
    while loop.now < end, progress.failure == nil {
      let answer = try? await gateway.call(
        "POST", "/v1/messages", body, headers: [Header("idempotency-key", key)])
      if let answer, answer.isSuccess, let id = answer.document?["id"]?.string { return id }
      if let answer, answer.document?["retryable"]?.bool != true {
        throw Campaign.Failure(reason: "a message was refused: \(answer.problem)")
      }
      repeats += 1
      await loop.sleep(milliseconds: Self.again)
    }
    throw Campaign.Failure(reason: "a message was not accepted within \(Self.patience / 1_000) s")
  }

  // MARK: Watching

  /// Asks for every message until it has ended.
  private func watch() async throws {
    var last = loop.now
    while progress.failure == nil {
      for send in open.values.sorted(by: { $0.number < $1.number }).prefix(200) {
        guard let answer = try? await gateway.call("GET", "/v1/messages/\(send.id)"), answer.isSuccess,
          let document = answer.document
        else { break }
        guard document["state"]?.string == "completed" else { continue }
        try await ended(send, MessageCounts(document))
        last = loop.now
      }
      if open.isEmpty, !goesOn, helpers == 1 { return }
      guard loop.now - last < Self.patience || goesOn else {
        let left = open.values.map { "\($0.number) (\($0.id))" }.sorted().prefix(5)
        throw Campaign.Failure(
          reason: "\(open.count) messages have not ended after \(Self.patience / 1_000) s: \(left)")
      }
      await loop.sleep(milliseconds: 50)
    }
  }

  private func ended(_ send: ChaosSend, _ counts: MessageCounts) async throws {
    var send = send
    send.targets = counts.total
    send.outcomes = counts.outcomes
    if case .ordered = send.aim {
      guard let answer = try? await gateway.call("GET", "/v1/messages/\(send.id)/deliveries"), answer.isSuccess else {
        return
      }
      send.overtaken = answer.document?["items"]?.array?.first?["overtaken"]?.bool ?? false
    }
    open[send.number] = nil
    sends.append(send)
    progress.ended += counts.total
    report(progress)
  }

  /// Devices that count as members of the audience of everyone.
  func living() async throws -> Int {
    let answer = try await gateway.call("POST", "/v1/audiences/count", Array("{\"everyone\":true}".utf8))
    guard let total = answer.document?["total"]?.integer else {
      throw Campaign.Failure(reason: "the audience cannot be counted: \(answer.problem)")
    }
    return Int(total)
  }
}
