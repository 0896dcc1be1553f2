import Domain
import HTTPClient
import JSON
import Loop

/// Sends at an even pace: each second a list, some direct sends, and every few seconds an audience. Belongs to its loop.
final class SoakLoad {
  private let loop: EventLoop
  private let gateway: Client
  private let rate: Int
  private var sent = 0
  private var failure: (any Error)?
  private var isOver = false
  private var isRunning = false
  private var last: String?

  private static let devices = 1_000
  private static let singles = 20
  /// Seconds between audiences.
  private static let rest = 5

  init(loop: EventLoop, gateway: Client, rate: Int) {
    self.loop = loop
    self.gateway = gateway
    self.rate = rate
  }

  func begin() async throws {
    var body: [UInt8] = []
    for number in 0..<Self.devices {
      body += Array("{\"id\":\"d\(number)\",\"provider\":\"apns\",\"token\":\"\(Self.token(number))\"}\n".utf8)
    }
    let answer = try await gateway.call("POST", "/v1/devices/bulk", body, type: "application/x-ndjson")
    guard answer.isSuccess else { throw Campaign.Failure(reason: "devices were refused: \(answer.problem)") }
    isRunning = true
    loop.spawn { await self.run() }
  }

  /// Deliveries so far; throws what went wrong.
  func check() throws -> Int {
    if let failure { throw failure }
    return sent
  }

  /// Returns when the last message has ended.
  func end() async {
    isOver = true
    while isRunning { await loop.sleep(milliseconds: 20) }
  }

  private func run() async {
    do {
      let list = max(1, rate - Self.singles - Self.devices / Self.rest)
      var second = 0
      while !isOver {
        let next = loop.now + 1_000
        for place in 0..<Self.singles { try await send(tokens: [second * Self.singles + place]) }
        for from in stride(from: 0, to: list, by: 500) {
          try await send(tokens: Array(from..<min(list, from + 500)))
        }
        if second % Self.rest == 0 { try await send(tokens: nil) }
        second += 1
        await loop.sleep(milliseconds: max(1, next - loop.now))
      }
      try await awaitLast()
    } catch {
      failure = error
    }
    isRunning = false
  }

  private static func token(_ number: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: 64 - text.count) + text
  }

  /// Nil: everyone.
  private func send(tokens: [Int]?) async throws {
    let targets = tokens.map { numbers in
      "\"tokens\":["
        + numbers.map { number in
          number % 3 == 0
            ? "{\"provider\":\"fcm\",\"token\":\"f-\(number)\"}"
            : "{\"provider\":\"apns\",\"token\":\"\(Self.token(number))\"}"
        }.joined(separator: ",") + "]"
    }
    let body = "{\"to\":{\(targets ?? "\"everyone\":true")},\"ttl\":60,\"notification\":{\"body\":\"Steady\"}}"
    let answer = try await gateway.call("POST", "/v1/messages", Array(body.utf8))
    guard answer.isSuccess, let id = answer.document?["id"]?.string else {
      throw Campaign.Failure(reason: "a message was refused: \(answer.problem)")
    }
    sent += tokens?.count ?? Self.devices
    last = id
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
