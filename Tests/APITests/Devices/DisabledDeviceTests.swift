import API
import Domain
import Intake
import JSON
import Store
import Testing

@Suite("A disabled device stays disabled until somebody enables it", .serialized)
struct DisabledDeviceTests {
  private static let lines = ["content-type": "application/x-ndjson"]

  private static func results(_ reply: Reply) -> [JSONValue] {
    reply.text.split(separator: "\n").compactMap { try? JSON.parse(Array($0.utf8)) }
  }

  @Test("a disabled device stays so until a line or a registration says otherwise, and the answer says it")
  func staysDisabled() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""enabled":false"#)
      gateway.register("d2")
      func isEnabled() -> Bool? { gateway.ask("GET", "/v1/devices/d1", as: .read).json["enabled"]?.bool }
      func codes(_ answer: JSONValue?) -> [String?] { (answer?["warnings"]?.array ?? []).map { $0["code"]?.string } }
      let token = gateway.ask("GET", "/v1/devices/d1", as: .read).json["token"]?.string ?? ""
      let plain = #"{"provider":"apns","token":"\#(token)"}"#
      for (method, path, scope) in [
        ("PUT", "/v1/devices/d1", Scope.devices), ("POST", "/v1/devices", .devices), ("POST", "/v1/devices", .register),
      ] {
        let reply = gateway.ask(method, path, plain, as: scope)
        #expect(codes(reply.json).contains("stays_disabled"), "\(method) \(reply.text)")
        if scope == .devices { #expect(reply.json["status"]?.string == "disabled", "\(reply.text)") }
        #expect(isEnabled() == false, "\(method) \(path)")
      }
      let lines = #"{"id":"d1","provider":"apns","token":"\#(token)"}"# + "\n" + #"{"provider":"apns","token":"6433"}"#
      let table = "id,token\nd1,\(token)\nd2,6432\n"
      for (query, body, type) in [
        ("", lines, Self.lines), ("?keep_missing=true", lines, Self.lines),
        ("?set=provider:apns", table, ["content-type": "text/csv"]),
      ] {
        let reply = gateway.ask("POST", "/v1/devices/bulk\(query)", body, as: .devices, type)
        let results = Self.results(reply)
        #expect(codes(results[0]).first == "stays_disabled" && codes(results[1]).isEmpty, "\(query): \(reply.text)")
        #expect(isEnabled() == false, "\(query)")
      }
      let on = gateway.ask(
        "POST", "/v1/devices/bulk?set=provider:apns&set=enabled:Y", table, as: .devices, ["content-type": "text/csv"])
      #expect(Self.results(on).map(codes) == [["enabled_again"], []], "\(on.text)")
      #expect(isEnabled() == true)
      // A file that is older than the opt-out: what it undoes is told, once.
      let old = #"{"id":"d1","provider":"apns","token":"\#(token)","enabled":true}"#
      for query in ["", "?keep_missing=true"] {
        #expect(
          gateway.ask(
            "PUT", "/v1/devices/d1", #"{"provider":"apns","token":"\#(token)","enabled":false}"#, as: .devices
          ).status == 200)
        for expected: [String?] in [["enabled_again"], []] {
          let reply = gateway.ask("POST", "/v1/devices/bulk\(query)", old, as: .devices, Self.lines)
          #expect(Self.results(reply).map(codes) == [expected], "\(query): \(reply.text)")
        }
      }
      let off = old.replacing("true", with: "false")
      let still = gateway.ask("POST", "/v1/devices/bulk", off, as: .devices, Self.lines)
      #expect(Self.results(still).map(codes) == [[]] && isEnabled() == false, "\(still.text)")
    }
  }

  @Test("a new id that takes over the token of a disabled device is enabled, and the answer says it")
  func tokenOfDisabled() async throws {
    try await Gateway.running { gateway in
      gateway.register("d0", #""enabled":false"#)
      let token = gateway.ask("GET", "/v1/devices/d0", as: .read).json["token"]?.string ?? ""
      func codes(_ answer: JSONValue?) -> [String] {
        (answer?["warnings"]?.array ?? []).compactMap { $0["code"]?.string }.filter { $0.contains("abled") }
      }
      func disable(_ id: String) {
        let reply = gateway.ask(
          "PUT", "/v1/devices/\(id)", #"{"provider":"apns","token":"\#(token)","enabled":false}"#, as: .devices)
        #expect(codes(reply.json).isEmpty, "\(reply.text)")
      }
      func line(_ id: String, _ more: String = "") -> String {
        #"{"id":"\#(id)","provider":"apns","token":"\#(token)"\#(more)}"#
      }
      func bulk(_ query: String, _ line: String) -> [String] {
        codes(Self.results(gateway.ask("POST", "/v1/devices/bulk\(query)", line, as: .devices, Self.lines)).first)
      }
      let put = gateway.ask("PUT", "/v1/devices/d1", line("d1"), as: .devices)
      #expect(codes(put.json) == ["enabled_again"], "\(put.text)")
      #expect(put.text.contains("`d0`, which had this token until now, was disabled"), "\(put.text)")
      // From one that is enabled nothing is to be told.
      #expect(codes(gateway.ask("PUT", "/v1/devices/d2", line("d2"), as: .devices).json).isEmpty)
      disable("d2")
      #expect(bulk("", line("d3")) == ["enabled_again"])
      disable("d3")
      #expect(bulk("", line("d4", #","enabled":false"#)) == [])
      #expect(bulk("?keep_missing=true", line("d5")) == ["stays_disabled"])
      #expect(bulk("?keep_missing=true", line("d6", #","enabled":true"#)) == ["enabled_again"])
    }
  }
}
