import API
import Domain
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
      func export(_ query: String = "") -> Reply { gateway.ask("GET", "/v1/devices/export\(query)", as: .devices) }
      let lines = export()
      #expect(Set(Self.results(lines).compactMap { $0["id"]?.string }) == ["d1", "d3"], "\(lines.text)")
      let again = gateway.ask("POST", "/v1/devices/bulk", lines.text, as: .devices, Self.lines)
      #expect(Self.results(again).allSatisfy { $0["registration"] == .string("updated") }, "\(again.text)")
      #expect(Set(Self.results(export("?dead=true")).compactMap { $0["status"]?.string }) == ["active", "dead"])
      let table = gateway.ask("GET", "/v1/devices/export", as: .devices, ["accept": "text/csv"])
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

      let export = gateway.ask("GET", "/v1/devices/export", as: .devices)
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
