import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  /// A process of its own that uses a key all the time.
  private struct User: Sendable {
    var gateway: Gateway
    var client: Client

    init(_ gateway: Gateway, _ secret: String, _ world: World) async throws {
      self.gateway = gateway
      client = try await Client(base: gateway.client.base, key: secret, loop: world.loop)
    }

    func status() async throws -> Int { try await client.get("/v1/messages").status }

    /// Asks again and again until the answer is `status`: when the last request began that was answered otherwise.
    func last(before status: Int) async throws -> ContinuousClock.Instant {
      let first = ContinuousClock.now
      var (began, last) = (first, first)
      while try await self.status() != status {
        last = began
        try #require(began - first < .seconds(60 * Sanitizer.slowness), "it never came")
        began = ContinuousClock.now
      }
      return last
    }
  }

  @Test(
    "over two processes a key that is revoked, rotated, bound to an address or out of its time ends within a second, whoever changed it",
    .timed)
  func keysEndEverywhere() async throws {
    let world = try await World()
    let (one, two) = (try await world.gateway(), try await world.gateway())
    let tool = Tool(gateway: one, world: world)
    func make(_ more: String...) async throws -> (id: String, secret: String) {
      let run = try tool.start(["keys", "create", "--scopes", "read", "--json"] + more)
      let made = try #require(Tool.documents(try await run.end(0)).last)
      return (try #require(made["id"]?.string), try #require(made["secret"]?.string))
    }
    /// The longest of both processes, which use the key all the time, in seconds from the end of `change`: then Redis has
    /// it, or from the time that it answers.
    func measure(
      _ secret: String, until status: Int, _ change: () async throws -> ContinuousClock.Instant?
    ) async throws -> Double {
      let users = try await [User(one, secret, world), User(two, secret, world)]
      for user in users { #expect(try await user.status() == 200) }
      let uses = users.map { user in Task { try await user.last(before: status) } }
      let time = try await change()
      let changed = time ?? .now
      var longest = 0.0
      for use in uses {
        let took = (try await use.value - changed).components
        longest = max(longest, Double(took.seconds) + Double(took.attoseconds) / 1e18)
      }
      return longest
    }
    var times: [String: Double] = [:]
    let first = try await make("--name", "first")
    times["revoked by the command line"] = try await measure(first.secret, until: 401) {
      try await tool.run("keys", "revoke", first.id)
      return nil
    }
    let second = try await make()
    times["revoked over the API"] = try await measure(second.secret, until: 401) {
      let answer = try await two.client.call("DELETE", "/v1/keys/\(second.id)")
      #expect(answer.status == 204)
      return nil
    }
    let third = try await make()
    times["rotated"] = try await measure(third.secret, until: 401) {
      let secret = try await tool.run("keys", "rotate", third.id, "--keep", "0s").split(separator: "\n")
      #expect(secret.first?.wholeMatch(of: /fan_[0-9A-Za-z]{36}/) != nil, "\(secret)")
      return nil
    }
    let fourth = try await make()
    times["bound to another address"] = try await measure(fourth.secret, until: 403) {
      try await tool.run("keys", "change", fourth.id, "--address", "192.0.2.7", "--address", "2001:db8::/32")
      return nil
    }
    let fifth = try await make()
    times["ended"] = try await measure(fifth.secret, until: 401) {
      let end = ContinuousClock.now + .seconds(2)
      let time = WallTime(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1_000) + 2_000).rfc3339
      try await tool.run("keys", "change", fifth.id, "--expires", time)
      return end
    }
    print("keys: seconds until the last process had noticed: \(times)")
    for (what, seconds) in times { #expect(seconds < 1 * Double(Sanitizer.slowness), "\(what): \(seconds) s") }

    let shown = try await tool.run("keys", "show", fourth.id)
    #expect(shown.contains("192.0.2.7 2001:db8:0:0:0:0:0:0/32"), "\(shown)")
    let list = try await tool.run("keys", "list", "--json")
    let used = try JSON.parse(Array(list.utf8))["items"]?.array?.first { $0["id"]?.string == fourth.id }
    #expect(used?["last_used_at"]?.string != nil, "\(list)")
  }

  @Test("a key is rotated without a gap: both secrets work while the former is kept, and a third is refused until then")
  func rotation() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let tool = Tool(gateway: gateway, world: world)
    let made = Tool.documents(try await tool.run("keys", "create", "--scopes", "read,keys", "--json"))[0]
    let (id, former) = (try #require(made["id"]?.string), try #require(made["secret"]?.string))
    let rotated = try await tool.run("keys", "rotate", id, "--keep", "2h")
    let secret = try #require(rotated.firstMatch(of: /fan_[0-9A-Za-z]{36}/).map { String($0.0) }, "\(rotated)")
    #expect(rotated.contains("stays valid until"))
    for key in [former, secret] { try await tool.run("tags", key: key) }
    #expect(try await tool.run("keys", "rotate", id, exit: 1).contains("has two secrets until"))
    #expect(try await tool.run("keys", "rotate", id, "--keep", "31d", exit: 2).contains("at most 30d"))
    // What a slip leaves of a key is told as such.
    #expect(try await tool.run("tags", exit: 5, key: String(secret.dropLast())).contains("missing or wrong"))
    #expect(try await tool.run("keys", "change", id, exit: 2).contains("say what to change"))
    #expect(try await tool.run("keys", "create", "--address", "10.0.0.0/33", exit: 2).contains("not an address or a"))
    #expect(try await tool.run("keys", "create", "--expires", "yesterday", exit: 2).contains("such as 90d"))
  }
}
