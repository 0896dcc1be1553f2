import Domain
import Foundation
import JSON
import Support
import Testing

/// One gateway that meets one fault after the other, each with tokens of its own.
final class FaultBench {
  /// What one fault led to.
  struct Meeting {
    var name: String
    var tokens: [String]
    var deliveries: [JSONValue]
    var log: [Sandbox.Entry]

    var accepted: [Sandbox.Entry] { log.filter(\.accepted) }
    var states: [String: Int] {
      deliveries.reduce(into: [:]) { $0[$1["state"]?.string ?? "", default: 0] += 1 }
    }
    var reasons: Set<String> { Set(deliveries.compactMap { $0["reason"]?.string }) }
    var mostAttempts: Int { deliveries.map { $0["attempts"]?.array?.count ?? 0 }.max() ?? 0 }
  }

  let world: World
  private(set) var gateway: Gateway
  private var number = 0

  /// Waits are short throughout: faults are met in seconds, not minutes.
  init() async throws {
    world = try await World(more: #"http2: { connect_timeout: "1s", answer_timeout: "3s" },"#)
    gateway = try await world.gateway()
  }

  /// As an operator would who mended something.
  func restart() async throws {
    gateway.process.signal(SIGTERM)
    #expect(await gateway.process.waitForExit() == 0, "\(gateway.process.text)")
    gateway = try await world.gateway()
  }

  func fresh(_ provider: String, _ count: Int) -> [String] {
    let numbers = (number + 1)...(number + count)
    number += count
    switch provider {
    case "apns": return numbers.map(Tokens.apns)
    case "fcm": return numbers.map(Tokens.fcm)
    default: return numbers.map(Tokens.oneSignal)
    }
  }

  /// Plays the rules, sends to fresh tokens, waits for the end, and takes the rules back.
  func meet(_ name: String, _ provider: String, _ count: Int, _ rules: String) async throws -> Meeting {
    try await world.sandbox.forget()
    try await world.sandbox.play(rules)
    let tokens = fresh(provider, count)
    let id = try await send(provider, tokens, name)
    do { _ = try await gateway.completed(id) } catch { throw ChildFailure(reason: "\(name): \(error)") }
    try await world.sandbox.play("[]")
    return try await meeting(name, id, tokens)
  }

  func send(_ provider: String, _ tokens: [String], _ text: String) async throws -> String {
    try await gateway.send(
      """
      {"to":{"tokens":[\(Tokens.targets(provider, tokens))]},"kind":"alert","ttl":86400,\
      "notification":{"body":"\(text)"}}
      """)
  }

  func meeting(_ name: String, _ id: String, _ tokens: [String]) async throws -> Meeting {
    Meeting(
      name: name, tokens: tokens, deliveries: try await gateway.deliveries(id), log: try await world.sandbox.log())
  }

  /// Every token was reached, and none twice unless `doubles` may be.
  func expectAll(_ meeting: Meeting, doubles: Int = 0) {
    let name = meeting.name
    #expect(meeting.states == ["accepted": meeting.tokens.count], "\(name): \(meeting.states) \(meeting.reasons)")
    #expect(difference(Set(meeting.accepted.map(\.token)), from: meeting.tokens) == nil, "\(name): lost")
    #expect(meeting.accepted.count - meeting.tokens.count <= doubles, "\(name): \(meeting.accepted.count)")
  }

  /// Waits until a delivery of the message is blocked; why.
  func blocked(_ id: String) async throws -> String {
    let deadline = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < deadline {
      for delivery in try await gateway.deliveries(id) where delivery["state"]?.string == "blocked" {
        return delivery["reason"]?.string ?? ""
      }
      try await Task.sleep(for: .milliseconds(50))
    }
    throw ChildFailure(reason: "nothing became blocked: \(gateway.process.text.suffix(2_000))")
  }

  /// Waits until nothing stands against any credential.
  func ready(_ name: String) async throws {
    let deadline = ContinuousClock.now + .seconds(10)
    var told = ""
    while ContinuousClock.now < deadline {
      let answer = try await gateway.client.get("/readyz")
      told = answer.text
      if answer.json["status"]?.string == "ready" { return }
      try await Task.sleep(for: .milliseconds(50))
    }
    Issue.record("\(name): \(told)")
  }

  /// The sum of a metric over all its labels.
  func metric(_ name: String, _ label: String = "") async throws -> Double {
    try await gateway.client.get("/metrics").text.split(separator: "\n")
      .filter { ($0.hasPrefix(name + "{") || $0.hasPrefix(name + " ")) && (label.isEmpty || $0.contains(label)) }
      .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0, +)
  }

  /// The most memory the gateway has had, in MiB.
  func peakMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(gateway.process.id)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return (Int(line.filter(\.isNumber)) ?? 0) / 1024
  }
}
