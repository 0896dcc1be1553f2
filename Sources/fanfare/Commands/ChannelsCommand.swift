import Domain
import JSON

/// Broadcast channels of Live Activities, through a running server.
enum ChannelsCommand {
  static let command = Command(
    name: "channels", summary: "create, list, show and delete broadcast channels",
    about: """
      A broadcast channel takes updates and ends of Live Activities for everybody who follows it. The channels live at
      the provider: at most 10,000 for an app in each environment, and they stay until they are deleted. A channel is
      made to keep no message or the newest one; that cannot be changed.
      """,
    positionals: ["create|list|show|delete", "[CHANNEL-ID]"],
    options: ServerCall.options(scopes: "send (read for list and show)") + [
      Command.Option("--environment", "NAME", "production or sandbox (production)"),
      Command.Option("--bundle-id", "ID", "the app's bundle id (the credential's)"),
      Command.Option("--storage", "WHAT", "create: none or newest, the message that is kept (none)"),
      Command.json,
    ],
    examples: [
      "fanfare channels create --storage newest", "fanfare channels list --environment sandbox",
      "fanfare channels delete dGVzdC1jaGFubmVs",
    ]
  ) { arguments in
    let id = arguments.positionals.dropFirst().first
    switch (arguments.positionals.first, id) {
    case ("create", nil): return try create(arguments)
    case ("list", nil): return try call("GET", "/v1/channels" + query(arguments), arguments)
    case ("show", let id?): return try call("GET", path(id, arguments), arguments)
    case ("delete", let id?): return try call("DELETE", path(id, arguments), arguments)
    case ("show", nil), ("delete", nil): throw UsageProblem(text: "name the channel by its id")
    case ("create", _), ("list", _): throw UsageProblem(text: "create and list name no channel")
    default: throw UsageProblem(text: "say what to do: fanfare channels create, list, show or delete")
    }
  }

  private static func create(_ arguments: Arguments) throws -> ExitCode {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("environment", arguments.text("--environment"))
    writer.member("bundle_id", arguments.text("--bundle-id"))
    writer.member("message_storage", arguments.text("--storage"))
    writer.endObject()
    return try call("POST", "/v1/channels", arguments, body: writer.bytes)
  }

  private static func query(_ arguments: Arguments) -> String {
    let parts = [("environment", "--environment"), ("bundle_id", "--bundle-id")].compactMap { name, option in
      arguments.text(option).map { "\(name)=\(escaped($0))" }
    }
    return parts.isEmpty ? "" : "?" + parts.joined(separator: "&")
  }

  private static func path(_ id: String, _ arguments: Arguments) -> String {
    "/v1/channels/\(escaped(id))\(query(arguments))"
  }

  /// As one step of a path or one value of a query.
  private static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
        return String(UnicodeScalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        return "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }.joined()
  }

  private static func call(
    _ method: String, _ path: String, _ arguments: Arguments, body: [UInt8] = []
  ) throws -> ExitCode {
    let json = arguments.wantsJSON
    return try ServerCall.run(arguments) { client, _ in
      let answer = try await client.call(method, path, body)
      guard answer.isSuccess else { return ServerCall.refused(answer, json: json) }
      if json {
        if !answer.body.isEmpty { Terminal.print(answer.body) }
      } else {
        show(answer)
      }
      return .success
    }
  }

  private static func show(_ answer: Client.Answer) {
    guard let document = answer.document else { return Terminal.note("deleted") }
    guard let items = document["items"]?.array else {
      Terminal.print(document["id"]?.string ?? "")
      if let storage = document["message_storage"]?.string { Terminal.note("keeps: \(storage)") }
      return
    }
    if items.isEmpty { Terminal.note("no channels") }
    for item in items { Terminal.print(item["id"]?.string ?? "") }
  }
}
