import Audience
import CommandFrame
import Domain
import JSON

/// Test lists of a running server: who gets a draft before everybody does.
enum TestListsCommand {
  static let command = Command(
    name: "test-lists", summary: "manage the recipients of draft tests",
    about: """
      A test list names devices, users and raw tokens, for example your colleagues' phones. fanfare drafts test sends a
      draft only to test lists. set creates or replaces a list. On a terminal delete asks first.
      """,
    positionals: ["list|show|set|delete", "[NAME]"],
    words: ["list": []], wordsOfOthers: ["NAME"],
    options: [
      Command.Option("--device", "ID", repeats: true, "set: a registered device"),
      Command.Option("--user", "ID", repeats: true, "set: all devices of a user"),
      Command.Option(
        "--to-token", "PROVIDER:TOKEN", repeats: true, "set: a raw token: apns:…, fcm:…, onesignal:…, webpush:…"),
      Command.Option("--environment", "NAME", "set: environment of raw APNs tokens: production or sandbox"),
      Question.option("delete: "), Command.json, ListCall.csv(of: "list"),
    ] + ServerCall.options(scopes: "send (read for list and show)"),
    examples: ["fanfare test-lists set team --user ana --user tom", "fanfare test-lists show team"]
  ) { arguments in try run(arguments) }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let name = arguments.positionals.dropFirst().first
    switch (arguments.positionals.first, name) {
    case ("list", nil): return try ListCall.whole("/v1/test_lists", arguments) { show($0) }
    case ("list", _): throw UsageProblem(text: "list takes no name; fanfare test-lists show NAME shows one list")
    case ("show", let name?): return try ServerCall.one("GET", try path(name), arguments) { show([$0]) }
    case ("delete", let name?):
      let path = try path(name)
      guard Question.isConfirmed("Delete the test list \(name)?", arguments) else { return .failure }
      return try ServerCall.one("DELETE", path, arguments) { _ in Terminal.print("\(name) is deleted") }
    case ("set", let name?): return try set(name, arguments)
    case ("show", nil), ("set", nil), ("delete", nil): throw UsageProblem(text: "name the test list")
    default: throw UsageProblem(text: "say what to do: fanfare test-lists list, show, set or delete")
    }
  }

  private static func path(_ name: String) throws(UsageProblem) -> String {
    guard AudienceName.isWellFormed(name) else {
      throw UsageProblem(text: "\"\(name)\" is not a test list name: use 1–64 letters, digits, `_`, `-` and `.`")
    }
    return "/v1/test_lists/\(name)"
  }

  @Sendable private static func show(_ lists: [JSONValue]) {
    guard !lists.isEmpty else {
      return Terminal.print("there are no test lists; create one with fanfare test-lists set NAME --user ID")
    }
    var table = Table("test list", "named by", "who")
    for list in lists {
      for way in ["devices", "users"] {
        for name in list[way]?.array ?? [] { table.row(list["name"]?.string ?? "", way, name.string ?? "") }
      }
      for token in list["tokens"]?.array ?? [] {
        table.row(
          list["name"]?.string ?? "", "tokens", "\(token["provider"]?.string ?? ""):\(token["token"]?.string ?? "")")
      }
    }
    table.show()
  }

  private static func set(_ name: String, _ arguments: Arguments) throws -> ExitCode {
    var members: [JSONMember] = []
    members.set("devices", strings: arguments.texts("--device"))
    members.set("users", strings: arguments.texts("--user"))
    let tokens = try SendCommand.tokens(arguments)
    if !tokens.isEmpty { members.set("tokens", .array(tokens)) }
    guard !members.isEmpty else { throw UsageProblem(text: "name its recipients: --device, --user or --to-token") }
    return try ServerCall.one("PUT", try path(name), arguments, body: JSONValue.object(members).encoded) { show([$0]) }
  }
}
