import CommandFrame
import Domain
import JSON

/// Users and tags of a running server.
enum UsersCommand {
  static let command = Command(
    name: "users", summary: "show and delete a user's devices and tags",
    about: """
      show prints a user's devices and tags. delete deletes them, for example after a privacy request. On a terminal it
      asks first. Repeating delete is not an error.
      """,
    positionals: ["show|delete", "ID"],
    options: [Question.option("delete: "), Command.json] + ServerCall.options(scopes: "devices (read for show)"),
    examples: ["fanfare users show 4711"]
  ) { arguments in
    guard let id = arguments.positionals.dropFirst().first else {
      throw UsageProblem(text: "say what to do, and name the user: fanfare users show ID")
    }
    let path = "/v1/users/\(ServerCall.escaped(id))"
    switch arguments.positionals.first {
    case "show":
      return try ServerCall.one("GET", path, arguments) { user in
        Terminal.print("user \(user["user"]?.string ?? id)")
        let tags = (user["tags"]?.array ?? []).compactMap(\.string)
        if !tags.isEmpty { Terminal.print("tags of the user: \(tags.joined(separator: " "))") }
        DeviceView.list(user["devices"]?.array ?? [])
      }
    case "delete":
      guard Question.isConfirmed("Delete all devices and tags of the user \(id)?", arguments) else { return .failure }
      return try ServerCall.one("DELETE", path, arguments) { answer in
        Terminal.print("deleted \(counted(answer["devices_deleted"]?.integer ?? 0, "device")) of \(id)")
      }
    default: throw UsageProblem(text: "say what to do: fanfare users show or delete")
    }
  }

  static let tags = Command(
    name: "tags", summary: "list the tags in use with their device counts",
    about: "Lists tags by name. --prefix plan: lists only tags that begin with plan:.",
    options: [Command.Option("--prefix", "TEXT", "only tags that begin with this text")] + ListCall.options(100) + [
      Command.json
    ]
      + ServerCall.options(scopes: "devices or read"),
    examples: ["fanfare tags", "fanfare tags --prefix plan: --csv > plans.csv"]
  ) { arguments in
    try ListCall.run("/v1/tags", [("prefix", arguments.text("--prefix"))], arguments, limit: 100) { items, isWhole in
      guard !items.isEmpty else { return Terminal.note("no tag matches") }
      var table = Table("tag", "devices")
      for item in items { table.row(item["tag"]?.string ?? "", String(item["device_count"]?.integer ?? 0)) }
      table.show()
      ListCall.tellRest(items.count, isWhole)
    }
  }
}
