import API
import Domain
import Intake
import JSON
import Store
import Testing

@Suite("Devices are imported line by line", .serialized)
struct DeviceImportTests {
  private static let lines = ["content-type": "application/x-ndjson"]

  private static func results(_ reply: Reply) -> [JSONValue] {
    reply.text.split(separator: "\n").compactMap { try? JSON.parse(Array($0.utf8)) }
  }

  @Test("a broken line is answered for and stops no other; a repeat ends as the same devices")
  func brokenLines() async throws {
    try await Gateway.running { gateway in
      let body = [
        #"{"id":"d1","provider":"fcm","token":"t-1","tags":["a"]}"#,
        "",
        #"{"id":"d2","provider":"fcm""#,
        "{\"id\":\"d3\",\"provider\":\"fcm\",\"token\":\"t-3\",\"user\":\"\u{FFFD}\"}\r",
        #"{"id":"d4","provider":"fmc","token":"t-4"}"#,
        #"{"id":"d1","provider":"fcm","token":"t-5","tags":["b"]}"#,
        #"{"provider":"fcm","token":"t-1"}"#,
      ].joined(separator: "\n")
      for _ in 1...2 {
        let reply = gateway.ask("POST", "/v1/devices/bulk", body, as: .devices, Self.lines)
        #expect(reply.status == 200, "\(reply.text)")
        let results = Self.results(reply)
        #expect(results.map { $0["line"] } == [1, 3, 4, 5, 6, 7].map { .integer($0) })
        #expect(results[0]["id"] == .string("d1"))
        #expect(results[1]["problem"]?["code"] == .string("malformed_json"))
        #expect(results[2]["id"] == .string("d3"))
        #expect(results[3]["problem"]?["violations"]?.array?.first?["pointer"] == .string("/provider"))
        #expect(results[4]["id"] == .string("d1"))
      }
      #expect(gateway.ask("GET", "/v1/devices/d1", as: .read).json["token"] == .string("t-5"))
      #expect(gateway.ask("GET", "/v1/devices/d1", as: .read).json["tags"] == .array([.string("b")]))
      #expect(gateway.ask("GET", "/v1/devices/d2", as: .read).status == 404)
    }
  }

  @Test("a line in another encoding is answered for; a file in UTF-16 is refused; equal lines are one device")
  func encodings() async throws {
    try await Gateway.running { gateway in
      func ask(_ body: [UInt8]) -> Reply {
        let client = Client(port: gateway.port)
        client.send("POST", "/v1/devices/bulk", gateway.headers(as: .devices, Self.lines), body)
        return client.receive(hasBody: true)
      }
      let line = #"{"id":"d1","provider":"fcm","token":"t-1","tags":["é"]}"#
      var latin = Array(#"{"id":"d2","provider":"fcm","token":"t-2","user":"X"}"#.utf8)
      latin[latin.count - 3] = 0xE9
      var wide: [UInt8] = []
      for byte in #"{"id":"d3","provider":"fcm","token":"t-3"}"#.utf8 { wide += [byte, 0] }
      var body = Array("\(line)\n\(line)\n".utf8)
      for more in [latin, wide, Array(line.utf8)] {
        body += more
        body.append(0x0A)
      }
      let reply = ask(body)
      let results = Self.results(reply)
      #expect(
        results.map { $0["registration"]?.string } == ["created", "updated", nil, nil, "updated"], "\(reply.text)")
      #expect(results[2]["problem"]?["code"] == .string("malformed_json"))
      #expect(results[3]["problem"]?["code"] == .string("malformed_json"))
      #expect(gateway.ask("GET", "/v1/devices/d1", as: .read).json["tags"] == .array([.string("é")]))
      #expect(ask([0xFF, 0xFE] + wide).code == "malformed_json")
      #expect(gateway.ask("GET", "/v1/devices/d3", as: .read).status == 404)
    }
  }

