import Domain
import Foundation
import JSON
import Support
import Testing

/// What one command printed, field by field.
private struct PrintedFields {
  /// Of each name, the types that it has.
  var types: [String: Set<String>] = [:]
  private(set) var faults: [String] = []

  /// Whose members others have named: apps, senders, vendors.
  private static let foreign: Set<String> = [
    "labels", "data", "attributes", "headers", "body", "content_state", "localized", "overrides",
  ]

  mutating func read(_ value: JSONValue, of command: String) {
    switch value {
    case .object(let members):
      for member in members {
        note(member.key, member.value, command)
        if !Self.foreign.contains(member.key) { read(member.value, of: command) }
      }
    case .array(let items): for item in items { read(item, of: command) }
    case .null, .bool, .integer, .unsigned, .double, .string: break
    }
  }

  private mutating func note(_ name: String, _ value: JSONValue, _ command: String) {
    if name.wholeMatch(of: /[a-z][a-z0-9]*(_[a-z0-9]+)*/) == nil { faults.append("\(command): \(name) in snake case") }
    let isTime = value.string.flatMap { WallTime(rfc3339: $0) } != nil
    if isTime != name.hasSuffix("_at") { faults.append("\(command): \(name) is \(value)") }
    switch value {
    case .null: break
    case .bool: types[name, default: []].insert("boolean")
    case .integer, .unsigned, .double: types[name, default: []].insert("number")
    case .string: types[name, default: []].insert("string")
    case .array: types[name, default: []].insert("array")
    case .object: types[name, default: []].insert("object")
    }
  }
}

extension Journeys {
  /// Commands that run until they are stopped, or measure for minutes; their own journeys read what they print.
  private static let long: Set<String> = ["dev", "serve", "sandbox"]
  /// As the description of the API has them (`FieldNameTests`), and `version`: of the program and of Redis a text.
  private static let twofold: Set<String> = ["body", "message", "status", "to", "version"]

  @Test(
    "all that commands print with --json has names in snake case, times in fields that end in _at, and one type a name")
  func fieldNames() async throws {
    let world = try await World()
    let tool = Tool(gateway: try await world.gateway(), world: world)
    let lines = [
      #"{"id":"a","provider":"fcm","token":"\#(Tokens.fcm(1))","user":"ana","tags":["t"],"last_seen_at":"2026-01-01T00:00:00Z"}"#,
      #"{"id":"b","provider":"apns","token":"\#(Tokens.apns(2))","user":"ben"}"#,
    ]
    let devices = try world.write(lines, to: "devices.ndjson")
    let message = try world.write(
      [
        #"{"to":{"everyone":true},"notification":{"title":"T"},"#,
        #""variants":[{"name":"a","weight":60},{"name":"b","weight":40}]}"#,
      ], to: "message.json")
    var fields = PrintedFields()
    var called: Set<String> = []
    @discardableResult
    func run(_ line: String, exit: Int32 = 0, input: String = "/dev/null") async throws -> JSONValue {
      let words = line.split(separator: " ").map(String.init)
      called.insert(words[0])
      let run = try tool.start(
        #"HOME="$(dirname "$OUTPUT")" XDG_CONFIG_HOME= exec "$0" "$@" --json < \#(input)"#, words)
      let text = try await run.end(exit)
      let documents = Tool.documents(text)
      #expect(!documents.isEmpty, "\(line): \(text)")
      for document in documents { fields.read(document, of: line) }
      return documents.last ?? .null
    }
    try await run("devices import \(devices)")
    let moved = try world.write(lines.map { $0.replacing(#""id":""#, with: #""id":"new-"#) }, to: "moved.ndjson")
    let counts = try await run("devices import \(moved)")
    #expect(counts["moved"] == .integer(2) && counts["created"] == .integer(0), "\(counts)")
    try await run("devices import \(devices)")
    let sent = try await run("send --file \(message) --wait 60")
    let id = try #require(sent["id"]?.string)
    try await world.sandbox.play(
      #"[{"provider":"apns","status":410,"reason":"Unregistered"},{"provider":"fcm","status":503}]"#)
    let failed = try #require(try await run("send --everyone --title T --ttl 3600")["id"]?.string)
    _ = try await tool.gateway.until(failed) { $0["outcomes"]?["dead"] == .integer(1) }
    let tomorrow = Date(timeIntervalSinceNow: 86_400).ISO8601Format()
    let later = try #require(try await run("send --everyone --title T --at \(tomorrow)")["id"]?.string)
    let draft = try #require(try await run("drafts create --name D --file \(message)")["id"]?.string)
    for line in [
      "messages show \(id)", "messages show \(failed)", "messages list", "messages deliveries \(id)",
      "messages deliveries \(failed)", "messages watch \(id)", "messages pause \(later)", "messages resume \(later)",
      "send --everyone --title T --dry-run", "devices list", "devices show b", "devices show a", "devices timeline a",
      "devices timeline b", "devices reindex", "devices prunes review", "audience count everyone",
      "audience set all t", "audience list", "users show ana", "tags", "drafts show \(draft)", "drafts list",
      "drafts count \(draft)", "test-lists set team --device a", "test-lists show team", "test-lists list",
      "drafts test \(draft) --list team", "drafts send \(draft) --dry-run", "drafts duplicate \(draft)",
      "keys create --scopes read --expires 90d --address 127.0.0.0/8", "keys list", "check", "render \(message)",
      "version", "messages cancel \(later)", "messages replay \(later) --outcome cancelled", "users delete ben",
    ] {
      try await run(line)
    }
    let made = try #require(try await run("keys create --name spare")["id"]?.string)
    for line in ["keys show", "keys change --scopes read", "keys rotate"] { try await run("\(line) \(made)") }
    for line in ["status", "audit", "console"] { try await run(line) }
    try await run("channels list", exit: 5)
    let key = try world.write([tool.gateway.client.key ?? ""], to: "key")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
    try await run("login --url \(tool.gateway.client.base) --key-file \(key)")
    for line in ["profiles", "logout"] { try await run(line) }
    #expect(fields.faults.isEmpty, "\(fields.faults.joined(separator: "\n"))")
    for (name, types) in fields.types where types.count > 1 {
      #expect(Self.twofold.contains(name), "\(name) is \(types)")
    }

    // None is left out.
    let overview = try await tool.run("help")
    for match in overview.matches(of: #/(?m)^ {2}([a-z-]+) {2}/#) where !Self.long.contains(String(match.1)) {
      let page = try await tool.run("help", String(match.1))
      if page.contains("--json") { #expect(called.contains(String(match.1)), "\(match.1)") }
    }
  }
}
