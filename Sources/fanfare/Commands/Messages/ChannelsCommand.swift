import CommandFrame
import Domain
import JSON

/// Broadcast channels of Live Activities, through a running server.
enum ChannelsCommand {
  static let command = Command(
    name: "channels", summary: "create, list, show and delete broadcast channels",
    about: """
      A broadcast channel delivers Live Activity updates and ends to everybody who follows it. The provider stores the
      channels: at most 10,000 for an app in each environment, until they are deleted. --storage sets whether a channel
      stores no message or the newest one. It cannot be changed later. On a terminal delete asks first.
      """,
    positionals: ["create|list|show|delete", "[CHANNEL-ID]"],
    words: ["list": [], "create": []], wordsOfOthers: ["CHANNEL-ID"],
    options: ServerCall.options(scopes: "channels (read for list and show)") + [
      Command.Option("--environment", "NAME", "production or sandbox (production)"),
      Command.Option("--bundle-id", "ID", "the app's bundle id (the credential's)"),
      Command.Option("--storage", "WHAT", "create: the message that the channel stores, none or newest (none)"),
      Question.option("delete: "), Command.json, ListCall.csv(of: "list"),
    ],
    examples: [
      "fanfare channels create --storage newest", "fanfare channels list --environment sandbox",
      "fanfare channels delete dGVzdC1jaGFubmVs",
    ]
  ) { arguments in
    let id = arguments.positionals.dropFirst().first
    switch (arguments.positionals.first, id) {
    case ("create", nil): return try create(arguments)
    case ("list", nil):
      guard !arguments.has("--csv") else {
        return try ListCall.export("/v1/channels" + query(arguments, [("format", "csv")]), arguments)
      }
      return try ServerCall.one("GET", "/v1/channels" + query(arguments), arguments, show)
    case ("show", let id?): return try ServerCall.one("GET", path(id, arguments), arguments, show)
    case ("delete", let id?):
      guard Question.isConfirmed("Delete the channel \(id)?", arguments) else { return .failure }
      return try ServerCall.one("DELETE", path(id, arguments), arguments, show)
    case ("show", nil), ("delete", nil): throw UsageProblem(text: "name the channel by its id")
    case ("create", _), ("list", _): throw UsageProblem(text: "create and list take no channel id")
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
    return try ServerCall.one("POST", "/v1/channels", arguments, body: writer.bytes, show)
  }

  private static func query(_ arguments: Arguments, _ more: [(name: String, value: String?)] = []) -> String {
    ServerCall.query(
      [("environment", arguments.text("--environment")), ("bundle_id", arguments.text("--bundle-id"))] + more)
  }

  private static func path(_ id: String, _ arguments: Arguments) -> String {
    "/v1/channels/\(ServerCall.escaped(id))\(query(arguments))"
  }

  @Sendable private static func show(_ document: JSONValue) {
    guard document != .null else { return Terminal.note("deleted") }
    guard let items = document["items"]?.array else {
      Terminal.print(document["id"]?.string ?? "")
      if let storage = document["message_storage"]?.string { Terminal.note("keeps: \(storage)") }
      return
    }
    guard !items.isEmpty else { return Terminal.note("no channels") }
    var table = Table("id", "environment", "bundle id")
    for item in items {
      table.row(
        item["id"]?.string ?? "", item["environment"]?.string ?? "", item["bundle_id"]?.string ?? "")
    }
    table.show()
  }
}
