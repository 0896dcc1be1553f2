import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  /// Devices with everything that a device can have, as an import takes them.
  private struct Belongings {
    static let lines: [String] = (0..<300).map { number in
      switch number % 5 {
      case 0:
        #"""
        {"id":"phone-\#(number)","provider":"apns","token":"\#(Tokens.apns(number))","token_kind":"voip","environment":"sandbox","bundle_id":"com.example.shop","platform":"ios","app_version":"2.1-beta","language":"de-AT","tz":"Europe/Vienna","user":"Zoë 👩‍👩‍👧 \#(number)","tags":["plan:pro","\"quoted\" ünï:\#(number)"],"attributes":{"name":"\\ \" \u2028 é","n":\#(-number),"big":18446744073709551615,"part":0.1,"tiny":1e-300,"yes":true,"no":false,"empty":""},"enabled":true,"activity_id":"match 7","last_seen_at":"2025-01-02T03:04:05.678Z","registered_at":"2024-02-29T12:00:00.001Z"}
        """#
      case 1:
        #"""
        {"id":"robot-\#(number)","provider":"fcm","token":"\#(Tokens.fcm(number))","platform":"android","enabled":false,"live_activity_token":"lat:\#(number)","tags":["plan:free"],"registered_at":"2025-06-01T00:00:00Z"}
        """#
      case 2:
        #"""
        {"provider":"onesignal","token":"\#(Tokens.oneSignal(number))","user":"family-\#(number / 50)","tags":[\#((0..<250).map { "\"t:\($0)\"" }.joined(separator: ","))]}
        """#
      case 3:
        #"{"provider":"apns","token":"\#(Tokens.apns(number))","token_kind":"activity","activity_id":"a\#(number)","registered_at":"1999-12-31T23:59:59.999Z"}"#
      default:
        #"{"provider":"fcm","token":"\#(Tokens.fcm(number))","token_kind":"fid","user":"family-\#(number / 50)"}"#
      }
    }
  }

  /// Beside the app of all journeys one with the same credentials under other names, and no device.
  private static func twoApps(_ sandbox: Sandbox, _ folder: String) -> String {
    let usual = World.usualCredentials(sandbox, folder)
    return usual + #"], }, { id: "heir", credentials: ["#
      + usual.replacingOccurrences(of: #"name: ""#, with: #"name: "heir-"#)
  }

  @Test("what devices export writes is the same device in every field where it is imported, registered when it was")
  func migration() async throws {
    let world = try await World(credentials: Self.twoApps)
    let gateway = try await world.gateway()
    let tool = Tool(gateway: gateway, world: world)
    let made = try await tool.run("keys", "create", "--app", "heir", "--scopes", "send,devices,read,admin", "--json")
    let key = try #require(made.firstMatch(of: /fan_[A-Za-z0-9]+/).map { String($0.0) })
    let heir = Tool(
      gateway: Gateway(
        process: gateway.process,
        client: try await Client(base: gateway.client.base, key: key, loop: world.loop)), world: world)
    func exported(_ tool: Tool, to name: String) async throws -> [String: JSONValue] {
      let file = world.directory.file(name)
      try await tool.shell(#""$0" devices export > "$FILE""#, ["FILE": file.path])
      let devices = Tool.documents(try String(contentsOf: file, encoding: .utf8))
      return Dictionary(uniqueKeysWithValues: devices.map { ($0["token"]?.string ?? "", $0) })
    }

    let file = try world.write(Belongings.lines, to: "devices.ndjson")
    let told = try await tool.run("devices", "import", file, "--batch", "77")
    #expect(told.contains("(\(Belongings.lines.count) created)"), "\(told)")
    let before = try await exported(tool, to: "shop.ndjson")
    #expect(before.count == Belongings.lines.count)
    for line in Belongings.lines {
      let given = try JSON.parse(Array(line.utf8))
      let device = before[given["token"]?.string ?? ""]
      for member in given.object ?? [] {
        let expected: JSONValue? =
          switch member.key {
          case "registered_at", "last_seen_at":
            member.value.string.flatMap { WallTime(rfc3339: $0) }.map { .string($0.rfc3339) }
          default: member.value
          }
        #expect(device?[member.key] == expected, "\(member.key) of \(line)")
      }
    }

    let moved = try await heir.run("devices", "import", world.directory.file("shop.ndjson").path, "--batch", "41")
    #expect(moved.contains("(\(Belongings.lines.count) created)"), "\(moved)")
    let after = try await exported(heir, to: "heir.ndjson")
    #expect(difference(after.values, from: before.values) == nil)
    let enabled = Belongings.lines.count { !$0.contains(#""enabled":false"#) }
    // 60 were seen last year or before; of those never seen 60 registered in 1999 and 120 today; disabled ones are out.
    let expressions: KeyValuePairs = [
      "everyone": enabled, "plan:pro": 60, "plan:free": 0, "tz:Europe/Vienna && lang:de": 60, "t:249": 60,
      "app_version:<2.1": 60, "platform:ios": 60, "seen:>30d": 120, "seen:<1d": 120,
    ]
    for (expression, count) in expressions {
      for one in [tool, heir] { #expect(try await one.count(expression) == count, "\(expression)") }
    }
    try await tool.run("devices", "reindex")

    // An app that comes again is registered now, as ever.
    let again = Belongings.lines[3]
    let token = Tokens.apns(3)
    let start = WallTime(seconds: Int64(Date().timeIntervalSince1970) - 1)
    let plain = #"{"provider":"apns","token":"\#(token)","token_kind":"activity"}"#
    let answer = try await heir.gateway.client.post("/v1/devices", plain)
    let stamped = answer.json["registered_at"]?.string.flatMap { WallTime(rfc3339: $0) }
    #expect(answer.status == 200 && (stamped ?? WallTime(seconds: 0)) > start, "\(answer.text)")
    #expect(try await heir.count("seen:<1d") == 121)
    // The file again: a known token's time does not go back.
    _ = try await heir.run("devices", "import", try world.write([again], to: "one.ndjson"))
    #expect(try await heir.count("seen:<1d") == 121)
  }

  @Test("410 prunes an imported device by when its app had registered it, not by when it was imported")
  func importedPrune() async throws {
    let world = try await World()
    let tool = Tool(gateway: try await world.gateway(), world: world)
    func line(_ id: String, _ number: Int, _ more: String = "") -> String {
      #"{"id":"\#(id)","provider":"apns","token":"\#(Tokens.apns(number))"\#(more)}"#
    }
    let file = try world.write(
      [
        line("gone", 1, #","registered_at":"2020-01-01T00:00:00Z""#),
        line("back", 2, #","registered_at":"2024-01-01T00:00:00Z""#), line("untold", 3),
      ], to: "devices.ndjson")
    try await tool.run("devices", "import", file)
    // APNs says that all three were gone by the year 2022.
    try await world.sandbox.play(
      #"[{"provider":"apns","status":410,"reason":"Unregistered","timestamp":1640995200000}]"#)
    let id = try await tool.gateway.send(
      #"{"to":{"devices":["gone","back","untold"]},"kind":"alert","notification":{"body":"Still there?"}}"#)
    _ = try await tool.gateway.completed(id)
    for (device, status) in [("gone", "dead"), ("back", "active"), ("untold", "active")] {
      let answer = try await tool.gateway.client.get("/v1/devices/\(device)")
      #expect(answer.json["status"]?.string == status, "\(answer.text)")
    }
  }

  @Test("devices reindex tells what is broken by its exit code, repairs it, and says what it cannot repair")
  func reindex() async throws {
    let world = try await World(credentials: Self.twoApps)
    let tool = Tool(gateway: try await world.gateway(), world: world)
    let size = 600
    let lines = (0..<size).map {
      #"{"id":"d\#($0)","provider":"fcm","token":"\#(Tokens.fcm($0))","user":"u\#($0 / 2)","tags":["half:\#($0 % 2)"]}"#
    }
    try await tool.run("devices", "import", try world.write(lines, to: "devices.ndjson"))
    /// Evaluates a script in the Redis of the gateway.
    func redis(_ script: String) async throws -> String {
      let answer = try await tool.shell(
        #"redis-cli -s "$SOCKET" --raw EVAL "$SCRIPT" 0"#, ["SOCKET": world.redis.socketPath, "SCRIPT": script])
      return answer.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    /// By fault, of the app of all journeys.
    func reports(_ text: String) -> [String: JSONValue] {
      Dictionary(uniqueKeysWithValues: Tool.documents(text).map { ($0["app"]?.string ?? "", $0) })
    }
    func faults(_ text: String) -> [String: Int64] {
      let members = reports(text)["shop"]?["faults"]?.array ?? []
      return Dictionary(uniqueKeysWithValues: members.map { ($0["fault"]?.string ?? "", $0["count"]?.integer ?? 0) })
    }

    let clean = try await tool.run("devices", "reindex", "--json")
    #expect(reports(clean)["shop"]?["device_count"] == .integer(Int64(size)), "\(clean)")
    #expect(reports(clean)["heir"]?["device_count"] == .integer(0) && faults(clean).isEmpty, "\(clean)")
    #expect(try await tool.run("devices", "reindex").contains("shop: \(size) devices, no differences"))

    // All sets and all pointers of tokens are lost.
    let lost = try await redis(
      """
      local n = 0
      for _, kind in ipairs({'a', 'b', 'c'}) do
        for _, key in ipairs(redis.call('KEYS', '*}:' .. kind .. ':shop:*')) do n = n + redis.call('DEL', key) end
      end
      return n
      """)
    #expect(Int(lost) ?? 0 > 0, "\(lost)")
    #expect(try await tool.count("half:1") == 0)
    let broken = try await tool.run("devices", "reindex", "--json", exit: 1)
    #expect(faults(broken)["missing_alias"] == Int64(size), "\(broken)")
    #expect(faults(broken)["missing_in_set"] ?? 0 >= Int64(size), "\(broken)")
    #expect(reports(broken)["shop"]?["repaired"] == .bool(false) && faults(broken).count == 2, "\(broken)")
    #expect(reports(broken)["shop"]?["samples"]?.array?.isEmpty == false, "\(broken)")
    let words = try await tool.run("devices", "reindex", exit: 1)
    #expect(words.contains("missing_alias: \(size)") && words.contains("devices reindex --repair"), "\(words)")
    #expect(try await tool.count("half:1") == 0, "a report changes nothing")
    // The other app is in order.
    #expect(faults(try await tool.run("devices", "reindex", "--app", "heir", "--json")).isEmpty)

    let repaired = try await tool.run("devices", "reindex", "--repair", "--json", "--app", "shop")
    #expect(reports(repaired)["shop"]?["repaired"] == .bool(true), "\(repaired)")
    #expect(faults(repaired)["missing_alias"] == Int64(size), "\(repaired)")
    try await tool.run("devices", "reindex")
    #expect(try await tool.count() == size)
    for half in 0...1 { #expect(try await tool.count("half:\(half)") == size / 2) }
    let again = try await tool.run("devices", "import", world.directory.file("devices.ndjson").path)
    #expect(again.contains("(\(size) updated)"), "\(again)")

    // A record that nobody can read stays, and is told each time.
    let length = try await redis(
      """
      local counter = redis.call('KEYS', '*}:last:shop')[1]
      local number = redis.call('INCR', counter) - 1
      local key = string.sub(counter, 1, -string.len('last:shop') - 1) .. 'v:shop:' .. math.floor(number / 16)
      local head = (number % 16) * 2 ^ 28 + 3
      return redis.call('APPEND', key, struct.pack('>I4', head) .. string.char(1, 2, 3))
      """)
    #expect(Int(length) ?? 0 >= 7, "\(length)")
    for _ in 1...2 {
      let left = try await tool.run("devices", "reindex", "--repair", "--json", exit: 1)
      #expect(faults(left) == ["unreadable_record": 1], "\(left)")
    }

    #expect(try await tool.run("devices", "reindex", "--app", "shopp", exit: 2).contains("shop"))
    try await tool.run("devices", "reindex", "--config", world.directory.file("none.json5").path, exit: 3)
    world.redis.stop()
    try await tool.run("devices", "reindex", exit: 4)
  }
}
