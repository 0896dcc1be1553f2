import Audience
import CommandFrame
import Domain
import GatewayClient
import JSON

/// Audiences from outside: count an expression, keep it under a name.
enum AudienceCommand {
  static let command = Command(
    name: "audience", summary: "count audiences and give them names",
    about: """
      An expression selects devices by tags, device facts and named audiences, combined with && || ! and parentheses.
      count shows how many devices match now, and how many of them would get a message. It sends nothing.
        plan:pro && (lang:de || lang:fr)   tags and the device's language
        app_version:>=2.1 && seen:<30d     version 2.1 or later, seen in the last 30 days
        audience:winback && !churned       a named audience
        everyone                           every device
      Other keys: provider: platform: tz: · plan:* matches any value · text "in quotes" is always a tag.
      A message keeps the audience that a name had when the message was accepted. set and delete list the scheduled
      messages that keep the old audience, and the drafts that get the new one. On a terminal delete asks first.
      """,
    positionals: ["count|set|show|list|delete", "[EXPRESSION or NAME]", "[EXPRESSION]"],
    words: ["list": [], "count": ["EXPRESSION"], "set": ["NAME", "EXPRESSION"]], wordsOfOthers: ["NAME"],
    options: [
      Command.Option("--latest", "count only each user's most recently seen device"),
      Command.Option("--provider", "NAME", repeats: true, "count devices of this provider only"),
      Command.Option("--message", "FILE", "forecast this message (default: a plain alert)"),
      Question.option("delete: "), Command.json, ListCall.csv(of: "list"),
    ] + ServerCall.options(scopes: "read (set and delete: admin)"),
    examples: [
      "fanfare audience count 'plan:pro && !churned'", "fanfare audience set winback 'seen:>30d && !churned'",
      "fanfare audience list",
    ],
    run: run)

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let words = arguments.positionals
    switch (words.first, words.count) {
    case ("count", 2): return try count(words[1], arguments)
    case ("count", _): throw UsageProblem(text: "give one expression, in quotes: fanfare audience count 'plan:pro'")
    case ("set", 3): return try set(words[1], words[2], arguments)
    case ("set", _):
      throw UsageProblem(text: "give a name and an expression, in quotes: fanfare audience set pro 'plan:pro'")
    case ("show", 2):
      return try ServerCall.one("GET", try path(of: words[1]), arguments) {
        Terminal.print("\($0["name"]?.string ?? words[1]): \($0["audience"]?.string ?? "")")
      }
    case ("show", _): throw UsageProblem(text: "give the name of an audience: fanfare audience show pro")
    case ("list", 1): return try list(arguments)
    case ("delete", 2): return try delete(words[1], arguments)
    case ("delete", _): throw UsageProblem(text: "give the name of an audience: fanfare audience delete pro")
    default: throw UsageProblem(text: "say what to do: fanfare audience count, set, show, list or delete")
    }
  }

  private static func body(_ expression: String, _ more: [JSONMember] = []) -> [UInt8] {
    JSONValue.object([JSONMember("audience", .string(expression))] + more).encoded
  }

  // MARK: Count

  private static func count(_ expression: String, _ arguments: Arguments) throws -> ExitCode {
    var more: [JSONMember] = []
    if arguments.has("--latest") { more.set("reach", Reach.latestDevicePerUser.rawValue) }
    more.set("providers", strings: arguments.texts("--provider"))
    let message = try arguments.text("--message").map { file throws(UsageProblem) in
      try DraftsCommand.message(in: file)
    }
    // Whom it is for the expression says.
    if let message {
      let own = (message.object ?? []).filter { !["to", "reach", "providers"].contains($0.key) }
      more.set("message", .object(own))
    }
    let body = body(expression, more)
    return try ServerCall.run(arguments) { client, _ in
      let answer = try await client.call("POST", "/v1/audiences/count", body)
      guard answer.isSuccess, let count = answer.document else { return refused(answer, expression, arguments) }
      if arguments.wantsJSON {
        Terminal.print(json: answer.body)
      } else {
        Terminal.print(page(of: count, isMessage: message != nil))
      }
      return .success
    }
  }

  private static func page(of count: JSONValue, isMessage: Bool) -> String {
    let total = count["total"]?.integer ?? 0
    var table = Table()
    for (title, list, key) in [("by provider", "by_provider", "provider"), ("by platform", "by_platform", "platform")] {
      let rows = count[list]?.array ?? []
      for (place, row) in (rows.filter { $0[key] != nil } + rows.filter { $0[key] == nil }).enumerated() {
        table.row(place == 0 ? title : "", row[key]?.string ?? "unknown", grouped(row["count"]?.integer ?? 0))
      }
    }
    let head = "\(counted(total, "device")): \(count["audience"]?.string ?? "")"
    let warnings = (count["warnings"]?.array ?? []).filter { !ForecastView.shows($0) }.compactMap {
      $0["detail"]?.string
    }
    let forecast = ForecastView.text(of: count["forecast"] ?? .object([]))
    let what = "\n\n\(isMessage ? "the message" : "a plain alert") to them:\n" + forecast
    let notes = warnings.map { "\nnote: " + $0 }.joined()
    return total == 0 ? head + notes : head + "\n" + table.text + what + notes
  }

  // MARK: Names

  private static func set(_ name: String, _ expression: String, _ arguments: Arguments) throws -> ExitCode {
    let path = try path(of: name)
    return try ServerCall.run(arguments) { client, _ in
      let answer = try await client.call("PUT", path, body(expression))
      guard answer.isSuccess, let audience = answer.document else { return refused(answer, expression, arguments) }
      guard !arguments.wantsJSON else {
        Terminal.print(json: answer.body)
        return .success
      }
      Terminal.print("\(name) \(answer.status == 201 ? "is" : "is now") \(audience["audience"]?.string ?? "")")
      AcceptedAnswer.warn(audience)
      // What a count would warn of, a mistyped tag for one.
      let count = try await client.call("POST", "/v1/audiences/count", body(expression))
      for warning in count.document?["warnings"]?.array ?? [] where warning["code"]?.string == "unknown_tag" {
        Terminal.note("note: \(warning["detail"]?.string ?? "")")
      }
      return .success
    }
  }

  private static func list(_ arguments: Arguments) throws -> ExitCode {
    try ListCall.whole("/v1/audiences", arguments) { audiences in
      guard !audiences.isEmpty else {
        return Terminal.print("there are no named audiences; create one with fanfare audience set NAME EXPRESSION")
      }
      var table = Table("name", "audience")
      for audience in audiences { table.row(audience["name"]?.string ?? "", audience["audience"]?.string ?? "") }
      table.show()
    }
  }

  private static func delete(_ name: String, _ arguments: Arguments) throws -> ExitCode {
    let path = try path(of: name)
    guard Question.isConfirmed("Delete the audience \(name)?", arguments) else { return .failure }
    return try ServerCall.one("DELETE", path, arguments) { answer in
      Terminal.print("\(name) is deleted")
      AcceptedAnswer.warn(answer)
    }
  }

  private static func path(of name: String) throws(UsageProblem) -> String {
    guard AudienceName.isWellFormed(name) else { throw UsageProblem(text: "\"\(name)\" \(AudienceName.rule)") }
    return "/v1/audiences/\(name)"
  }

  // MARK: Faults

  /// Shows the place in the expression, where the server named one.
  private static func refused(_ answer: Client.Answer, _ expression: String, _ arguments: Arguments) -> ExitCode {
    guard !arguments.wantsJSON, let fault = answer.document?["violations"]?.array?.first,
      let column = fault["column"]?.integer, let detail = fault["detail"]?.string
    else { return ServerCall.refused(answer, json: arguments.wantsJSON) }
    Terminal.complain("the server refused it: \(detail)", pointed(expression, column: Int(column)))
    return .refused
  }

  /// The expression on a line and a caret under the column; of a long one the part around it.
  static func pointed(_ expression: String, column: Int) -> String {
    let characters = expression.map { $0.isWhitespace ? " " : $0 }
    let place = min(max(column - 1, 0), characters.count)
    let start = max(0, min(place - shownBefore, characters.count - shown))
    let part = characters[start...].prefix(shown)
    let (left, right) = (start > 0 ? "…" : "", start + shown < characters.count ? "…" : "")
    return "\(left)\(String(part))\(right)\n  " + String(repeating: " ", count: place - start + left.count) + "^"
  }
  private static let shown = 100
  private static let shownBefore = 60
}
