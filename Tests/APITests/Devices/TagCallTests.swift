import API
import Domain
import JSON
import Store
import Testing

@Suite("Tags are changed and listed", .serialized)
struct TagCallTests {
  private static func texts(_ value: JSONValue?) -> [String] { value?.array?.compactMap(\.string) ?? [] }

  @Test("tags of a device are added, removed and replaced in one step")
  func deviceTags() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""tags":["a","b"]"#)
      func change(_ body: String) -> Reply { gateway.ask("PATCH", "/v1/devices/d1/tags", body, as: .devices) }
      #expect(Self.texts(change(#"{"add":["c","a"],"remove":["b","x"]}"#).json["tags"]) == ["a", "c"])
      #expect(Self.texts(change(#"{"replace":["z"]}"#).json["tags"]) == ["z"])
      #expect(Self.texts(gateway.ask("GET", "/v1/devices/d1", as: .read).json["tags"]) == ["z"])
      #expect(gateway.ask("PATCH", "/v1/devices/none/tags", #"{"add":["c"]}"#, as: .devices).status == 404)
    }
  }

  @Test("what cannot be a change of tags is refused, and nothing changes")
  func badEdits() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""tags":["a"]"#)
      let many = (0...250).map { "\"t\($0)\"" }.joined(separator: ",")
      let long = String(repeating: "x", count: 10_000)
      let bad: [(String, String)] = [
        ("{}", " required"), (#"{"add":["a"],"remove":["a"]}"#, "/remove not_allowed"),
        (#"{"replace":[],"add":["a"]}"#, "/replace not_allowed"), (#"{"add":[1]}"#, "/add/0 wrong_type"),
        (#"{"add":["a\u0007b"]}"#, "/add/0 invalid_format"), (#"{"add":["\#(long)"]}"#, "/add/0 too_long"),
        (#"{"add":[\#(many)]}"#, "/add too_many"), (#"{"ad":["a"]}"#, "/ad unknown_field"),
      ]
      for (body, violation) in bad {
        let reply = gateway.ask("PATCH", "/v1/devices/d1/tags", body, as: .devices)
        #expect(reply.status == 422 && reply.code == "invalid_tags", "\(body.prefix(60)) \(reply.text.prefix(200))")
        #expect(reply.violations.contains(violation), "\(body.prefix(60)) \(reply.violations)")
      }
      let full = (1...249).map { "\"t\($0)\"" }.joined(separator: ",")
      #expect(gateway.ask("PATCH", "/v1/devices/d1/tags", #"{"add":[\#(full)]}"#, as: .devices).status == 200)
      #expect(gateway.ask("PATCH", "/v1/devices/d1/tags", #"{"add":["more"]}"#, as: .devices).code == "invalid_tags")
      #expect(Self.texts(gateway.ask("GET", "/v1/devices/d1", as: .read).json["tags"]).count == 250)
    }
  }

  @Test("a user's tags reach its devices, later ones too, and are counted with the devices' own")
  func userTags() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""user":"u 1","tags":["own"]"#)
      let put = gateway.ask("PUT", "/v1/users/u%201/tags", #"{"tags":["vip","plan:pro"]}"#, as: .devices)
      #expect(put.status == 200, "\(put.text)")
      gateway.register("d2", #""user":"u 1""#)
      let user = gateway.ask("GET", "/v1/users/u%201", as: .read)
      #expect(Self.texts(user.json["tags"]) == ["vip", "plan:pro"])
      func counts(_ query: String = "") -> [String: Int64] {
        let items = gateway.ask("GET", "/v1/tags\(query)", as: .read).json["items"]?.array ?? []
        return Dictionary(
          uniqueKeysWithValues: items.map { item in
            if case .integer(let count)? = item["device_count"] { (item["tag"]?.string ?? "", count) } else { ("", 0) }
          })
      }
      #expect(counts() == ["own": 1, "vip": 2, "plan:pro": 2])
      #expect(counts("?prefix=plan:") == ["plan:pro": 2])
      let change = gateway.ask("PATCH", "/v1/users/u%201/tags", #"{"add":["new"],"remove":["vip"]}"#, as: .devices)
      #expect(change.status == 200 && Self.texts(change.json["tags"]) == ["plan:pro", "new"], "\(change.text)")
      #expect(gateway.ask("PATCH", "/v1/users/u%201/tags", "{}", as: .devices).code == "invalid_tags")
      #expect(counts() == ["own": 1, "new": 2, "plan:pro": 2])
      #expect(gateway.ask("PUT", "/v1/users/u%201/tags", #"{"tags":[]}"#, as: .devices).status == 200)
      #expect(counts() == ["own": 1])
      let page = gateway.ask("GET", "/v1/tags?limit=1&cursor=nonsense", as: .read)
      #expect(page.code == "invalid_cursor")
    }
  }
}
