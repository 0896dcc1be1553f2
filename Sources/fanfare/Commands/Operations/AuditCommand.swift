import CommandFrame
import Domain
import GatewayClient
import HTTPClient
import JSON
import Loop
import Processes

/// Who did what with an app, as the audit of a running server has it.
enum AuditCommand {
  static let command = Command(
    name: "audit", summary: "show who did what: acts, sends, exports, deletions and key changes",
    about: """
      Prints the newest entries of the app's audit that match all filters. An entry tells who did what from which
      address: the operation as /openapi.json names it, the key's id, or the user who ran a command at Redis itself; the
      object, what was created, and how it ended. With --json or --csv it has digests of the request and of the object
      before and behind, too. Nothing changes or removes an entry but its age and number (audit in the configuration).
      --follow goes on and prints a line for each new entry, until ctrl-C.
      """,
    options: ServerCall.options(scopes: "admin") + [
      Command.Option("--operation", "NAME", "entries of this operation, such as deleteUser or createKey"),
      Command.Option("--key", "KEY-ID", "entries of requests with this key"),
      Command.Option("--object", "ID", "entries about this message, device, user, draft or name"),
      Command.Option("--from", "TIME", "ended since, for example 2026-12-01T09:00:00Z"),
      Command.Option("--to", "TIME", "ended before"),
      Command.Option("--follow", "go on with a line for each new entry"), Command.json,
    ] + ListCall.options(defaultLimit),
    examples: ["fanfare audit --operation deleteUser", "fanfare audit --follow --json"]
  ) { arguments in
    guard arguments.has("--follow") else {
      return try ListCall.run(path, filters(arguments), arguments, limit: defaultLimit) { items, isWhole in
        show(items)
        ListCall.tellRest(items.count, isWhole)
      }
    }
    guard !arguments.has("--csv"), arguments.text("--to") == nil else {
      throw UsageProblem(text: "--follow has no end: leave --csv and --to out")
    }
    return try follow(arguments)
  }

  private static let path = "/v1/audit"
  private static let defaultLimit = 50

  private static func filters(_ arguments: Arguments) -> [(name: String, value: String?)] {
    ["operation", "key", "object", "from", "to"].map { ($0, arguments.text("--\($0)")) }
  }

  private static func show(_ items: [JSONValue]) {
    guard !items.isEmpty else { return Terminal.note("no entry matches") }
    var table = Table("ended at", "who", "from", "operation", "object", "created", "outcome", state: "outcome")
    for item in items {
      func text(_ name: String) -> String { item[name]?.string ?? "" }
      table.row(
        text("ended_at"), who(item), text("address"), text("operation"), text("object"), text("created_id"),
        text("outcome"))
    }
    table.show()
  }

  private static func who(_ item: JSONValue) -> String { item["key"]?.string ?? item["user"]?.string ?? "" }

  // MARK: Following

  /// Milliseconds between two looks.
  private static let period: Int64 = 1_000
  private static let pageSize = 200

  private static func follow(_ arguments: Arguments) throws -> ExitCode {
    let json = arguments.wantsJSON
    let first = try arguments.integer("--limit", in: 1...1_000) ?? defaultLimit
    let filters = filters(arguments)
    StopSignals.block()
    return try ServerCall.run(arguments) { client, loop in
      var newest: String?
      var since: String?
      var isAway = false
      while !StopSignals.isPending {
        do throws(HTTPClientFailure) {
          let (fresh, refusal) = try await look(client, filters, behind: newest, since: since, first: first)
          // Redis may be away for a moment.
          if let refusal, refusal.status != 503 { return ServerCall.refused(refusal, json: json) }
          for item in fresh { Terminal.print(json ? String(decoding: item.encoded, as: UTF8.self) : line(item)) }
          newest = fresh.last?["id"]?.string ?? newest
          since = fresh.last?["ended_at"]?.string ?? since
          if isAway, refusal == nil { Terminal.note("the server is back") }
          isAway = refusal != nil
        } catch {
          // At the start it is a mistake, later it is worth waiting for.
          guard newest != nil || isAway else { throw error }
          if !isAway { Terminal.note("cannot reach the server; waiting for it (\(error.reason))") }
          isAway = true
        }
        let end = loop.now + period
        while loop.now < end, !StopSignals.isPending { await loop.sleep(milliseconds: 50) }
      }
      return .success
    }
  }

  /// Entries behind the one that was told last, oldest first; at the start the newest ones.
  private static func look(
    _ client: Client, _ filters: [(name: String, value: String?)], behind newest: String?, since: String?, first: Int
  ) async throws(HTTPClientFailure) -> (fresh: [JSONValue], refusal: Client.Answer?) {
    var fresh: [JSONValue] = []
    var cursor: String?
    repeat {
      // Older ones need not be read again and again.
      let known = since == nil ? filters : filters.filter { $0.name != "from" } + [("from", since)]
      let page = known + [("limit", String(newest == nil ? first : pageSize)), ("cursor", cursor)]
      let answer = try await client.call("GET", path + ServerCall.query(page))
      guard answer.isSuccess, let document = answer.document else { return ([], answer) }
      for item in document["items"]?.array ?? [] {
        // What has not ended has no id yet, and comes when it has.
        guard let id = item["id"]?.string else { continue }
        if id == newest { return (fresh.reversed(), nil) }
        fresh.append(item)
      }
      cursor = document["next_cursor"]?.string
    } while newest != nil && cursor != nil
    return (fresh.reversed(), nil)
  }

  private static func line(_ item: JSONValue) -> String {
    ["ended_at", "operation", "outcome", "object", "created_id", "address"].compactMap { item[$0]?.string }
      .joined(separator: "  ") + "  " + who(item)
  }
}
