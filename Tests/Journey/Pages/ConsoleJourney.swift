import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  /// Names that would be something else than a text in a page that does not take care.
  private static let hostileNames = [
    #"<script>alert(1)</script>"#, #""><img src=x onerror=alert(2)>"#, "\u{202E}drawkcab", "Sale 🎉 & 'more'",
  ]

  /// Marks of HTML, and no other: what a device may be called, have as a tag, and know of its user.
  private static let hostileDevice = #"<b>&"'"#
  /// As long as an attribute may be.
  private static let hostileAttribute = hostileDevice + String(repeating: "x", count: 1_024 - hostileDevice.utf8.count)

  @Test(
    "the console, driven in a browser: signing in, a live campaign paused and resumed, a device's messages, roles, forged forms, both themes"
  )
  func console() async throws {
    let world = try await World(more: #"console: { environment: "staging", colour: "amber" },"#)
    try world.edit { $0.replacing("register_tags:", with: "approval: { above: 500 }, register_tags:") }
    let gateway = try await world.gateway()
    for (number, name) in Self.hostileNames.enumerated() {
      let device = JSONValue.object([
        JSONMember("provider", .string("fcm")), JSONMember("token", .string(Tokens.fcm(number))),
        JSONMember("user", .string("person \(number)")), JSONMember("tags", .array([.string("all")])),
        JSONMember("attributes", .object([JSONMember("name", .string(name))])),
      ])
      let answer = try await gateway.client.put(
        "/v1/devices/device\(number)", String(decoding: device.encoded, as: UTF8.self))
      #expect(answer.status == 201, "\(answer.text)")
      let message = JSONValue.object([
        JSONMember("to", .object([JSONMember("audience", .string("all"))])), JSONMember("name", .string(name)),
        JSONMember("notification", .object([JSONMember("title", .string(name))])),
      ])
      _ = try await gateway.completed(try await gateway.send(String(decoding: message.encoded, as: UTF8.self)))
    }
    let hostile = JSONValue.object([
      JSONMember("provider", .string("fcm")), JSONMember("token", .string(Tokens.fcm(700))),
      JSONMember("tags", .array([.string(Self.hostileDevice)])),
      JSONMember("attributes", .object([JSONMember(Self.hostileDevice, .string(Self.hostileAttribute))])),
    ])
    let registered = try await gateway.client.put(
      "/v1/devices/%3Cb%3E%26%22%27", String(decoding: hostile.encoded, as: UTF8.self))
    #expect(registered.status == 201, "\(registered.text)")
    let lines = (100..<600).map { #"{"id":"d\#($0)","provider":"fcm","token":"\#(Tokens.fcm($0))","tags":["slow"]}"# }
    let imported = try await gateway.client.post(
      "/v1/devices/bulk", lines.joined(separator: "\n"), headers: [Header("content-type", "application/x-ndjson")])
    #expect(imported.status == 200)
    let campaign = try await gateway.send(
      #"{"to":{"audience":"slow"},"name":"Slow","rate_per_second":2,"notification":{"title":"Hi"}}"#)

    func key(_ scopes: String...) async throws -> (id: String, secret: String) {
      let list = scopes.map { #""\#($0)""# }.joined(separator: ",")
      let made = try await gateway.client.post("/v1/keys", #"{"name":"\#(scopes[0])","scopes":[\#(list)]}"#)
      let (id, secret) = (made.json["id"]?.string, made.json["secret"]?.string)
      return (try #require(id, "\(made.text)"), try #require(secret, "\(made.text)"))
    }
    let (viewer, leaving) = (try await key("read"), try await key("admin"))
    let (author, sender) = (try await key("drafts", "read"), try await key("send", "read"))
    let tool = Tool(gateway: gateway, world: world)
    let link = Tool.documents(
      try await tool.run("console", "--app", "shop", "--scopes", "read", "--base", gateway.client.base, "--json"))
    let known: [(String, JSONValue)] = [
      ("link", .string(try #require(link.first?["url"]?.string, "\(link)"))),
      ("admin", .string(try #require(gateway.client.key))), ("viewer", .string(viewer.secret)),
      ("author", .string(author.secret)), ("sender", .string(sender.secret)),
      ("leaving", .string(leaving.secret)), ("leaving_id", .string(leaving.id)), ("user", .string("person 1")),
      ("token", .string(Tokens.fcm(1))), ("device", .string(Self.hostileDevice)),
      ("attribute", .string(Self.hostileAttribute)),
      ("campaign", .string(campaign)), ("names", .array(Self.hostileNames.map { .string($0) })),
    ]
    let file = world.directory.file("console.json")
    try Data(JSONValue.object(known.map { JSONMember($0.0, $0.1) }).encoded).write(to: file)
    var arguments = [gateway.client.base, file.path(percentEncoded: false)]
    if let folder = ProcessInfo.processInfo.environment["FANFARE_PICTURES"] { arguments += ["--pictures", folder] }
    let told = try await PythonEnvironment.run(script: "Config/browse-console", arguments)
    #expect(told["axe"] == .array([]), "\(told)")
    #expect(told["console"] == .array([]), "\(told)")
    #expect(told["hosts"]?.array?.count == 1, "only this gateway was asked: \(told)")
    // A campaign pauses within a second; this bound holds on a slow machine too.
    let pause: Double? = if case .double(let seconds)? = told["pause_seconds"] { seconds } else { nil }
    print("console: paused after \(pause.map { "\($0)" } ?? "?") s")
    #expect((pause ?? .infinity) <= 3, "\(told)")
    #expect((told["bytes"]?.integer ?? .max) <= 150_000, "\(told)")
  }
}
