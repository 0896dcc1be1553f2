import API
import Domain
import Intake
import JSON
import Loop
import RedisClient
import Store
import Support
import Testing

/// What a request is told beside its result costs time and bytes: one request gets only so much of it, however many lines,
/// terms and members it has.
@Suite("What is told beside a result is bounded for each request", .serialized)
struct BoundedHintTests {
  private static let lines = ["content-type": "application/x-ndjson"]
  private static let hint = "did you mean"

  /// A name that is nearly right in every place that is searched for what was meant, and the command that reads a table of
  /// the store for it.
  private static let slips: [(members: String, command: String?)] = [
    (#""to":{"audience":"plan:por || plan:pro"},"notification":{"title":"T"}"#, nil),
    (#""to":{"audience":"plan:por || plan:bsic || plan:gldo || plan:pro"},"notification":{"title":"T"}"#, nil),
    (#""to":{"audience":"audience:winbak"},"notification":{"title":"T"}"#, "hgetall"),
    (#""to":{"devices":["d1"]},"notification":{"title":"{{naem}}"}"#, "hkeys"),
    (#""to":{"audience":"tz:Europe/Viena"},"notification":{"title":"T"}"#, nil),
    (#""to":{"audience":"provider:apms"},"notification":{"title":"T"}"#, nil),
    (#""to":{"audience":"auth:denid"},"notification":{"title":"T"}"#, nil),
    (#""to":{"filters":[{"field":"langage","relation":"=","value":"de"}]},"notification":{"title":"T"}"#, nil),
    (#""to":{"devices":["d1"]},"notification":{"titel":"T"}"#, nil),
  ]
  /// Lines that are read at the same time may each ask for a table before the first has it.
  private static let mostReads = 64

  @Test("the lines of a bulk call share 20 searches for what was meant, and read no table for each line")
  func searchesOfLines() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""tags":["plan:pro","plan:basic","plan:gold"],"attributes":{"name":"Ann"}"#)
      let kept = gateway.ask("PUT", "/v1/audiences/winback", #"{"audience":"plan:pro"}"#)
      #expect(kept.status == 201, "\(kept.text)")
      for (members, command) in Self.slips {
        let before = try await Self.calls(of: command, gateway)
        let body = Array(repeating: "{\(members)}", count: 300).joined(separator: "\n")
        let reply = gateway.ask("POST", "/v1/messages/bulk", body, as: .send, Self.lines)
        let told = reply.text.split(separator: "\n").reduce(0) { count, line in
          guard let line = try? JSON.parse(Array(line.utf8)) else { return count }
          let items = (line["problem"]?["violations"]?.array ?? []) + (line["warnings"]?.array ?? [])
          return count + items.count { $0["detail"]?.string?.contains(Self.hint) == true }
        }
        #expect((1...SuggestionBudget.searches).contains(told), "\(members): \(told)")
        let calls = try await Self.calls(of: command, gateway) - before
        #expect(calls <= Self.mostReads, "\(members): \(calls)")
      }
    }
  }

  @Test("the largest expression is told ten of its unknown tags, and what was meant by three of them")
  func termsOfOneExpression() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""tags":["plan:pro"]"#)
      let terms = (0..<100).map { "plan:pr\($0)" }.joined(separator: " || ")
      let reply = gateway.ask("POST", "/v1/messages", #"{"to":{"audience":"\#(terms)"},"notification":{"title":"T"}}"#)
      let told = (reply.json["warnings"]?.array ?? []).filter { $0["code"]?.string == "unknown_tag" }
      #expect(told.count == 10, "\(reply.text)")
      #expect(reply.text.split(separator: Self.hint).count - 1 == 3, "\(reply.text)")
    }
  }

  /// How often Redis was given the command.
  private static func calls(of command: String?, _ gateway: Gateway) async throws -> Int {
    guard let command else { return 0 }
    let (endpoint, loop) = (gateway.redis.endpoint, gateway.loop)
    let text = try await loop.run {
      let redis = Redis(loop: loop, endpoint: endpoint)
      defer { redis.close() }
      if !redis.isReady {
        await withCheckedContinuation { ready in
          redis.onChange = { isReady in
            guard isReady else { return }
            redis.onChange = { _ in }
            ready.resume()
          }
        }
      }
      return try await redis.call(RedisCommand("INFO", "commandstats")).text ?? ""
    }
    let row = text.split(separator: "\r\n").first { $0.hasPrefix("cmdstat_\(command):calls=") }
    return row.flatMap { Int($0.drop { $0 != "=" }.dropFirst().prefix { $0.isNumber }) } ?? 0
  }

  // MARK: Faults and warnings

  /// What stands in `more_violations` or `more_warnings`.
  private static func leftOut(_ item: JSONValue?) -> Int? {
    item?["detail"]?.string.flatMap { Int($0.prefix { $0.isNumber }) }
  }

  @Test("of 100,000 faults a message is told 200, and how many more there are", arguments: ["", "?dry_run=true"])
  func faults(_ query: String) async throws {
    try await Gateway.running { gateway in
      let unknown = (0..<10_000).map { #""x\#($0)":1"# }.joined(separator: ",")
      let variants = (0..<10).map { #"{"name":"v\#($0)","weight":10,"notification":{\#(unknown)}}"# }
      let list = variants.joined(separator: ",")
      let body = #"{"to":{"devices":["d1"]},"notification":{"title":"T"},"variants":[\#(list)]}"#
      let reply = gateway.ask("POST", "/v1/messages\(query)", body, as: .send)
      #expect(reply.status == 422 && reply.code == "invalid_message", "\(reply.text.prefix(300))")
      let told = reply.json["violations"]?.array ?? []
      #expect(told.count == RequestBounds.violations + 1, "\(told.count)")
      #expect(told.last?["code"]?.string == "more_violations")
      #expect(told.dropLast().allSatisfy { $0["code"]?.string == "unknown_field" })
      let all = try #require(Self.leftOut(told.last)) + told.count - 1
      #expect(all >= 100_000, "\(all)")
      #expect(reply.json["detail"]?.string == "200 faults and more; see `violations`", "\(reply.text.prefix(300))")
      #expect(reply.text.utf8.count < 200_000)
    }
  }

  @Test("faults of attributes, and of a query, are bounded and counted the same way")
  func otherFaults() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""attributes":{"name":"Ann"}"#)
      let variants = (0..<16).map { variant in
        let slots = (0..<32).map { "{{a\(variant)_\($0)}}" }.joined()
        let texts = #""notification":{"title":"T","body":"\#(slots)"}"#
        return #"{"name":"v\#(variant)","weight":\#(variant < 4 ? 7 : 6),\#(texts)}"#
      }
      let list = variants.joined(separator: ",")
      let body = #"{"to":{"devices":["d1"]},"notification":{"title":"T"},"variants":[\#(list)]}"#
      let message = gateway.ask("POST", "/v1/messages", body, as: .send)
      let query = gateway.ask("GET", "/v1/messages?" + (0..<500).map { "x\($0)=1" }.joined(separator: "&"))
      for (reply, least) in [(message, 512), (query, 500)] {
        let told = reply.json["violations"]?.array ?? []
        #expect(told.count == RequestBounds.violations + 1, "\(reply.text.prefix(300))")
        let all = try #require(Self.leftOut(told.last)) + told.count - 1
        #expect(all >= least, "\(all)")
      }
    }
  }

  @Test("of thousands of warnings a message is told 200, and how many there are beyond them; lines share these")
  func warnings() async throws {
    try await Gateway.running { gateway in
      let count = 3_000
      let tokens = (0..<count).map {
        #"{"provider":"apns","token":"\#(Self.format($0))","live_activity_token":"abcd"}"#
      }
      let body = #"{"to":{"tokens":[\#(tokens.joined(separator: ","))]},"notification":{"title":"T"}}"#
      let reply = gateway.ask("POST", "/v1/messages", body, as: .send)
      #expect(reply.status == 202, "\(reply.text.prefix(300))")
      let told = reply.json["warnings"]?.array ?? []
      #expect(told.count == RequestBounds.warnings + 1, "\(told.count)")
      #expect(told.last?["code"]?.string == "more_warnings")
      let whole = try #require(Self.leftOut(told.last)) + told.count - 1
      #expect(whole >= count, "\(whole)")

      let line = #"{"to":{"audience":"a1 || a2 || a3 || a4 || a5 || a6"},"notification":{"title":"T"}}"#
      let bulk = gateway.ask(
        "POST", "/v1/messages/bulk", Array(repeating: line, count: 200).joined(separator: "\n"), as: .send,
        Self.lines)
      let lines = bulk.text.split(separator: "\n").compactMap { try? JSON.parse(Array($0.utf8)) }
      let ofLines = lines.compactMap { $0["warnings"]?.array }
      let all = ofLines.map { $0.filter { $0["code"]?.string != "more_warnings" }.count }
      #expect(all.count == 200 && all.allSatisfy { $0 >= 1 }, "\(bulk.text.prefix(300))")
      #expect(all.reduce(0, +) <= RequestBounds.warnings + all.count)
    }
  }

  /// Hexadecimal digits, as many as a token of APNs has at least.
  private static func format(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 64 - digits.count) + digits
  }
}
