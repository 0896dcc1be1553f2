import CommandFrame
import Domain
import JSON

/// `fanfare devices prunes`: what a prune brake has put aside, and prunes to be taken back.
enum DevicePrunes {
  static let options = [
    Command.Option(
      "--credential", "NAME", "prunes: for this credential (review: default is all credentials of the app)"),
    Command.Option("--message", "ID", "prunes undo: devices that this message pruned"),
    Command.Option("--from", "TIME", "prunes undo: devices pruned since, for example 2026-12-01T09:00:00Z"),
    Command.Option("--to", "TIME", "prunes undo: devices pruned until then"),
  ]

  static func run(_ action: String?, _ arguments: Arguments) throws -> ExitCode {
    let credential = arguments.text("--credential")
    switch action {
    case "review":
      return try call("GET", "", [("credential", credential)], arguments) { document in
        for item in document["items"]?.array ?? [] { show(item) }
      }
    case "apply", "discard":
      guard credential != nil else { throw UsageProblem(text: "name the credential: --credential NAME") }
      return try call("POST", "/\(action ?? "")", [("credential", credential)], arguments) { document in
        if action == "apply" {
          Terminal.print(
            "\(count(document, "pruned")) pruned, \(count(document, "kept")) kept because they have changed since")
        } else {
          Terminal.print("\(count(document, "discarded")) prunes discarded; no device was pruned")
        }
        if document["brake_released"] == .bool(true) { Terminal.print("the prune brake is off") }
      }
    case "undo":
      let (from, to) = (try SendTimeOption.time("--from", arguments), try SendTimeOption.time("--to", arguments))
      let filter = [
        ("message", arguments.text("--message")), ("from", from), ("to", to), ("credential", credential),
      ]
      guard filter.contains(where: { $0.1 != nil }) else {
        throw UsageProblem(text: "say which prunes to undo: --message, --credential, --from, --to, alone or together")
      }
      return try call("POST", "/undo", filter, arguments) { document in
        Terminal.print(
          "reactivated \(counted(document["revived"]?.integer ?? 0, "device")); left dead because another device has the "
            + "token: \(count(document, "kept"))")
      }
    default: throw UsageProblem(text: "say what to do: fanfare devices prunes review, apply, discard or undo")
    }
  }

  private static func call(
    _ method: String, _ path: String, _ query: [(String, String?)], _ arguments: Arguments,
    _ show: @escaping @Sendable (JSONValue) -> Void
  ) throws -> ExitCode {
    try ServerCall.one(method, "/v1/prunes\(path)" + ServerCall.query(query), arguments, show)
  }

  private static func count(_ document: JSONValue, _ name: String) -> String { String(document[name]?.integer ?? 0) }

  private static func show(_ review: JSONValue) {
    Terminal.print(review["credential"]?.string ?? "")
    if let brake = review["brake"] {
      Terminal.print(
        "  prune brake on since \(brake["began_at"]?.string ?? ""): \(count(brake, "dead")) of \(count(brake, "seen")) "
          + "tokens were called dead (\(percent(brake["share"])); up to \(percent(brake["normal_share_limit"])) is normal)"
      )
    } else {
      Terminal.print("  prune brake off; \(normalShare(review))")
    }
    if let waiting = review["waiting_count"]?.integer, waiting > 0 {
      let reasons = (review["waiting_reasons"]?.array ?? []).map {
        "\($0["reason"]?.string ?? "") \(count($0, "count"))"
      }
      Terminal.print(
        "  \(counted(Int(waiting), "prune")) waiting (\(reasons.joined(separator: ", "))): decided when the credential has "
          + "nothing more to send and has reached enough other devices")
    }
    guard case .integer(let held)? = review["held"], held > 0 else { return }
    Terminal.print("  \(held) prunes held")
    var table = Table()
    for reason in review["reasons"]?.array ?? [] {
      table.row("  \(reason["reason"]?.string ?? "")", count(reason, "count"))
    }
    Terminal.print(table.text)
    Terminal.print("  examples:")
    var sample = Table()
    for prune in review["samples"]?.array ?? [] {
      let words = ["device", "reason", "dead_at", "message"].map { prune[$0]?.string ?? "" }
      sample.row(["  \(words[0])"] + words.dropFirst())
    }
    Terminal.print(sample.text)
  }

  /// A share says nothing without the answers that it stands on.
  static func normalShare(_ review: JSONValue) -> String {
    let seen = review["seen"]?.integer ?? 0
    guard seen > 0 else { return "no token was called accepted or dead yet" }
    let dead = grouped(review["dead"]?.integer ?? 0)
    let share = "\(dead) of \(counted(seen, "token")) \(seen == 1 ? "was" : "were") called dead"
    guard seen >= fewest else { return share + ": too few to judge what is normal" }
    return share + " (\(percent(review["normal_share"]))): this is the normal share"
  }
  /// Tokens, below which a share is not shown.
  private static let fewest: Int64 = 100

  private static func percent(_ share: JSONValue?) -> String {
    switch share {
    case .double(let share): "\((share * 1_000).rounded() / 10) %"
    case .integer(let share): "\(share * 100) %"
    default: "?"
    }
  }
}