  @Test("what is exported may be imported again, and a dead device is told only where it is asked for")
  func export() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""tags":["a"],"user":"u","language":"de","attributes":{"n":1}"#)
      gateway.register("d2")
      // Its token moves to another id: a tombstone stays.
      let token = gateway.ask("GET", "/v1/devices/d2", as: .read).json["token"]?.string ?? ""
      #expect(gateway.ask("PUT", "/v1/devices/d3", #"{"provider":"apns","token":"\#(token)"}"#).status == 200)
      func export(_ query: String = "") -> Reply { gateway.ask("GET", "/v1/devices/export\(query)", as: .export) }
      let lines = export()
      #expect(Set(Self.results(lines).compactMap { $0["id"]?.string }) == ["d1", "d3"], "\(lines.text)")
      let again = gateway.ask("POST", "/v1/devices/bulk", lines.text, as: .devices, Self.lines)
      #expect(Self.results(again).allSatisfy { $0["registration"] == .string("updated") }, "\(again.text)")
      #expect(Set(Self.results(export("?dead=true")).compactMap { $0["status"]?.string }) == ["active", "dead"])
      let table = gateway.ask("GET", "/v1/devices/export", as: .export, ["accept": "text/csv"])
      #expect(table.text.split(separator: "\r\n").count == 3, "\(table.text)")
    }
  }

  @Test("an import keeps when a device was registered, an ordinary registration says that it is now")
  func registrationTimes() async throws {
    try await Gateway.running { gateway in
      func time(_ id: String) -> String? {
        gateway.ask("GET", "/v1/devices/\(id)", as: .read).json["registered_at"]?.string
      }
      let old = "2024-01-02T03:04:05.678Z"
      let body = [
        #"{"id":"d1","provider":"fcm","token":"t-1","registered_at":"\#(old)"}"#,
        #"{"id":"d2","provider":"fcm","token":"t-2"}"#,
        #"{"id":"d3","provider":"fcm","token":"t-3","registered_at":"2999-01-01T00:00:00Z"}"#,
      ].joined(separator: "\n")
      gateway.register("now")
      let before = try #require(time("now"))
      let results = Self.results(gateway.ask("POST", "/v1/devices/bulk", body, as: .devices, Self.lines))
      let fault = results[2]["problem"]?["violations"]?.array?.first
      #expect(fault?["pointer"]?.string == "/registered_at" && fault?["code"]?.string == "not_allowed", "\(results)")
      #expect(time("d1") == old && time("d3") == nil)
      #expect(try #require(time("d2")) >= before)

      let export = gateway.ask("GET", "/v1/devices/export", as: .export)
      let told = Self.results(export).first { $0["id"]?.string == "d1" }?["registered_at"]?.string
      #expect(told == old, "\(export.text)")
      let again = gateway.ask("POST", "/v1/devices/bulk", export.text, as: .devices, Self.lines)
      #expect(Self.results(again).allSatisfy { $0["registration"] == .string("updated") }, "\(again.text)")
      #expect(time("d1") == old)

      // Only an import may tell it; the app that comes again is here now.
      let forged = gateway.ask(
        "PUT", "/v1/devices/d1", #"{"provider":"fcm","token":"t-1","registered_at":"\#(old)"}"#, as: .devices)
      #expect(forged.violations == ["/registered_at not_allowed"])
      #expect(
        gateway.ask("POST", "/v1/devices", #"{"provider":"fcm","token":"t-1"}"#, as: .register).status == 200)
      #expect(try #require(time("d1")) >= before)
    }
  }

  @Test("a table has at most 300 columns and 10,000 lines, and a row of it 1 MiB")
  func longTables() async throws {
    try await Gateway.running { gateway in
      func ask(_ table: String, _ query: String = "?set=provider:fcm") -> Reply {
        gateway.ask("POST", "/v1/devices/bulk\(query)", table, as: .devices, ["content-type": "text/csv"])
      }
      func head(_ count: Int) -> String { (0..<count).map { "attributes.a\($0)" }.joined(separator: ",") }
      for count in [300, 40_000] {
        let wide = ask("token,\(head(count))\nt-1,\(String(repeating: "1,", count: count))\n")
        #expect(wide.status == 422 && wide.code == "invalid_csv", "\(wide.text.prefix(300))")
        #expect(wide.violations == [" too_many"])
        #expect(wide.text.contains("more than 300 columns"), "\(wide.text.prefix(300))")
      }
      let unknown = ask((0..<300).map { "tokn\($0)" }.joined(separator: ",") + "\n")
      #expect(unknown.status == 422 && unknown.violations.count == RequestBounds.violations + 1)
      #expect(unknown.violations.last == " more_violations")
      #expect(ask("token,unknown\nt-1,1\n").violations == [" unknown_field"])
      // All its columns are read, and what a line has beyond them is told once.
      let full = ask("token,\(head(100))\nt-1,\(Array(repeating: "1", count: 100).joined(separator: ","))\n")
      #expect(Self.results(full).map { $0["registration"]?.string } == ["created"], "\(full.text.prefix(300))")
      let beyond = ask("token\nt-1,\(String(repeating: "1,", count: 1_000))\n")
      #expect(Self.results(beyond).first?["problem"]?["violations"]?.array?.count == 1, "\(beyond.text.prefix(300))")
      // A column replaces what `set` says of the same attribute.
      let set = ask("id,token,attributes.a\nd7,t-7,column\n", "?set=provider:fcm&set=attributes.a:constant")
      #expect(set.status == 200, "\(set.text)")
      #expect(gateway.ask("GET", "/v1/devices/d7", as: .read).json["attributes"]?["a"]?.string == "column")

      #expect(ask("token\n" + String(repeating: "t\n", count: 10_001)).code == "body_too_large")
      for cell in [String(repeating: "t", count: 1 << 20), "\"" + String(repeating: "\n", count: 1 << 20) + "\""] {
        let long = Self.results(ask("token\nt-2\n\(cell)\n"))
        #expect(long.first?["registration"] != nil && long[1]["line"] == .integer(3), "\(long)")
        #expect(long[1]["problem"]?["detail"]?.string == "The row is longer than 1048576 bytes", "\(long[1])")
      }
      #expect(ask(String(repeating: "t", count: 1 << 20) + ",token\nt-2\n").code == "malformed_csv")
    }
  }

  @Test("a quote that does not end costs its line alone, and so does a row with too few or too many cells")
  func brokenRows() async throws {
    try await Gateway.running { gateway in
      func ask(_ table: String) -> Reply {
        gateway.ask(
          "POST", "/v1/devices/bulk?set=provider:fcm", table, as: .devices, ["content-type": "text/csv"])
      }
      // Two that begin a cell and never end, one within a cell, and one that ends on the next line.
      let reply = ask(
        [
          "id,token,user", #"d1,"t-1,ana"#, "d2,t-2,bob", #"d3,t"-3,"carl"#, #"d4,t-4,"da"# + "\n" + #"na""#, "d5,t-5",
          "d6,t-6,x,y",
        ].joined(separator: "\n"))
      let results = Self.results(reply)
      #expect(results.map { $0["line"]?.integer } == [2, 3, 4, 5, 7, 8], "\(reply.text)")
      for (place, isBroken) in [true, false, true, false, false, false].enumerated() {
        #expect((results[place]["problem"]?["code"]?.string == "malformed_csv") == isBroken, "\(results[place])")
      }
      #expect(gateway.ask("GET", "/v1/devices/d2", as: .read).json["user"]?.string == "bob")
      for (result, code, detail) in [
        (results[4], "required", "the row has 2 of 3 cells"), (results[5], "too_many", "more cells than the table has"),
      ] {
        let fault = result["problem"]?["violations"]?.array?.first
        #expect(fault?["code"]?.string == code && fault?["detail"]?.string?.contains(detail) == true, "\(result)")
      }
      #expect(gateway.ask("GET", "/v1/devices/d5", as: .read).status == 404)
      // Columns without a name at the end hold nothing, and may be left out.
      let unnamed = ask("id,token,,\nd7,t-7,,\nd8,t-8\nd9,t-9,\nd10,t-10,,x\n")
      #expect(Self.results(unnamed).map { $0["problem"] == nil } == [true, true, true, false], "\(unnamed.text)")
      // Each line looks as if all behind it were its own: that is refused at some time.
      let hostile = ask("id,token\n" + String(repeating: #"x","y"#.dropLast() + "\n", count: 9_000))
      #expect(hostile.status == 400 && hostile.code == "malformed_csv", "\(hostile.text.prefix(300))")
    }
  }

  @Test("a line replaces the whole device; with keep_missing it keeps what the line does not have, also under a new id")
  func keepMissing() async throws {
    try await Gateway.running { gateway in
      let full = #""tags":["a","b"],"user":"ana","language":"de","attributes":{"first_name":"Ana","plan":"pro"}"#
      for id in ["d1", "d2", "d3"] { gateway.register(id, full) }
      func token(_ id: String) -> String {
        gateway.ask("GET", "/v1/devices/\(id)", as: .read).json["token"]?.string ?? ""
      }
      func read(_ id: String) -> JSONValue { gateway.ask("GET", "/v1/devices/\(id)", as: .read).json }
      func ask(_ query: String, _ lines: [String]) -> Reply {
        gateway.ask("POST", "/v1/devices/bulk\(query)", lines.joined(separator: "\n"), as: .devices, Self.lines)
      }
      let (first, second, third) = (token("d1"), token("d2"), token("d3"))
      let kept = ask(
        "?keep_missing=true",
        [
          #"{"id":"d1","provider":"apns","token":"\#(first)","language":"fr","attributes":{"plan":"free"}}"#,
          #"{"id":"new","provider":"apns","token":"\#(second)","tags":[]}"#,
          #"{"id":"other","provider":"apns","token":"ab12"}"#,
        ])
      #expect(
        Self.results(kept).map { $0["registration"]?.string } == ["updated", "moved", "created"], "\(kept.text)")
      let d1 = read("d1")
      #expect(d1["user"]?.string == "ana" && d1["tags"]?.array?.count == 2 && d1["language"]?.string == "fr", "\(d1)")
      let attributes = d1["attributes"]
      #expect(attributes?["plan"]?.string == "free" && attributes?["first_name"]?.string == "Ana", "\(d1)")
      let new = read("new")
      #expect(new["user"]?.string == "ana" && (new["tags"]?.array ?? []).isEmpty, "\(new)")
      #expect(new["attributes"]?["plan"]?.string == "pro", "\(new)")

      _ = ask("", [#"{"id":"d3","provider":"apns","token":"\#(third)"}"#])
      let d3 = read("d3")
      #expect(d3["user"] == nil && (d3["tags"]?.array ?? []).isEmpty && d3["attributes"]?["plan"] == nil, "\(d3)")
      #expect(ask("?keep_missing=1", [#"{"provider":"apns","token":"ab"}"#]).status == 400)
    }
  }

  @Test("what an export says of all devices is imported as it is: dead ones are passed over")
  func wholeExport() async throws {
    try await Gateway.running { gateway in
      gateway.register("off", #""enabled":false,"user":"u""#)
      gateway.register("on", #""user":"u""#)
      gateway.register("gone")
      let token = gateway.ask("GET", "/v1/devices/gone", as: .read).json["token"]?.string ?? ""
      #expect(gateway.ask("PUT", "/v1/devices/heir", #"{"provider":"apns","token":"\#(token)"}"#).status == 200)
      #expect(gateway.ask("PUT", "/v1/users/u/tags", #"{"tags":["vip"]}"#).status == 200)
      func devices() -> [String] {
        gateway.ask("GET", "/v1/devices/export?dead=true&format=csv", as: .export).text.split(separator: "\r\n")
          .map(String.init).sorted()
      }
      let before = devices()
      #expect(before.count == 5, "\(before)")
      for (path, type) in [
        ("/v1/devices/export?dead=true", "application/x-ndjson"),
        ("/v1/devices/export?dead=true&format=csv", "text/csv"),
        ("/v1/devices?format=ndjson", "application/x-ndjson"), ("/v1/devices?format=csv", "text/csv"),
      ] {
        let export = gateway.ask("GET", path, as: .export)
        let again = gateway.ask("POST", "/v1/devices/bulk", export.text, as: .devices, ["content-type": type])
        let results = Self.results(again)
        let told = results.map { "\($0["registration"]?.string ?? "") \($0["reason"]?.string ?? "")" }.sorted()
        #expect(told == ["skipped dead", "updated ", "updated ", "updated "], "\(path): \(again.text)")
        let doubts = Set(results.flatMap { $0["warnings"]?.array ?? [] }.compactMap { $0["pointer"]?.string })
        #expect(doubts == (type == "text/csv" ? [] : ["/user_tags"]), "\(path): \(again.text)")
        #expect(devices() == before, "\(path)")
      }
    }
  }

  @Test("a table may say in several words whether a device is enabled, and a wrong one is told which")
  func enabledWords() async throws {
    try await Gateway.running { gateway in
      func ask(_ table: String) -> [JSONValue] {
        Self.results(
          gateway.ask(
            "POST", "/v1/devices/bulk?set=provider:fcm", table, as: .devices, ["content-type": "text/csv"]))
      }
      let words = ["true", "YES", "y", "1", "FALSE", "no", "N", "0"]
      let rows = words.enumerated().map { "d\($0.offset),t-\($0.offset),\($0.element)" }
      #expect(ask((["id,token,enabled"] + rows).joined(separator: "\n")).allSatisfy { $0["problem"] == nil })
      for (at, word) in words.enumerated() {
        let enabled = gateway.ask("GET", "/v1/devices/d\(at)", as: .read).json["enabled"]
        #expect(enabled == .bool(at < 4), "\(word)")
      }
      func fault(_ result: JSONValue?) -> String {
        let violation = result?["problem"]?["violations"]?.array?.first
        return "\(violation?["pointer"]?.string ?? "") \(violation?["detail"]?.string ?? "")"
      }
      let nein = fault(ask("id,token,enabled\nx,t,nein\n").first)
      #expect(nein.hasPrefix("/enabled ") && nein.contains("yes or no, y or n, 1 or 0"), "\(nein)")
      // Who changes one of the two columns of an export must not be ignored.
      let both = ask("id,token,enabled,status\nx,t,true,disabled\ny,u,,disabled\nz,v,true,off\nw,w,,Active\n")
      #expect(fault(both.first).hasPrefix("/status `status` is `disabled`, and `enabled` says otherwise"), "\(both)")
      #expect(both[1]["problem"] == nil && both[3]["problem"] == nil, "\(both)")
      #expect(fault(both[2]).contains("active, disabled or dead"), "\(both)")
      #expect(gateway.ask("GET", "/v1/devices/y", as: .read).json["enabled"] == .bool(false))
    }
  }

  @Test("a plain date in a table is its midnight in UTC")
  func plainDates() async throws {
    try await Gateway.running { gateway in
      let reply = gateway.ask(
        "POST", "/v1/devices/bulk?set=provider:fcm",
        "id,token,registered_at\nd1,t-1,2024-11-01\nd2,t-2,01.11.2024\nd3,t-3,1 Nov\n", as: .devices,
        ["content-type": "text/csv"])
      #expect(Self.results(reply).map { $0["problem"] == nil } == [true, true, false], "\(reply.text)")
      for id in ["d1", "d2"] {
        let time = gateway.ask("GET", "/v1/devices/\(id)", as: .read).json["registered_at"]?.string
        #expect(time?.hasPrefix("2024-11-01T00:00:00") == true, "\(time ?? "")")
      }
    }
  }

  @Test("the lines of one request share what is told of faults: 200, one more of each line, and 20 suggestions")
  func sharedFaults() async throws {
    try await Gateway.running { gateway in
      let members = (0..<30).map { "\"tokn\($0)\":1" }.joined(separator: ",")
      let body = Array(repeating: "{\(members)}", count: 100).joined(separator: "\n")
      for (path, scope) in [("/v1/devices/bulk", Scope.devices), ("/v1/messages/bulk", .send)] {
        let reply = gateway.ask("POST", path, body, as: scope, Self.lines)
        let lines = Self.results(reply).map { $0["problem"]?["violations"]?.array ?? [] }
        #expect(lines.count == 100)
        let told = lines.map { $0.filter { $0["code"]?.string != "more_violations" } }
        #expect(told.allSatisfy { (1...RequestBounds.violationsOfLine).contains($0.count) })
        #expect(told.joined().count <= RequestBounds.violations + lines.count)
        #expect(lines.allSatisfy { $0.last?["code"]?.string == "more_violations" })
        let suggested = told.joined().filter { $0["detail"]?.string?.contains("did you mean") == true }
        #expect(suggested.count <= SuggestionBudget.searches)
      }
    }
  }

  @Test("a file in another encoding, without lines, of another type or with too many lines is refused as a whole")
  func refused() async throws {
    try await Gateway.running { gateway in
      func ask(_ body: [UInt8], _ headers: [String: String] = Self.lines) -> Reply {
        gateway.ask("POST", "/v1/devices/bulk", String(decoding: body, as: UTF8.self), as: .devices, headers)
      }
      let device = #"{"id":"d1","provider":"fcm","token":"t-1"}"#
      #expect(ask(Array("\u{FEFF}\(device)\n".utf8)).status == 200)
      #expect(ask([]).code == "malformed_json")
      #expect(ask(Array("\n \r\n".utf8)).code == "malformed_json")
      #expect(ask(Array(device.utf8), ["content-type": "application/json"]).status == 415)
      #expect(ask(Array(String(repeating: "{}\n", count: 10_001).utf8)).code == "body_too_large")
    }
  }
}
