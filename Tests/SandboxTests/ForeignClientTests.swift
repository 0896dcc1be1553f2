import Domain
import Foundation
import JSON
import Sandbox
import Support
import TLS
import Testing
import WebPush

/// The vendors' clients must be able to use the sandbox: here some that share no line with Fanfare, unchanged.
@Suite(.timeLimit(.minutes(10 * Sanitizer.slowness))) struct ForeignClientTests {
  @Test("aioapns from PyPI pushes, hears refusals in its own words, and the log agrees with what it was told")
  func aioapns() async throws {
    try await SandboxRig.run { rig in
      try await rig.rules(
        #"[{"provider":"apns","token":"dead*","status":410,"reason":"Unregistered","timestamp":1767200000000}]"#)
      let told = try await PythonEnvironment.run(
        script: "Tests/SandboxTests/clients/drive_aioapns.py", [rig.directory])

      #expect(told["first"]?["status"]?.integer == 200)
      let burst = try #require(told["burst"]?.array)
      #expect(burst.count == 200)
      #expect(burst.allSatisfy { $0["status"]?.integer == 200 })
      let expected: [(String, Int64, String?)] = [
        ("silent", 200, nil), ("collapsed", 200, nil), ("malformed", 400, "BadDeviceToken"),
        ("dead", 410, "Unregistered"), ("large", 413, "PayloadTooLarge"), ("urgent_silent", 400, "BadPriority"),
        ("other_topic", 400, "TopicDisallowed"),
      ]
      for (name, status, reason) in expected {
        #expect(told["single"]?[name]?["status"]?.integer == status, "\(name)")
        #expect(told["single"]?[name]?["reason"]?.string == reason, "\(name)")
      }
      #expect(told["single"]?["dead"]?["timestamp"]?.integer == 1_767_200_000_000)

      // One line for each answer that the client was given, with the same id and status.
      var answers: [String: Int] = [:]
      for answer in burst + [told["first"] ?? .null] + (told["single"]?.object ?? []).map(\.value) {
        answers[try #require(answer["id"]?.string)] = answer["status"]?.integer.map(Int.init)
      }
      let log = rig.sandbox.stage.log.entries()
      #expect(log.count == answers.count)
      #expect(log.allSatisfy { answers[$0.id] == $0.status && $0.accepted == ($0.status == 200) && !$0.duplicate })
      #expect(rig.sandbox.stage.statistics[.apns].connectionsOpened == 1)
    }
  }
  @Test("firebase-admin from PyPI sends over HTTP/1.1, fetches its token, and hears refusals in its own words")
  func firebase() async throws {
    try await SandboxRig.run { rig in
      try await rig.rules(
        """
        [{"provider":"fcm","token":"dead*","status":404},
         {"provider":"fcm","token":"quota*","status":429,"retry_after":1},
         {"provider":"fcm","token":"hiccup*","status":503,"times":1},
         {"provider":"fcm","token":"fault*","status":500}]
        """)
      let told = try await PythonEnvironment.run(
        script: "Tests/SandboxTests/clients/drive_firebase.py", [rig.directory])

      for name in ["accepted", "android", "topic", "hiccup"] {
        #expect(told[name]?["name"]?.string?.hasPrefix("projects/demo-app/messages/0:") == true, "\(name)")
      }
      #expect(told["dry_run"]?["name"]?.string == "projects/demo-app/messages/fake_message_id")
      let refused: [(String, String, Int64)] = [
        ("dead", "UnregisteredError", 404), ("quota", "QuotaExceededError", 429), ("fault", "InternalError", 500),
        ("large", "InvalidArgumentError", 400),
      ]
      for (name, error, status) in refused {
        #expect(told[name]?["error"]?.string == error, "\(name)")
        #expect(told[name]?["status"]?.integer == status, "\(name)")
      }
      #expect(told["quota"]?["retry_after"]?.string == "1")
      #expect(told["each"]?.array?.count == 10)
      #expect(told["each"]?.array?.allSatisfy { $0["success"]?.bool == true } == true)
      // The library's own host: it was led here by a proxy, and nothing of it was changed.
      #expect(told["hosts"]?.array?.contains(.string("fcm.googleapis.com")) == true)

      let log = rig.sandbox.stage.log.entries().filter { $0.provider == .fcm }
      func answers(_ token: String) -> [Int] { log.filter { $0.token == token }.map(\.status) }
      #expect(answers("hiccup-1") == [503, 200])
      // "Retries up to 4 times on HTTP 500 and 503"
      #expect(answers("fault-1") == [500, 500, 500, 500, 500])
      #expect(answers("dead-1") == [404])
      let accepted = Set(log.filter(\.accepted).map(\.token))
      #expect(accepted == Set(["t1", "t2", "topic:weather", "hiccup-1"] + (10..<20).map { "t\($0)" }))
      #expect(rig.sandbox.stage.statistics[.oauth].allAnswers.map { [$0.key.status, $0.value] } == [[200, 1]])
    }
  }

  @Test("onesignal-python-api sends, hears refusals, and views and cancels what it sent")
  func oneSignal() async throws {
    try await SandboxRig.run { rig in
      try await rig.rules(
        """
        [{"provider":"onesignal","token":"*e6dd","status":200,"reason":"invalid_player_ids"},
         {"provider":"onesignal","token":"*e6ee","status":200,"reason":"not_subscribed"},
         {"provider":"onesignal","token":"*e642","status":429,"retry_after":12},
         {"provider":"onesignal","token":"*e650","status":503}]
        """)
      let told = try await PythonEnvironment.run(
        script: "Tests/SandboxTests/clients/drive_onesignal.py", [rig.directory])

      let id = try #require(told["accepted"]?["answer"]?["id"]?.string)
      #expect(UUIDBytes(id) != nil)
      #expect(told["nobody"]?["answer"]?["id"]?.string == "")
      let dead = try #require(told["partial"]?["answer"]?["errors"]?["invalid_player_ids"]?.array)
      #expect(dead.map(\.string) == ["1dd608f2-c6a1-11e3-851d-000c2940e6dd"])
      #expect(told["quota"]?["status"]?.integer == 429)
      #expect(told["quota"]?["retry_after"]?.string == "12")
      #expect(told["quota"]?["body"]?.string == #"{"errors":["API rate limit exceeded"]}"#)
      #expect(told["fault"]?["status"]?.integer == 503)
      #expect(told["malformed"]?["status"]?.integer == 400)
      #expect(told["first"]?["answer"]?["id"] == told["again"]?["answer"]?["id"])

      let seen = try #require(told["view_accepted"]?["answer"])
      #expect(seen["id"]?.string == id)
      #expect(seen["name"]?.string == "order")
      #expect(seen["successful"]?.integer == 2)
      #expect(seen["remaining"]?.integer == 0)
      #expect(seen["completed_at"]?.integer == seen["queued_at"]?.integer)
      #expect(seen["canceled"]?.bool == false)
      #expect(told["view_partial"]?["answer"]?["successful"]?.integer == 1)
      #expect(told["view_partial"]?["answer"]?["failed"]?.integer == 1)
      #expect(told["view_later"]?["answer"]?["remaining"]?.integer == 1)
      #expect(told["view_later"]?["answer"]?["completed_at"] == .null)
      #expect(told["cancel"]?["answer"]?["success"]?.bool == true)
      #expect(told["view_canceled"]?["answer"]?["canceled"]?.bool == true)
      #expect(told["view_canceled"]?["answer"]?["successful"]?.integer == 0)
      #expect(told["unknown"]?["status"]?.integer == 404)
      #expect(told["unknown"]?["body"]?.string == #"{"errors":["Notification not found"]}"#)

      // One line for each member; a question is no delivery.
      let accepted = rig.sandbox.stage.log.entries().filter { $0.accepted && !$0.duplicate }
      #expect(accepted.map { String($0.token.suffix(2)) } == ["01", "02", "01", "03", "04"])
    }
  }

  @Test("pywebpush pushes to the sandbox's browsers, and http-ece reads what Fanfare sends to one of its own")
  func webPush() async throws {
    try await SandboxRig.run { rig in
      let texts = ["Order shipped", String(repeating: "ü", count: 1_900), "{{\"}}\n"]
      let browser = try #require(Browser(scalar: Array(11...42), secret: Array(1...16)))
      try Self.write(try texts.map { try Self.push($0, to: browser) }, to: "\(rig.directory)/pushes.json")
      try await rig.rules(
        """
        [{"provider":"webpush","token":"gone","status":410,"reason":"Unsubscribed"},
         {"provider":"webpush","token":"busy","status":429,"retry_after":9}]
        """)
      let told = try await PythonEnvironment.run(
        script: "Tests/SandboxTests/clients/drive_webpush.py", [rig.directory])

      #expect(told["read"]?.array?.compactMap { $0["notification"]?["title"]?.string } == texts)
      for name in ["accepted", "own", "empty"] { #expect(told[name]?["status"]?.integer == 201, "\(name)") }
      #expect(told["accepted"]?["location"]?.string?.hasPrefix("https://localhost:") == true)
      let refused: [(String, Int64, String)] = [
        ("gone", 410, "Unsubscribed"), ("foreign", 403, "VapidPkHashMismatch"), ("audience", 403, "BadJwtToken"),
        ("localhost", 403, "BadJwtToken"), ("late", 403, "ExpiredJwtToken"), ("long", 403, "BadJwtToken"),
        ("unsigned", 401, "BadAuthorizationHeader"), ("large", 413, "PayloadTooLarge"), ("other", 400, "Unreadable"),
        ("topic", 400, "BadWebPushTopic"), ("ttl", 400, "BadTTL"), ("old", 415, "BadContentEncoding"),
      ]
      for (name, status, reason) in refused {
        #expect(told[name]?["status"]?.integer == status, "\(name)")
        #expect(told[name]?["reason"]?.string == reason, "\(name)")
      }
      #expect(told["busy"]?["status"]?.integer == 429)
      #expect(told["busy"]?["retry_after"]?.string == "9")
      let accepted = rig.sandbox.stage.log.entries().filter(\.accepted)
      #expect(accepted.map(\.token) == ["anna", "bert", "anna"])
      #expect(accepted.first?.body.map { String(decoding: $0, as: UTF8.self) } == "Hello, Änna")
    }
  }

  /// A request of the shipped provider, with what its recipient needs to read it.
  private static func push(_ title: String, to browser: Browser) throws -> JSONValue {
    let provider = WebPushProvider()
    var credential = Credential(
      id: CredentialID(rawValue: "demo/browsers"), app: AppID(rawValue: "demo"), provider: .webPush)
    credential.texts = provider.sample.texts
    credential.files = provider.sample.files
    let account = try provider.open(credential)
    var message = Message(to: .everyone, kind: .alert)
    var notification = Domain.Notification()
    notification.title = title
    message.notification = notification
    let subscription =
      #"{"endpoint":"https://fcm.googleapis.com/x","keys":{"p256dh":"\#(Base64URL.encode(browser.publicKey))","#
      + #""auth":"\#(Base64URL.encode(browser.secret))"}}"#
    let token = try provider.tokens.read(subscription, .device)
    let request = account.request(
      try account.render(message, startedAt: WallTime(seconds: 1_800_000_000)),
      to: [Address(provider: .webPush, token: token.text, bundleID: token.bundleID)], id: UUIDBytes(high: 7, low: 7),
      authorization: "vapid")
    return .object([
      JSONMember("private_key", .string(Base64URL.encode(Array(11...42)))),
      JSONMember("auth", .string(Base64URL.encode(browser.secret))),
      JSONMember("body", .string(Base64URL.encode(request.body))),
    ])
  }

  private static func write(_ pushes: [JSONValue], to file: String) throws {
    try Data(JSONValue.array(pushes).encoded).write(to: URL(filePath: file))
  }
}
