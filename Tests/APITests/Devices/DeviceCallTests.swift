import API
import Domain
import JSON
import Store
import Testing

@Suite("Devices are registered, read, moved and deleted", .serialized)
struct DeviceCallTests {
  @Test("a token finds the device that holds it, however it was written; it needs its provider, and is in no audit")
  func byToken() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""user":"u1","tags":["a"]"#)
      gateway.register("d2")
      func found(_ query: String) -> [String] {
        let reply = gateway.ask("GET", "/v1/devices?\(query)", as: .read)
        #expect(reply.status == 200, "\(reply.text)")
        return (reply.json["items"]?.array ?? []).compactMap { $0["id"]?.string }
      }
      #expect(found("provider=apns&token=6431") == ["d1"])
      #expect(found("provider=apns&token=6431&user=u1&tag=a&limit=1") == ["d1"])
      #expect(found("provider=apns&token=6431&user=u2").isEmpty)
      #expect(found("provider=apns&token=6431ff").isEmpty && found("provider=fcm&token=6431").isEmpty)
      let sandbox = #"{"provider":"apns","token":"ABCD","environment":"sandbox"}"#
      #expect(gateway.ask("PUT", "/v1/devices/d3", sandbox).status == 201)
      #expect(found("provider=apns&token=aBcD") == ["d3"])
      // What kind a token has decides how it is read.
      let id = "4DE6A1C0-11D2-4B6C-9D5D-0F5A6F8E9B7C"
      for (device, kind, token) in [("d5", "activity", "match-7"), ("d6", "device", id), ("d7", "activity", id)] {
        let body = #"{"provider":"onesignal","token":"\#(token)","token_kind":"\#(kind)"}"#
        let put = gateway.ask("PUT", "/v1/devices/\(device)", body)
        #expect(put.status == 201, "\(put.text)")
      }
      #expect(found("provider=onesignal&token=match-7") == ["d5"])
      #expect(found("provider=onesignal&token=match-7&token_kind=device").isEmpty)
      #expect(Set(found("provider=onesignal&token=\(id)")) == ["d6", "d7"])
      for query in [
        "token=6431", "provider=apns,fcm&token=6431", "provider=apns&token=", "provider=apns&token=zz",
        "provider=apns&token=a%20b", "provider=fcm&token=" + String(repeating: "x", count: 4_097),
      ] {
        let reply = gateway.ask("GET", "/v1/devices?\(query)", as: .read)
        #expect(reply.status == 400 && reply.code == "invalid_parameter", "\(query.prefix(60)) \(reply.text)")
      }
      #expect(gateway.ask("GET", "/v1/devices?provider=apns&token=6431&format=csv").status == 200)
      let audit = gateway.ask("GET", "/v1/audit?operation=listDevices")
      let said = (audit.json["items"]?.array ?? []).compactMap { $0["query"]?.string }
      #expect(said == ["format=csv&provider=apns&token=…"] || said == ["provider=apns&token=…&format=csv"], "\(said)")
    }
  }

  @Test("a device put is the device read")
  func putAndGet() async throws {
    try await Gateway.running { gateway in
      let body =
        #"{"provider":"apns","token":"ABCD","environment":"sandbox","bundle_id":"com.a","platform":"iOS","app_version":"1","language":"de","tz":"UTC","user":"u1","tags":["a","b"],"attributes":{"n":1,"s":"x"},"enabled":true,"last_seen_at":"2026-01-01T00:00:00Z"}"#
      let put = gateway.ask("PUT", "/v1/devices/d1", body, as: .devices)
      #expect(put.status == 201, "\(put.text)")
      #expect(put.header("location") == "/v1/devices/d1")
      #expect(put.json["registration"] == .string("created"))
      let got = gateway.ask("GET", "/v1/devices/d1", as: .read)
      #expect(got.status == 200)
      #expect(got.json["token"] == .string("abcd"))
      #expect(got.json["platform"] == .string("ios"))
      #expect(got.json["status"] == .string("active"))
      #expect(got.json["last_seen_at"] == .string("2026-01-01T00:00:00.000Z"))
      #expect(got.json["attributes"]?["n"] == .integer(1))
      #expect(Set(got.json["tags"]?.array?.compactMap(\.string) ?? []) == ["a", "b"])
      let registered = got.json["registered_at"]?.string
      #expect(registered?.hasSuffix("Z") == true && registered?.utf8.count == 24)

      #expect(gateway.ask("PUT", "/v1/devices/d1", body, as: .devices).status == 200)
      #expect(gateway.ask("DELETE", "/v1/devices/d1", as: .devices).status == 204)
      #expect(gateway.ask("DELETE", "/v1/devices/d1", as: .devices).status == 404)
      #expect(gateway.ask("GET", "/v1/devices/d1", as: .read).status == 404)
    }
  }

  @Test("a token posted twice is one device, and one that comes under a new id moves there")
  func upsert() async throws {
    try await Gateway.running { gateway in
      let body = #"{"provider":"fcm","token":"t-1"}"#
      let first = gateway.ask("POST", "/v1/devices", body, as: .devices)
      #expect(first.status == 201, "\(first.text)")
      let again = gateway.ask("POST", "/v1/devices", body, as: .devices)
      #expect(again.status == 200)
      #expect(again.json["id"] == first.json["id"])
      let moved = gateway.ask("PUT", "/v1/devices/chosen", body, as: .devices)
      #expect(moved.status == 200 || moved.status == 201, "\(moved.text)")
      #expect(gateway.ask("POST", "/v1/devices", body, as: .devices).json["id"] == .string("chosen"))
    }
  }

  @Test("a register key upserts by token and learns nothing; tags that are not free and the user stay")
  func registerKey() async throws {
    try await Gateway.running { gateway in
      let first = gateway.ask(
        "POST", "/v1/devices", #"{"provider":"fcm","token":"t-1","tags":["lang:de"]}"#, as: .register)
      #expect(first.status == 201, "\(first.text)")
      let id = try #require(first.json["id"]?.string)
      #expect(Set(first.json.object?.map(\.key) ?? []) == ["id", "registration", "warnings"])
      #expect(gateway.ask("GET", "/v1/devices/\(id)", as: .register).status == 403)

      let full = #"{"provider":"fcm","token":"t-1","tags":["plan:pro","lang:de"],"user":"u1","enabled":false}"#
      #expect(gateway.ask("PUT", "/v1/devices/\(id)", full, as: .devices).status == 200)
      let again = gateway.ask(
        "POST", "/v1/devices", #"{"provider":"fcm","token":"t-1","tags":["lang:fr"]}"#, as: .register)
      #expect(again.status == 200)
      let device = gateway.ask("GET", "/v1/devices/\(id)", as: .read).json
      #expect(Set(device["tags"]?.array?.compactMap(\.string) ?? []) == ["plan:pro", "lang:fr"])
      #expect(device["user"] == .string("u1"))
      #expect(device["enabled"] == .bool(false))

      let tag = gateway.ask(
        "POST", "/v1/devices", #"{"provider":"fcm","token":"t-1","tags":["plan:pro"]}"#, as: .register)
      #expect(tag.status == 422)
      #expect(tag.violations == ["/tags/0 not_allowed"])
      let forged = gateway.ask("POST", "/v1/devices", #"{"provider":"fcm","token":"t-1","user":"u2"}"#, as: .register)
      #expect(forged.status == 401)
      #expect(forged.code == "identity_required")
      let signed = gateway.ask(
        "POST", "/v1/devices", #"{"provider":"fcm","token":"t-1"}"#, as: .register, Gateway.identity("u2"))
      #expect(signed.status == 200, "\(signed.text)")
      #expect(gateway.ask("GET", "/v1/devices/\(id)", as: .read).json["user"] == .string("u2"))
    }
  }

  @Test("a user's devices are read and deleted together")
  func users() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""user":"u 1/é""#)
      gateway.register("d2", #""user":"u 1/é""#)
      gateway.register("d3", #""user":"u2""#)
      let path = "/v1/users/u%201%2F%C3%A9"
      let user = gateway.ask("GET", path, as: .read)
      #expect(user.status == 200)
      #expect(Set(user.json["devices"]?.array?.compactMap { $0["id"]?.string } ?? []) == ["d1", "d2"])
      let gone = gateway.ask("DELETE", path, as: .devices)
      #expect(gone.status == 200)
      #expect(gone.json["devices_deleted"] == .integer(2))
      #expect(gateway.ask("DELETE", path, as: .devices).json["devices_deleted"] == .integer(0))
      #expect(gateway.ask("GET", path, as: .read).status == 404)
      #expect(gateway.ask("GET", "/v1/devices/d1", as: .read).status == 404)
      #expect(gateway.ask("GET", "/v1/devices/d3", as: .read).status == 200)
    }
  }

  @Test("a bad device is refused with all its faults and leaves nothing")
  func bad() async throws {
    try await Gateway.running { gateway in
      let reply = gateway.ask(
        "PUT", "/v1/devices/d1", #"{"provider":"apn","token":"a/b","tag":[],"registered_at":"x"}"#, as: .devices)
      #expect(reply.status == 422)
      #expect(reply.code == "invalid_device")
      #expect(
        Set(reply.violations) == [
          "/provider unknown_value", "/token invalid_format", "/tag unknown_field", "/registered_at not_allowed",
        ])
      #expect(gateway.ask("GET", "/v1/devices/d1", as: .read).status == 404)
      #expect(
        gateway.ask("PUT", "/v1/devices/a%0d%0ab", #"{"provider":"fcm","token":"t"}"#, as: .devices).status == 422)
    }
  }
}
