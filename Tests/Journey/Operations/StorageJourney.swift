import Domain
import Foundation
import JSON
import Support
import Testing

/// What the built program leaves in Redis is what docs/storage.md says.
extension Journeys {
  private struct Family {
    var type: String
    var expires: Bool
  }

  /// The tables of docs/storage.md, by word.
  private static func families() throws -> [String: Family] {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/storage.md")
    var families: [String: Family] = [:]
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where line.hasPrefix("| `") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      let word = String(cells[0].dropFirst().prefix { $0 != ":" && $0 != "`" })
      try #require(cells.count == 6 && families[word] == nil, "\(line)")
      families[word] = Family(type: cells[1], expires: cells[5].hasPrefix("expires"))
    }
    return families
  }

  @Test(
    "after calls of every kind each key in Redis is of one family of docs/storage.md, of its type, and expires if it says so"
  )
  func storage() async throws {
    let families = try Self.families()
    let world = try await World(
      more: #"limits: { urgent_targets: 100, keys: { requests: "100000/1h" }, apps: { scheduled: 100 } }, "#)
    let gateway = try await world.gateway()
    let client = gateway.client
    func call(_ method: String, _ path: String, _ body: String?, status: ClosedRange<Int> = 200...299) async throws {
      let answer = try await client.call(method, path, body)
      #expect(status.contains(answer.status), "\(method) \(path): \(answer.status) \(answer.text)")
    }
    var seen: Set<String> = []
    func look() async throws {
      // Of each word and type one key, and the least time that one of them has to live: -1 is for ever.
      let script = """
        local least, example = {}, {}
        for _, key in ipairs(redis.call('KEYS', '*')) do
          local kind = (string.match(key, '^ff:{[^}]*}:([^:]*)') or '?') .. ' ' .. redis.call('TYPE', key).ok
          local left = redis.call('TTL', key)
          if not least[kind] or left < least[kind] then least[kind], example[kind] = left, key end
        end
        local out = {}
        for kind, left in pairs(least) do out[#out + 1] = kind .. ' ' .. left .. ' ' .. example[kind] end
        return out
        """
      let run = try ChildProcess(
        URL(filePath: "/usr/bin/redis-cli"), ["--raw", "-s", world.redis.socketPath, "EVAL", script, "0"])
      guard await run.waitForExit() == 0 else { throw ChildFailure(reason: run.text) }
      for line in run.text.split(separator: "\n") {
        let parts = line.split(separator: " ", maxSplits: 3).map(String.init)
        guard parts.count == 4, let seconds = Int(parts[2]), let family = families[parts[0]] else {
          Issue.record("docs/storage.md does not tell of \(line)")
          continue
        }
        seen.insert(parts[0])
        #expect(family.type == parts[1], "\(line)")
        #expect(!family.expires || seconds >= 0, "\(line)")
      }
    }

    // Devices, in every way in which they come and go.
    let lines = (0..<200).map {
      #"{"id":"d\#($0)","provider":"apns","token":"\#(Tokens.apns($0))","tags":["n:\#($0 % 9)","all"]}"#
    }
    _ = try await client.post(
      "/v1/devices/bulk", lines.joined(separator: "\n"), headers: [.init("content-type", "application/x-ndjson")])
    for number in 0..<6 {
      try await call(
        "PUT", "/v1/devices/p\(number)",
        #"{"provider":"fcm","token":"\#(Tokens.fcm(number))","user":"u\#(number % 2)","tags":["all"]}"#)
    }
    try await call("DELETE", "/v1/devices/p5", nil)
    try await call("PUT", "/v1/audiences/nines", #"{"audience":"n:0"}"#)
    try await call("PUT", "/v1/test_lists/team", #"{"devices":["d1"]}"#)

    // Some are tried again, some tokens are dead.
    try await world.sandbox.play(
      #"[{"provider":"apns","status":410,"reason":"Unregistered","token":"\#(Tokens.apns(7))"},"#
        + #"{"provider":"fcm","status":503,"reason":"UNAVAILABLE"}]"#)
    func tokens(_ provider: String, _ range: Range<Int>) -> String {
      Tokens.targets(provider, range.map { provider == "apns" ? Tokens.apns($0) : Tokens.fcm($0) })
    }
    let note = #""kind":"alert","notification":{"body":"Hi"}"#
    var ids: [String] = []
    ids.append(try await gateway.send(#"{"to":{"tokens":[\#(tokens("apns", 500..<501))]},\#(note)}"#))
    ids.append(
      try await gateway.send(
        #"{"to":{"tokens":[\#(tokens("apns", 501..<502))]},\#(note)}"#, headers: [("idempotency-key", "k1")]))
    ids.append(try await gateway.send(#"{"to":{"tokens":[\#(tokens("apns", 510..<540))]},\#(note)}"#))
    ids.append(
      try await gateway.send(
        #"{"to":{"tokens":[\#(tokens("apns", 1_000..<3_500))]},"error_brake":{"share":0.5,"minimum":50},\#(note)}"#))
    ids.append(try await gateway.send(#"{"to":{"audience":"all"},"rate_per_second":500,\#(note)}"#))
    ids.append(
      try await gateway.send(#"{"to":{"everyone":true},"topic":"offers","cap":{"max":1,"per":"week"},\#(note)}"#))
    let retried = try await gateway.send(#"{"to":{"users":["u0"]},\#(note)}"#)
    let later = WallTime(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1_000) + 3_600_000).rfc3339
    let scheduled = try await gateway.send(
      #"{"to":{"tokens":[\#(tokens("apns", 1..<3))]},"send_at":"\#(later)",\#(note)}"#)
    let dropped = try await gateway.send(#"{"to":{"everyone":true},"send_at":"\#(later)",\#(note)}"#)
    try await call("POST", "/v1/messages/\(dropped)/cancel", nil)
    let drafts = [
      try await client.post("/v1/drafts", #"{"name":"a","message":{"to":{"everyone":true},\#(note)}}"#),
      try await client.post("/v1/drafts", #"{"name":"b","message":{"to":{"everyone":true},\#(note)}}"#),
    ]
    let draft = try #require(drafts[0].json["id"]?.string, "\(drafts[0].text)")
    try await call("POST", "/v1/drafts/\(draft)/send", "{}")
    try await gateway.until("a retry") {
      try await $0.deliveries(retried).first?["state"]?.string == "retrying"
    }
    try await look()
    try await call("POST", "/v1/messages/\(retried)/pause", nil)
    try await look()
    try await call("POST", "/v1/messages/\(retried)/cancel", nil)
    try await world.sandbox.play("[]")
    for id in ids { _ = try await gateway.completed(id) }
    try await look()

    // Most of them are met here, whatever moment was looked at.
    #expect(seen.count >= 40, "not seen: \(families.keys.filter { !seen.contains($0) }.sorted())")
    #expect(try await client.get("/v1/messages/\(scheduled)").json["state"]?.string == "scheduled")
    gateway.process.signal(SIGTERM)
    #expect(await gateway.process.waitForExit() == 0)
  }
}
