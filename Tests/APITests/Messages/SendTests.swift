import API
import Domain
import JSON
import Store
import Testing

@Suite("A message is accepted durably, or refused without effect", .serialized)
struct SendTests {
  @Test("users with more devices than a message may have targets are refused with the place")
  func crowdedUsers() async throws {
    var settings = ServiceSettings()
    settings.maximumTargets = 5
    try await Gateway.running(settings: settings) { gateway in
      for number in 0..<6 { gateway.register("d\(number)", #""user":"u\#(number % 2)""#) }
      func send(_ users: String) -> Reply {
        gateway.ask("POST", "/v1/messages", #"{"to":{"users":[\#(users)]},"notification":{"title":"T"}}"#)
      }
      #expect(send(#""u0""#).status == 202)
      let refused = send(#""u0","u1""#)
      #expect(refused.status == 422 && refused.violations == ["/to/users too_many"], "\(refused.text)")
    }
  }

  @Test("a send to devices answers 202 with the id, and the message can be read")
  func send() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      gateway.register("d2", #""enabled":false"#)
      let reply = gateway.ask(
        "POST", "/v1/messages",
        #"{"to":{"devices":["d1","d2","ghost","d1"]},"notification":{"title":"T","buttons":[{"id":"a","text":"b"}]},"labels":{"c":"x"}}"#,
        as: .send)
      #expect(reply.status == 202, "\(reply.text)")
      let id = try #require(reply.json["id"]?.string)
      #expect(reply.header("location") == "/v1/messages/\(id)")
      #expect(reply.json["state"] == .string("queued"))
      #expect(reply.json["targets"] == .integer(3))
      let warnings = reply.json["warnings"]?.array?.compactMap { $0["detail"]?.string } ?? []
      #expect(warnings.count == 4, "\(warnings)")
      #expect(warnings.contains { $0.contains("unknown_device") })
      #expect(warnings.contains { $0.contains("device_disabled") })
      #expect(warnings.contains("left out for apns: no buttons"))
      #expect(reply.json["warnings"]?.array?.contains { $0["code"]?.string == "left_out" } == true, "\(reply.text)")

      let report = gateway.ask("GET", "/v1/messages/\(id)", as: .read)
      #expect(report.status == 200)
      #expect(report.json["targets"] == .integer(3))
      #expect(report.json["outcomes"]?["skipped"] == .integer(2))
      #expect(report.json["progress"]?["pending"] == .integer(1))
      let deliveries = gateway.ask("GET", "/v1/messages/\(id)/deliveries", as: .read).json["items"]?.array ?? []
      let states = Dictionary(
        uniqueKeysWithValues: deliveries.map {
          ($0["device"]?.string ?? "", "\($0["state"]?.string ?? "") \($0["reason"]?.string ?? "")")
        })
      #expect(states == ["d1": "pending ", "d2": "skipped device_disabled", "ghost": "skipped unknown_device"])
    }
  }

  @Test("raw tokens go to the device that holds them, others as they are; users reach all their devices")
  func recipients() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""user":"u1""#)
      gateway.register("d2", #""user":"u1""#)
      gateway.register("d3", #""user":"u2""#)
      // "d1" as registered above, in hex.
      let tokens = gateway.ask(
        "POST", "/v1/messages",
        #"{"to":{"tokens":[{"provider":"apns","token":"6431"},{"provider":"fcm","token":"new"},{"provider":"apns","token":"6432","token_kind":"voip"}]},"notification":{"title":"T"}}"#
      )
      #expect(tokens.status == 202, "\(tokens.text)")
      let id = tokens.json["id"]?.string ?? ""
      let devices =
        gateway.ask("GET", "/v1/messages/\(id)/deliveries").json["items"]?.array?.compactMap { $0["device"]?.string }
        ?? []
      #expect(devices.count == 3)
      #expect(devices.contains("d1"))

      let users = gateway.ask(
        "POST", "/v1/messages", #"{"to":{"users":["u1","u2","nobody"]},"notification":{"title":"T"}}"#)
      #expect(users.status == 202)
      #expect(users.json["targets"] == .integer(3))
      #expect(users.json["warnings"]?.array?.first?["pointer"] == .string("/to/users/2"))
      #expect(users.json["warnings"]?.array?.first?["code"] == .string("no_devices"))

      let nobody = gateway.ask("POST", "/v1/messages", #"{"to":{"users":["nobody"]},"notification":{"title":"T"}}"#)
      #expect(nobody.status == 202, "\(nobody.text)")
      #expect(nobody.json["targets"] == .integer(0))
      #expect(nobody.json["state"] == .string("completed"))
      let report = gateway.ask("GET", "/v1/messages/\(nobody.json["id"]?.string ?? "")")
      #expect(report.json["no_recipients"] == .bool(true), "\(report.text)")
      #expect(report.json["state"] == .string("completed"))
    }
  }

  @Test("each language is measured at every provider: the longest text decides, and is named")
  func longestLanguage() async throws {
    try await Gateway.running { gateway in
      let body = String(repeating: "x", count: FakeAccount.limit + 17)
      for (german, status) in [(body, 422), ("kurz", 202)] {
        let reply = gateway.ask(
          "POST", "/v1/messages",
          #"{"to":{"tokens":[{"provider":"apns","token":"ab"}]},"notification":{"body":"short","localized":{"fr":{"body":"court"},"de":{"body":"\#(german)"}}}}"#
        )
        #expect(reply.status == status, "\(reply.text)")
        guard status == 422 else { continue }
        #expect(reply.violations == ["/notification/body payload_too_large"])
        #expect(reply.text.contains("apns: 17 bytes too many"), "\(reply.text)")
        #expect(reply.text.contains("`notification.body` has 217 of them: shorten it (in `de`)"), "\(reply.text)")
      }
      #expect(gateway.ask("GET", "/v1/messages").json["items"]?.array?.count == 1)
    }
  }

  @Test("a message over a provider's limit is refused as a whole, naming provider and excess")
  func tooLarge() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      let body = String(repeating: "x", count: FakeAccount.limit + 17)
      let reply = gateway.ask(
        "POST", "/v1/messages",
        #"{"to":{"tokens":[{"provider":"apns","token":"ab"},{"provider":"fcm","token":"t"}]},"notification":{"body":"\#(body)"}}"#
      )
      #expect(reply.status == 422)
      #expect(reply.code == "invalid_message")
      #expect(reply.violations == ["/notification/body payload_too_large", "/notification/body payload_too_large"])
      #expect(reply.text.contains("apns: 17 bytes too many"))
      #expect(reply.text.contains("fcm: 17 bytes too many"))
      #expect(gateway.ask("GET", "/v1/messages").json["items"] == .array([]))
    }
  }

  @Test("faults of the form, of attributes and of rendering are told together; what others may have caused is not")
  func faultsTogether() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""attributes":{"name":"Ann"}"#)
      let long = String(repeating: "x", count: FakeAccount.limit + 17)
      func violations(_ members: String) -> Set<String> {
        let reply = gateway.ask("POST", "/v1/messages", #"{"to":{"devices":["d1"]},\#(members)}"#)
        #expect(reply.status == 422 && reply.code == "invalid_message", "\(reply.text)")
        return Set(reply.violations)
      }
      let whole = #""notification":{"title":"Hi {{nmae}}","body":"\#(long)"}"#
      #expect(violations(whole) == ["/notification/title unknown_value", "/notification/body payload_too_large"])
      #expect(
        violations(#"\#(whole),"ttl":-1,"datta":{}"#)
          == [
            "/ttl out_of_range", "/datta unknown_field", "/notification/title unknown_value",
            "/notification/body payload_too_large",
          ])
      // Which device gets it as what is not known.
      #expect(violations(#"\#(whole),"kind":"alrt""#) == ["/kind unknown_value"])
      // What is wrong with the title says nothing of the body.
      #expect(
        violations(#""notification":{"title":7,"body":"{{nmae}} \#(long)"}"#)
          == [
            "/notification/title wrong_type", "/notification/body unknown_value",
            "/notification/body payload_too_large",
          ])
      #expect(gateway.ask("GET", "/v1/messages").json["items"] == .array([]))
    }
  }

  @Test("ten thousand long tokens are one message")
  func manyTokens() async throws {
    try await Gateway.running { gateway in
      let tokens = (0..<10_000).map { number in
        let hex = String(number, radix: 16)
        let token = String(repeating: "0", count: 160 - hex.utf8.count) + hex
        return #"{"provider":"apns","token":"\#(token)"}"#
      }
      let reply = gateway.ask(
        "POST", "/v1/messages", #"{"to":{"tokens":[\#(tokens.joined(separator: ","))]},"notification":{"title":"T"}}"#)
      #expect(reply.status == 202, "\(reply.text.prefix(500))")
      #expect(reply.json["targets"] == .integer(10_000))
      let id = reply.json["id"]?.string ?? ""
      let export = gateway.ask("GET", "/v1/messages/\(id)/deliveries", as: .export, ["accept": "application/x-ndjson"])
      #expect(export.text.split(separator: "\n").count == 10_000)
    }
  }

  @Test("a mistyped parameter is refused with what was meant, and nothing is sent")
  func mistyped() async throws {
    try await Gateway.running { gateway in
      let slip = gateway.ask(
        "POST", "/v1/messages?dryrun=true", #"{"to":{"devices":["d"]},"notification":{"title":"T"}}"#)
      #expect(slip.status == 400)
      #expect(slip.json["detail"]?.string?.contains("did you mean `dry_run`?") == true)
      #expect(gateway.ask("GET", "/v1/messages").json["items"] == .array([]))
    }
  }
}
