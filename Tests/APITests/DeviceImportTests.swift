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
