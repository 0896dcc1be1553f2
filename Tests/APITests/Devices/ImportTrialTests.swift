import API
import Domain
import JSON
import Store
import Testing

@Suite("An import can be tried without any effect", .serialized)
struct ImportTrialTests {
  private static let lines = ["content-type": "application/x-ndjson"]
  private static let path = "/v1/devices/bulk"

  private static func results(_ reply: Reply) -> [JSONValue] {
    reply.text.split(separator: "\n").compactMap { try? JSON.parse(Array($0.utf8)) }
  }

  /// Without what tells a trial from an import.
  private static func judgements(_ reply: Reply) -> [JSONValue] {
    results(reply).map { result in .object((result.object ?? []).filter { $0.key != "dry_run" }) }
  }

  private func everything(_ gateway: Gateway) -> [String] {
    let export = gateway.ask("GET", "/v1/devices/export?dead=true", as: .export)
    return export.text.split(separator: "\n").map(String.init).sorted()
  }

  /// Devices of all kinds: living, disabled, dead, registered by token alone.
  private func fill(_ gateway: Gateway) {
    gateway.register("d1", #""tags":["a"],"user":"u","language":"de","attributes":{"n":1}"#)
    gateway.register("d2", #""enabled":false"#)
    for (id, token) in [("e1", "aa01"), ("e2", "aa02")] {
      #expect(gateway.ask("PUT", "/v1/devices/\(id)", #"{"provider":"apns","token":"\#(token)"}"#).status == 201)
    }
    // The token of e2 moves: a tombstone stays.
    #expect(gateway.ask("PUT", "/v1/devices/e3", #"{"provider":"apns","token":"aa02"}"#).status == 200)
    #expect(gateway.ask("POST", "/v1/devices", #"{"provider":"fcm","token":"own"}"#, as: .devices).status == 201)
  }

  private static let mixed = [
    #"{"id":"new","provider":"fcm","token":"t-1","tags":["x"]}"#,
    #"{"id":"new","provider":"fcm","token":"t-2"}"#,
    #"{"provider":"fcm","token":"t-2"}"#,
    #"{"id":"thief","provider":"fcm","token":"t-2"}"#,
    #"{"id":"d1","provider":"fcm","token":"t-4"}"#,
    #"{"id":"d2","provider":"fcm","token":"t-5"}"#,
    #"{"id":"d2","provider":"fcm","token":"t-5","enabled":true}"#,
    #"{"id":"e2","provider":"apns","token":"aa03"}"#,
    #"{"id":"f1","provider":"apns","token":"aa01"}"#,
    #"{"id":"f2","provider":"apns","token":"aa02"}"#,
    #"{"provider":"fcm","token":"own"}"#,
    #"{"id":"f3","provider":"fcm","token":"own"}"#,
    #"{"provider":"fcm","token":"alone"}"#,
    #"{"provider":"fmc","token":"t-9"}"#,
    #"{"provider":"fcm""#,
    #"{"id":"dead","provider":"fcm","token":"t-8","status":"dead"}"#,
  ].joined(separator: "\n")

  @Test("each line is judged as the import judges it, and nothing is written", arguments: ["", "&keep_missing=true"])
  func judgements(query: String) async throws {
    try await Gateway.running { gateway in
      fill(gateway)
      let before = everything(gateway)
      let trial = gateway.ask("POST", Self.path + "?dry_run=true\(query)", Self.mixed, as: .devices, Self.lines)
      #expect(trial.status == 200, "\(trial.text)")
      for result in Self.results(trial) where result["problem"] == nil {
        #expect(result["dry_run"] == .bool(true), "\(result)")
      }
      #expect(everything(gateway) == before)
      let audit = gateway.ask("GET", "/v1/audit?operation=registerDevices", as: .admin)
      #expect(audit.json["items"]?.array?.isEmpty == true, "\(audit.text)")
      let real = gateway.ask("POST", Self.path + "?dry_run=false\(query)", Self.mixed, as: .devices, Self.lines)
      for (told, done) in zip(Self.judgements(trial), Self.judgements(real)) { #expect(told == done) }
      #expect(Self.judgements(trial).count == 16 && Self.judgements(real).count == 16)
      #expect(everything(gateway) != before)
    }
  }

  @Test("a table is tried with its mapping; a head that cannot be read is refused as ever")
  func tables() async throws {
    try await Gateway.running { gateway in
      let type = ["content-type": "text/csv"]
      let table = "Email;Push token\nann@example.com;t-1\nmax@example.com;\n"
      let query = "?dry_run=true&map=Email:user&map=Push%20token:token&set=provider:fcm"
      let reply = gateway.ask("POST", Self.path + query, table, as: .devices, type)
      let results = Self.results(reply)
      #expect(results.map { $0["registration"]?.string } == ["created", nil], "\(reply.text)")
      #expect(results.last?["problem"]?["violations"]?.array?.first?["pointer"] == .string("/token"))
      #expect(gateway.ask("POST", Self.path + "?dry_run=true", table, as: .devices, type).code == "invalid_csv")
      #expect(gateway.ask("POST", Self.path + "?dry_run=yes", table, as: .devices, type).status == 400)
      #expect(everything(gateway).isEmpty)
    }
  }

  @Test("bounds of the app and of a user count, and a trial uses nothing of them")
  func bounds() async throws {
    var limits = TenantLimits()
    (limits.devices, limits.tags) = (3, 2)
    try await Gateway.running(limits: limits) { gateway in
      gateway.register("d1", #""tags":["a"]"#)
      let lines = [
        #"{"id":"d1","provider":"fcm","token":"t-1","tags":["a","b"]}"#,
        #"{"id":"d2","provider":"fcm","token":"t-2","tags":["c"]}"#,
        #"{"id":"d3","provider":"fcm","token":"t-3"}"#,
        #"{"id":"d4","provider":"fcm","token":"t-4"}"#,
        #"{"id":"d5","provider":"fcm","token":"t-5"}"#,
      ].joined(separator: "\n")
      func ask(_ query: String) -> Reply {
        gateway.ask("POST", Self.path + query, lines, as: .devices, Self.lines)
      }
      let first = ask("?dry_run=true")
      #expect(
        Self.results(first).map { $0["registration"]?.string ?? $0["problem"]?["code"]?.string }
          == ["updated", "tag_limit", "created", "device_limit", "device_limit"], "\(first.text)")
      // Were the tags of the first trial taken for known, the second would find room for them.
      #expect(Self.judgements(ask("?dry_run=true")) == Self.judgements(first))
      #expect(Self.judgements(ask("")) == Self.judgements(first))
    }
  }

  @Test("a user who has too many devices is told in a trial too")
  func crowdedUser() async throws {
    try await Gateway.running { gateway in
      let lines = (0..<520).map { #"{"id":"g\#($0)","provider":"fcm","token":"g-\#($0)","user":"guest"}"# }
        .joined(separator: "\n")
      let trial = gateway.ask("POST", Self.path + "?dry_run=true", lines, as: .devices, Self.lines)
      #expect(gateway.ask("GET", "/v1/users/guest", as: .devices).status == 404)
      let real = gateway.ask("POST", Self.path, lines, as: .devices, Self.lines)
      #expect(Self.judgements(trial) == Self.judgements(real))
      #expect(Self.results(trial).count { $0["problem"] != nil } == 20)
    }
  }
}
