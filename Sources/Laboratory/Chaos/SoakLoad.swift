import Domain
import GatewayClient
import HTTPClient
import JSON
import Loop

/// Sends at an even pace, of every kind: direct ones with and without idempotency keys, lists, long lists, audiences, schedules, cancelled
/// ones; and devices come and go. Belongs to its loop.
final class SoakLoad {
  private let loop: EventLoop
  private let gateway: Client
  private let rate: Int
  private(set) var sent = 0
  private var second = 0
  private var last: String?

  fileprivate static let devices = 1_000
  private static let singles = 20
  /// Seconds between audiences.
  private static let rest = 5
  /// Targets of a list that ends where it stands; one in so many seconds.
  private static let longList = 1_200
  private static let longRest = 4
  /// Seconds of the wall clock: what is scheduled in one round is due in the next.
  private static let scheduledFor: Int64 = 1_200
  private let ttl: Int

  /// `leap`: seconds that the wall clock leaps on between two rounds; nothing expires for it.
  init(loop: EventLoop, gateway: Client, rate: Int, leap: Int) {
    self.loop = loop
    self.gateway = gateway
    self.rate = rate
    ttl = min(2 * leap, Message.maximumTTL)
  }

  func begin() async throws {
    var body: [UInt8] = []
    for number in 0..<Self.devices {
      body += Array("{\"id\":\"d\(number)\",\"provider\":\"apns\",\"token\":\"\(Self.token(number))\"}\n".utf8)
    }
    let answer = try await gateway.call("POST", "/v1/devices/bulk", body, type: "application/x-ndjson")
    guard answer.isSuccess else { throw Campaign.Failure(reason: "devices were refused: \(answer.problem)") }
  }

  /// Sends for so long, and returns when the last message has ended; deliveries so far.
  func play(milliseconds: Int) async throws -> Int {
    let end = loop.now + Int64(milliseconds)
    repeat {
      let next = min(end, loop.now + 1_000)
      try await playSecond()
      second += 1
      await loop.sleep(milliseconds: max(1, next - loop.now))
    } while loop.now < end
    try await awaitLast()
    return sent
  }

  private func playSecond() async throws {
    let list = max(1, rate - Self.singles - Self.devices / Self.rest - Self.longList / Self.longRest)
    for place in 0..<Self.singles {
      // Every other one under a key of its own; one of these twice.
      let key = place.isMultiple(of: 2) ? nil : "soak-\(second)-\(place)"
      try await send(to: .tokens([second * Self.singles + place]), key: key)
      if place == 1 { try await send(to: .tokens([second * Self.singles + place]), key: key) }
    }
    for from in stride(from: 0, to: list, by: 500) { try await send(to: .tokens(Array(from..<min(list, from + 500)))) }
    if second % Self.rest == 0 { try await send(to: .everyone) }
    if second % Self.longRest == 1 { try await send(to: .tokens(Array(0..<Self.longList))) }
    let later = loop.wallNow + Self.scheduledFor * 1_000
    _ = try await send(to: .tokens([1, 2, 3]), at: later)
    let cancelled = try await send(to: second % Self.rest == 2 ? .everyone : .tokens([4, 5, 6]), at: later)
    try await call("POST", "/v1/messages/\(cancelled)/cancel")
    // A device that comes and goes, with a tag and a user.
    let device = #"{"provider":"fcm","token":"passing-\#(second)","user":"u\#(second)","tags":["t\#(second % 50)"]}"#
    try await call("PUT", "/v1/devices/passing-\(second)", Array(device.utf8))
    if second > 0 { try await call("DELETE", "/v1/devices/passing-\(second - 1)") }
  }

  /// As any client: what the gateway cannot take now is asked once more.
  private func patiently(_ method: String, _ path: String, _ body: [UInt8] = [], headers: [Header] = []) async throws
    -> Client.Answer
  {
    let end = loop.now + Self.patience
    while true {
      let answer = try await gateway.call(method, path, body, headers: headers)
      if answer.status != 503 && answer.status != 409 || loop.now > end { return answer }
      await loop.sleep(milliseconds: 200)
    }
  }

  private func call(_ method: String, _ path: String, _ body: [UInt8] = []) async throws {
    let answer = try await patiently(method, path, body)
    // Deleted, or cancelled, by a request whose answer was lost.
    guard answer.isSuccess || answer.status == 404 || answer.status == 410 else {
      throw Campaign.Failure(reason: "\(method) \(path) was refused: \(answer.problem)")
    }
  }

  fileprivate static func token(_ number: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: 64 - text.count) + text
  }

  private enum Recipients {
    case everyone
    case tokens([Int])

    var json: String {
      guard case .tokens(let numbers) = self else { return "\"everyone\":true" }
      let targets = numbers.map { number in
        number % 3 == 0
          ? "{\"provider\":\"fcm\",\"token\":\"f-\(number)\"}"
          : "{\"provider\":\"apns\",\"token\":\"\(SoakLoad.token(number))\"}"
      }
      return "\"tokens\":[\(targets.joined(separator: ","))]"
    }
    var count: Int { if case .tokens(let numbers) = self { numbers.count } else { SoakLoad.devices } }
  }

  @discardableResult
  private func send(to recipients: Recipients, key: String? = nil, at due: WallTime? = nil) async throws -> String {
    let time = due.map { "\"send_at\":\"\($0.rfc3339)\"," } ?? ""
    let body = "{\"to\":{\(recipients.json)},\"ttl\":\(ttl),\(time)\"notification\":{\"body\":\"Steady\"}}"
    let headers = key.map { [Header("idempotency-key", $0)] } ?? []
    let answer = try await patiently("POST", "/v1/messages", Array(body.utf8), headers: headers)
    guard answer.isSuccess, let id = answer.document?["id"]?.string else {
      throw Campaign.Failure(reason: "a message was refused: \(answer.problem)")
    }
    sent += recipients.count
    if due == nil { last = id }
    return id
  }

  private static let patience: Int64 = 60_000

  private func awaitLast() async throws {
    guard let last else { return }
    let end = loop.now + Self.patience
    while loop.now < end {
      let answer = try await gateway.call("GET", "/v1/messages/\(last)")
      if answer.document?["state"]?.string == "completed" { return }
      await loop.sleep(milliseconds: 100)
    }
    throw Campaign.Failure(reason: "the last message has not ended after \(Self.patience / 1_000) s")
  }
}
