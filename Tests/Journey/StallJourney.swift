import Domain
import Foundation
import JSON
import Support
import Synchronization
import Testing

extension Journeys {
  /// Targets of one message, and how often clients offer it while Redis is silent: far more than may stay in memory.
  private static let offered = (targets: 2_000, requests: 640)
  private static let clients = 16

  /// What clients were answered, and how often.
  private final class Answers: Sendable { let counts = Mutex([String: Int]()) }

  @Test("while Redis is silent under load every send is refused with 503 and Retry-After, and memory does not grow")
  func silentRedis() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let tokens = (0..<Self.offered.targets).map(Tokens.apns)
    let message = #"{"to":{"tokens":[\#(Tokens.targets("apns", tokens))]},"notification":{"body":"Hi"}}"#
    for _ in 0..<Self.clients {
      #expect(try await gateway.client.post("/v1/messages?dry_run=true", message).status == 200)
    }
    _ = try await gateway.completed(try await gateway.send(Self.small))
    let before = try Self.peak(of: gateway)

    world.redis.signal(SIGSTOP)
    let answers = Answers()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<Self.clients {
        group.addTask {
          for _ in 0..<Self.offered.requests / Self.clients {
            let answer = try await gateway.client.post("/v1/messages", message)
            let told = "\(answer.status) \(answer.header("retry-after") == nil ? "without" : "with") Retry-After"
            answers.counts.withLock { $0[told, default: 0] += 1 }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(answers.counts.withLock { $0 } == ["503 with Retry-After": Self.offered.requests])
    let ready = try await gateway.client.get("/readyz")
    #expect(ready.status == 503 && ready.text.contains("store_"), "\(ready.text)")
    let grown = try Self.peak(of: gateway) - before
    #expect(
      Sanitizer.isOn || grown < 64,
      "\(grown) MiB more, and \(message.utf8.count * Self.offered.requests >> 20) MiB were offered")

    world.redis.signal(SIGCONT)
    try await gateway.until("readiness") { try await $0.client.get("/readyz").status == 200 }
    _ = try await gateway.completed(try await gateway.send(Self.small))
  }

  private static let small =
    #"{"to":{"tokens":[{"provider":"apns","token":"\#(Tokens.apns(1))"}]},"notification":{"body":"Hi"}}"#

  /// The most memory that the gateway has had, in MiB.
  private static func peak(of gateway: Gateway) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(gateway.process.id)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return (Int(line.filter(\.isNumber)) ?? 0) / 1024
  }
}
