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
    try await Self.expectRefusals(gateway, "silent")
    let grown = try Self.peak(of: gateway) - before
    #expect(
      Sanitizer.isOn || grown < 64,
      "\(grown) MiB more, and \(message.utf8.count * Self.offered.requests >> 20) MiB were offered")

    world.redis.signal(SIGCONT)
    try await gateway.until("readiness") { try await $0.client.get("/readyz").status == 200 }
    _ = try await gateway.completed(try await gateway.send(Self.small))
  }

  @Test(
    "while Redis is full, read-only or busy every send is refused at once with 503 and Retry-After, /readyz has the word, and work goes on by itself"
  )
  func unusableRedis() async throws {
    let world = try await World(redis: RedisServer(durable: true, ["--busy-reply-threshold", "100"]))
    let gateway = try await world.gateway()
    let redis = world.redis
    for (word, make, mend) in [
      ("store_full", ["CONFIG", "SET", "maxmemory", "1mb"], ["CONFIG", "SET", "maxmemory", "0"]),
      ("store_read_only", ["REPLICAOF", "127.0.0.1", "1"], ["REPLICAOF", "NO", "ONE"]),
      ("store_busy", ["EVAL", "while true do end", "0"], ["SCRIPT", "KILL"]),
    ] {
      // A script's answer comes when it is killed.
      let cause = try ChildProcess(
        URL(filePath: "/usr/bin/env"), ["redis-cli", "-s", redis.socketPath] + make)
      try await gateway.until(word) {
        let ready = try await $0.client.get("/readyz")
        return ready.status == 503 && ready.text.contains(word)
      }
      try await Self.expectRefusals(gateway, word)
      let remedy = try ChildProcess(URL(filePath: "/usr/bin/env"), ["redis-cli", "-s", redis.socketPath] + mend)
      #expect(await remedy.waitForExit() == 0 && remedy.text.contains("OK"), "\(word): \(remedy.text)")
      _ = await cause.waitForExit()
      try await gateway.until("readiness after \(word)") { try await $0.client.get("/readyz").status == 200 }
      _ = try await gateway.completed(try await gateway.send(Self.small))
    }
  }

  /// Sends are refused without asking Redis.
  private static func expectRefusals(_ gateway: Gateway, _ word: String) async throws {
    for _ in 0..<20 {
      let began = ContinuousClock.now
      let answer = try await gateway.client.post("/v1/messages", small)
      let took = ContinuousClock.now - began
      #expect(answer.status == 503 && answer.json["retryable"]?.bool == true, "\(word): \(answer.text)")
      #expect(answer.header("retry-after") != nil, "\(word): \(answer.text)")
      #expect(took < .seconds(1 * Sanitizer.slowness), "\(word): \(took)")
    }
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
