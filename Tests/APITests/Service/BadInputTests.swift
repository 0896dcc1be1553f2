import API
import Domain
import JSON
import Store
import Testing

@Suite("Bad input is answered, never obeyed", .serialized)
struct BadInputTests {
  private static func nested(_ depth: Int) -> String {
    String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
  }

  @Test("a body that is no good JSON is 400, whatever is wrong with it")
  func malformed() async throws {
    try await Gateway.running { gateway in
      let bodies: [[UInt8]] = [
        Array("".utf8), Array("{".utf8), Array("{'a':1}".utf8), Array("{} x".utf8), Array("{\"to\":1,\"to\":2}".utf8),
        Array("{\"to\":{\"devices\":[\"".utf8) + [0xff, 0xfe] + Array("\"]}}".utf8),
        Array("\u{feff}{}".utf8), Array("{\"a\":1e999}".utf8), Array(#"{"a":"\ud800"}"#.utf8),
        Array("{\"data\":\(Self.nested(32))}".utf8), Array(Self.nested(100_000).utf8),
      ]
      for body in bodies {
        let client = Client(port: gateway.port)
        client.send("POST", "/v1/messages", gateway.headers(as: .send), body)
        let reply = client.receive()
        #expect(reply.status == 400, "\(String(decoding: body.prefix(40), as: UTF8.self))")
        #expect(reply.code == "malformed_json")
      }
      #expect(gateway.ask("GET", "/v1/messages").json["items"] == .array([]))
    }
  }

  @Test("a field in the body of a request that takes none is refused, and nothing is done; an empty object is fine")
  func fieldsOfNothing() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      let path = "/v1/messages/\(gateway.send(to: ["d1"]))"
      let draft = gateway.ask(
        "POST", "/v1/drafts", #"{"message":{"to":{"devices":["d1"]},"notification":{"title":"T"}}}"#)
      let draftPath = "/v1/drafts/\(draft.json["id"]?.string ?? "?")"
      for path in [path + "/cancel", path + "/pause", path + "/resume", path + "/duplicate", draftPath + "/send"] {
        let refused = gateway.ask("POST", path, #"{"dryrun":true}"#)
        #expect(refused.status == 422 && refused.code == "invalid_body", "\(path): \(refused.text)")
        #expect(refused.violations == ["/dryrun unknown_field"], "\(path): \(refused.text)")
        #expect(gateway.ask("POST", path, "[]").code == "invalid_body", "\(path)")
        #expect(gateway.ask("POST", path, "{").code == "malformed_json", "\(path)")
      }
      #expect(gateway.ask("GET", path).json["state"] == .string("queued"))
      #expect(gateway.ask("GET", draftPath).status == 200)
      #expect(gateway.ask("POST", path + "/cancel", "{}").status == 200)
      let credential = gateway.ask("POST", "/v1/prunes/apply", #"{"credential":"a","x":1}"#)
      #expect(credential.violations == ["/credential not_allowed", "/x unknown_field"], "\(credential.text)")
      #expect(credential.text.contains("belongs into the URL: `?credential=…`"), "\(credential.text)")
    }
  }

  @Test("every fault of a message comes back at once")
  func violations() async throws {
    try await Gateway.running { gateway in
      let reply = gateway.ask(
        "POST", "/v1/messages",
        #"{"to":{"tokens":[{"provider":"apns","token":"a/b"}]},"notification":{"titel":"T"},"ttl":-1,"overrides":{"apns":{"headers":{"x":"a\r\nb"}}}}"#
      )
      #expect(reply.status == 422)
      #expect(reply.header("content-type") == "application/problem+json")
      #expect(
        Set(reply.violations) == [
          "/to/tokens/0/token invalid_format", "/notification/titel unknown_field", "/ttl out_of_range",
          "/overrides/apns/headers/x invalid_format",
        ])
      #expect(reply.json["type"] == .string("/problems/invalid-message"))
      #expect(reply.json["status"] == .integer(422))
      #expect(reply.json["retryable"] == .bool(false))
      #expect(reply.text.contains("did you mean `title`?"))
    }
  }

  @Test(
    "faults of the query come back together with those of the body, and nothing is done",
    arguments: [
      ("POST", "/v1/messages"), ("PATCH", "/v1/messages/msg_00000000000000000000000000"),
      ("POST", "/v1/messages/msg_00000000000000000000000000/replay"), ("POST", "/v1/audiences/count"),
      ("PUT", "/v1/audiences/gold"), ("POST", "/v1/devices"), ("PUT", "/v1/devices/d1"),
      ("PATCH", "/v1/devices/d1/tags"),
      ("PUT", "/v1/users/u1/tags"), ("PATCH", "/v1/users/u1/tags"), ("POST", "/v1/drafts"),
      ("PUT", "/v1/drafts/drf_0000000000000000"),
      ("POST", "/v1/drafts/drf_0000000000000000/test"), ("POST", "/v1/drafts/drf_0000000000000000/send"),
      ("PUT", "/v1/test_lists/team"), ("POST", "/v1/keys"), ("PATCH", "/v1/keys/k1"), ("POST", "/v1/keys/k1/rotate"),
      ("POST", "/v1/channels"), ("POST", "/v1/messages/msg_00000000000000000000000000/pause"),
    ])
  func queryAndBody(_ method: String, _ path: String) async throws {
    try await Gateway.running { gateway in
      let reply = gateway.ask(method, path + "?dryrun=true", #"{"colour":1}"#)
      #expect(reply.status == 400 && reply.code == "invalid_parameter", "\(reply.text)")
      #expect(reply.violations.first == " unknown_parameter", "\(reply.text)")
      #expect(reply.violations.contains("/colour unknown_field"), "\(reply.text)")
      let broken = gateway.ask(method, path + "?dryrun=true", "{")
      #expect(broken.violations == [" unknown_parameter", " malformed_json"], "\(broken.text)")
    }
  }

  @Test("a good body does nothing behind a faulty query")
  func queryAlone() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      let message = #"{"to":{"devices":["d1"]},"notification":{"title":"T"}}"#
      let refused = gateway.ask("POST", "/v1/messages?dryrun=true", message)
      #expect(refused.violations == [" unknown_parameter"], "\(refused.text)")
      #expect(gateway.ask("GET", "/v1/messages").json["items"] == .array([]))
      let tags = gateway.ask("PATCH", "/v1/devices/d1/tags?dry_run=true", #"{"add":["gold"]}"#)
      #expect(tags.violations == [" unknown_parameter"], "\(tags.text)")
      #expect(gateway.ask("GET", "/v1/devices/d1").json["tags"] == .array([]))
    }
  }

  @Test("a count tells what is wrong with the audience, with the message, and with recipients in the wrong place")
  func countAndMessage() async throws {
    try await Gateway.running { gateway in
      let reply = gateway.ask(
        "POST", "/v1/audiences/count",
        #"""
        {"filters":[{"field":"tga"},{"operator":"XOR"},{"field":"tag","key":"a","relation":"exists"}],"reach":"most",
         "message":{"to":{"everyone":true},"notification":{"titel":"T"},"ttl":-1}}
        """#)
      #expect(
        Set(reply.violations) == [
          "/filters/0 invalid_audience", "/filters/1 invalid_audience", "/reach unknown_value",
          "/message/to not_allowed", "/message/notification/titel unknown_field", "/message/ttl out_of_range",
        ], "\(reply.text)")
      #expect(reply.violations.count == Set(reply.violations).count, "each is told once: \(reply.text)")
    }
  }

  @Test("a hundred thousand targets and ten megabytes are refused clearly")
  func tooMuch() async throws {
    try await Gateway.running { gateway in
      let list = (0..<100_000).map { "\"d\($0)\"" }.joined(separator: ",")
      let many = gateway.ask("POST", "/v1/messages", #"{"to":{"devices":[\#(list)]},"notification":{"title":"T"}}"#)
      #expect(many.status == 422)
      #expect(many.violations == ["/to/devices too_many"])

      let large = gateway.ask("POST", "/v1/messages", String(repeating: " ", count: 10 << 20))
      #expect(large.status == 413)
      #expect(large.code == "body_too_large")
      let device = gateway.ask("POST", "/v1/devices", String(repeating: " ", count: (1 << 20) + 1))
      #expect(device.status == 413)
      #expect(device.text.contains("1 MiB (`limits.body` of the configuration)"), "\(device.text)")
    }
  }

  @Test("a body declared as something else is 415; one with a charset, or without a word, is taken")
  func mediaType() async throws {
    try await Gateway.running { gateway in
      let body = #"{"to":{"devices":["d1"]},"notification":{"title":"T"}}"#
      for (type, status) in [
        ("application/x-www-form-urlencoded", 415), ("text/plain", 415), ("application/json; charset=utf-8", 202),
        ("Application/JSON", 202),
      ] {
        #expect(
          gateway.ask("POST", "/v1/messages", body, as: .send, ["content-type": type]).status == status, "\(type)")
      }
    }
  }

  @Test("encodings, repeated headers and reversed times are refused with the fix, each by its name")
  func headers() async throws {
    try await Gateway.running { gateway in
      let message = #"{"to":{"devices":["d1"]},"notification":{"title":"T"}}"#
      for (headers, word) in [
        (["content-encoding": "gzip"], "content-encoding: gzip"),
        (["content-type": "application/json; charset=utf-16"], "charset=utf-16"),
      ] {
        let reply = gateway.ask("POST", "/v1/messages", message, as: .send, headers)
        #expect(reply.status == 415 && reply.text.contains(word), "\(reply.text)")
      }
      let plain = ["content-type": "application/json; charset=\"UTF-8\"", "content-encoding": "identity"]
      #expect(gateway.ask("POST", "/v1/messages", message, as: .send, plain).status == 202)
      let twice = gateway.ask("GET", "/v1/messages", nil, as: .send, ["Authorization": "Bearer fk_other"])
      #expect(twice.status == 401 && twice.text.contains("send it once"), "\(twice.text)")
      let times = gateway.ask("GET", "/v1/messages?from=2026-12-02T00:00:00Z&to=2026-12-01T00:00:00Z")
      #expect(times.status == 400 && times.json["violations"]?.array?.first?["parameter"]?.string == "from")
      let state = gateway.ask("GET", "/v1/messages?state=foo")
      #expect(state.text.contains("unknown value `foo`; the values are"), "\(state.text)")
      let syntax = gateway.ask("POST", "/v1/messages", "{]", as: .send)
      #expect(syntax.text.contains("line 1, column 2: ") && !syntax.text.contains("at byte"), "\(syntax.text)")
      let name = gateway.ask("PUT", "/v1/devices/count", #"{"provider":"apns","token":"t"}"#)
      #expect(name.json["violations"]?.array?.isEmpty == false, "\(name.text)")
      let list = gateway.ask("PUT", "/v1/test_lists/a", #"{"devices":[]}"#)
      #expect(list.status == 422 && !list.text.contains("message"), "\(list.text)")
      let kind = gateway.ask(
        "POST", "/v1/messages", #"{"to":{"devices":["d1"]},"kind":"alert","live_activity":{"event":"update"}}"#)
      #expect(!kind.text.contains("a `alert`"), "\(kind.text)")
    }
  }

  @Test("unknown paths, wrong methods and HEAD are answered as HTTP has it")
  func methods() async throws {
    try await Gateway.running { gateway in
      let wrong = gateway.ask("DELETE", "/v1/messages")
      #expect(wrong.status == 405)
      #expect(wrong.header("allow") == "GET, HEAD, POST")
      #expect(gateway.ask("GET", "/v1/mesages").text.contains("did you mean /v1/messages?"))
      let head = gateway.ask("HEAD", "/v1/messages", as: .read)
      #expect(head.status == 200)
      #expect(head.body.isEmpty)
      #expect(gateway.ask("HEAD", "/healthz", as: nil).status == 200)
    }
  }

  @Test("more requests at a time than the bound are turned away, not queued")
  func overload() async throws {
    var settings = ServiceSettings()
    settings.maximumRequests = 0
    try await Gateway.running(settings: settings) { gateway in
      let reply = gateway.ask("GET", "/v1/messages", as: .read)
      #expect(reply.status == 503)
      #expect(reply.code == "overloaded")
      #expect(reply.json["retryable"] == .bool(true))
      #expect(reply.header("retry-after") != nil)
      #expect(gateway.ask("GET", "/healthz", as: nil).status == 200)
    }
  }
}
