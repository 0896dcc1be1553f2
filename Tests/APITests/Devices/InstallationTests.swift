import API
import Domain
import JSON
import Store
import Testing

@Suite("An installation keeps its device when its token changes", .serialized)
struct InstallationTests {
  private static let mine = "3f1f6d7c-0a4e-4c8f-9b1e-6f0c2d5a7e91"
  private static let other = "b7a0e2d4-95c3-4f18-8e6d-1a2b3c4d5e6f"

  private func register(
    _ gateway: Gateway, _ token: String, _ more: String = "", of user: String? = nil, as scope: Scope = .register,
    provider: String = "fcm"
  ) throws -> (id: String, registration: String) {
    let reply = gateway.ask(
      "POST", "/v1/devices", #"{"provider":"\#(provider)","token":"\#(token)"\#(more)}"#, as: scope,
      user.map { Gateway.identity($0) } ?? [:])
    #expect(reply.status == 200 || reply.status == 201, "\(reply.text)")
    return (try #require(reply.json["id"]?.string), reply.json["registration"]?.string ?? "")
  }
  private func installation(_ id: String = mine) -> String { #","installation":"\#(id)""# }

  @Test("a new token replaces the old one; user, tags and order stay with the device")
  func rotation() async throws {
    try await Gateway.running { gateway in
      let first = try register(gateway, "t-1", installation() + #","tags":["lang:de"]"#, of: "ana")
      #expect(first.registration == "created")
      #expect(!first.id.contains(Self.mine))
      _ = gateway.ask("PATCH", "/v1/devices/\(first.id)/tags", #"{"add":["plan:pro"]}"#, as: .devices)
      let second = try register(gateway, "t-2", installation())
      #expect(second == (first.id, "updated"))
      let device = gateway.ask("GET", "/v1/devices/\(first.id)", as: .read).json
      #expect(device["token"] == .string("t-2"))
      #expect(device["user"] == .string("ana"))
      #expect(Set(device["tags"]?.array?.compactMap(\.string) ?? []) == ["plan:pro", "lang:de"])
      let user = gateway.ask("GET", "/v1/users/ana", as: .read).json
      #expect(user["devices"]?.array?.count == 1, "the old token is no second device")
      // The identifier that takes the token's place is the same device.
      let fid = try register(gateway, "cT3x9QeSRk2mJb0aYw1ZpL", installation() + #","token_kind":"fid""#)
      #expect(fid.id == first.id)
      // A backend that knows the installation names the same device, and says all of it.
      let backend = try register(gateway, "t-3", installation(), as: .devices)
      #expect(backend.id == first.id)
      #expect(gateway.ask("GET", "/v1/devices/\(first.id)", as: .read).json["user"] == nil)
    }
  }

  @Test("tokens of other kinds, and of other activities, are devices of their own")
  func kinds() async throws {
    try await Gateway.running { gateway in
      func apns(_ token: String, _ more: String) throws -> String {
        try register(gateway, token, installation() + more, provider: "apns").id
      }
      let phone = try apns("a1", "")
      let calls = try apns("a2", #","token_kind":"voip""#)
      let start = try apns("a3", #","token_kind":"push_to_start""#)
      let seven = try apns("a4", #","token_kind":"activity","activity_id":"match-7""#)
      let eight = try apns("a5", #","token_kind":"activity","activity_id":"match-8""#)
      #expect(Set([phone, calls, start, seven, eight]).count == 5)
      #expect(try apns("b4", #","token_kind":"activity","activity_id":"match-7""#) == seven)
      #expect(gateway.ask("GET", "/v1/devices/\(seven)", as: .read).json["token"] == .string("b4"))
      #expect(gateway.ask("GET", "/v1/devices/\(eight)", as: .read).json["token"] == .string("a5"))
      #expect(try apns("b1", #","environment":"sandbox""#) == phone, "it has one environment at a time")
      // FCM keeps the activity's token beside the device's own.
      let google = try register(gateway, "t-1", installation() + #","live_activity_token":"80a1""#)
      #expect(
        try register(gateway, "t-1", installation() + #","live_activity_token":"80a2""#) == (google.id, "updated"))
      #expect(gateway.ask("GET", "/v1/devices/\(google.id)", as: .read).json["live_activity_token"] == .string("80a2"))
    }
  }

  @Test("who knows a device's id or its token, and not its installation, cannot have what is meant for it")
  func takeOver() async throws {
    try await Gateway.running { gateway in
      let ana = try register(gateway, "ana-1", installation(), of: "ana")
      _ = gateway.ask("PATCH", "/v1/devices/\(ana.id)/tags", #"{"add":["plan:pro"]}"#, as: .devices)
      let byID = gateway.ask(
        "POST", "/v1/devices", #"{"provider":"fcm","token":"evil","id":"\#(ana.id)"}"#, as: .register)
      #expect(byID.violations == ["/id not_allowed"])
      let asInstallation = try register(gateway, "evil", installation(ana.id))
      #expect(asInstallation.id != ana.id)
      #expect(gateway.ask("GET", "/v1/devices/\(ana.id)", as: .read).json["token"] == .string("ana-1"))
      // With the token alone: the device that has it now is neither the user's, nor has what the backend gave it.
      let stolen = try register(gateway, "ana-1", installation(Self.other))
      #expect(stolen.id != ana.id)
      let swapped = try register(gateway, "evil-2", installation(Self.other))
      #expect(swapped.id == stolen.id)
      let device = gateway.ask("GET", "/v1/devices/\(stolen.id)", as: .read).json
      #expect(device["token"] == .string("evil-2"))
      #expect(device["user"] == nil)
      #expect(device["tags"]?.array?.isEmpty == true)
      // The rightful one comes back with its next registration.
      #expect(try register(gateway, "ana-1", installation()) == (ana.id, "revived"))
      #expect(gateway.ask("GET", "/v1/devices/\(ana.id)", as: .read).json["user"] == .string("ana"))
    }
  }

  @Test("an app that begins to name its installation keeps what it had, if the user is signed")
  func adoption() async throws {
    try await Gateway.running { gateway in
      let before = try register(gateway, "t-1", #","language":"de""#, of: "ana")
      _ = gateway.ask("PATCH", "/v1/devices/\(before.id)/tags", #"{"add":["plan:pro"]}"#, as: .devices)
      let after = try register(gateway, "t-1", installation(), of: "ana")
      #expect(after.id != before.id)
      #expect(after.registration == "moved")
      let device = gateway.ask("GET", "/v1/devices/\(after.id)", as: .read).json
      #expect(device["user"] == .string("ana"))
      #expect(device["language"] == .string("de"))
      #expect(device["tags"]?.array?.compactMap(\.string) == ["plan:pro"])
      #expect(
        gateway.ask("GET", "/v1/users/ana", as: .read).json["devices"]?.array?.compactMap { $0["id"]?.string }.contains(
          after.id) == true)
      // Another user's device begins anew.
      let others = try register(gateway, "t-2", of: "bob")
      _ = gateway.ask("PATCH", "/v1/devices/\(others.id)/tags", #"{"add":["plan:pro"]}"#, as: .devices)
      let taken = try register(gateway, "t-2", installation(Self.other), of: "ana")
      #expect(gateway.ask("GET", "/v1/devices/\(taken.id)", as: .read).json["tags"]?.array?.isEmpty == true)
    }
  }

  @Test("an import takes installations, a path does not")
  func otherCalls() async throws {
    try await Gateway.running { gateway in
      let line = #"{"provider":"fcm","token":"t-1"\#(installation())}"#
      let bulk = gateway.ask(
        "POST", "/v1/devices/bulk", line, as: .devices, ["content-type": "application/x-ndjson"])
      let id = try JSON.parse(Array(bulk.text.split(separator: "\n")[0].utf8))["id"]?.string
      #expect(try register(gateway, "t-2", installation()).id == id, "\(bulk.text)")
      let put = gateway.ask("PUT", "/v1/devices/d1", line, as: .devices)
      #expect(put.violations == ["/installation not_allowed"])
    }
  }
}
