import CommandFrame
import Domain
import GatewayClient
import JSON
import Loop

/// A list of a running server: as many as are asked for, page by page, or all of it as a table in CSV.
enum ListCall {
  /// `actions`: those of the command that list something, parted by commas; empty: the command itself does.
  static func options(_ limit: Int, of actions: String = "") -> [Command.Option] {
    let mark = actions.isEmpty ? "" : "\(actions): "
    return [
      Command.Option("--limit", "COUNT", "\(mark)number of rows, 1–100000 (\(limit))"), csv(of: actions),
    ]
  }
  static func csv(of actions: String) -> Command.Option {
    Command.Option(
      "--csv", "\(actions.isEmpty ? "" : "\(actions): ")CSV, for spreadsheets; the whole list, or --limit rows")
  }
  private static let most = 100_000
  private static let pageSize = 1_000

  /// `query`: filters. `show`: writes the items for people; `isWhole` is false where there are more.
  /// `tellingLast`: what else the last page says.
  static func run(
    _ path: String, _ query: [(name: String, value: String?)], _ arguments: Arguments, limit usual: Int,
    tellingLast: @escaping @Sendable (_ page: JSONValue) -> Void = { _ in },
    _ show: @escaping @Sendable ([JSONValue], _ isWhole: Bool) -> Void
  ) throws -> ExitCode {
    let given = try arguments.integer("--limit", in: 1...most)
    if arguments.has("--csv") {
      return try export(path + ServerCall.query(query + [("format", "csv")]), arguments, rows: given)
    }
    let limit = given ?? usual
    let json = arguments.wantsJSON
    return try ServerCall.run(arguments) { client, _ in
      var items: [JSONValue] = []
      var cursor: String?
      var last = JSONValue.null
      var progress = Progress("reading")
      repeat {
        let page = query + [("limit", String(min(pageSize, limit - items.count))), ("cursor", cursor)]
        let answer = try await client.call("GET", path + ServerCall.query(page))
        guard answer.isSuccess, let document = answer.document else {
          progress.clear()
          return ServerCall.refused(answer, json: json)
        }
        items += document["items"]?.array ?? []
        cursor = document["next_cursor"]?.string
        last = document
        progress.saw(items.count, "found")
      } while cursor != nil && items.count < limit
      progress.clear()
      guard !json else {
        var members = [JSONMember("items", .array(items))]
        members.append(JSONMember("next_cursor", cursor.map { .string($0) } ?? .null))
        members += (last.object ?? []).filter { $0.key == "not_listed" }
        Terminal.print(.object(members))
        return .success
      }
      show(items, cursor == nil)
      tellingLast(last)
      return .success
    }
  }

  /// A list that has no pages.
  static func whole(_ path: String, _ arguments: Arguments, _ show: @escaping @Sendable ([JSONValue]) -> Void) throws
    -> ExitCode
  {
    guard !arguments.has("--csv") else { return try export(path + "?format=csv", arguments) }
    return try ServerCall.one("GET", path, arguments) { show($0["items"]?.array ?? []) }
  }

  /// Writes a list to standard output as the server sends it, and tells on a terminal how far it is. `rows`: of a table
  /// no more than these; nil: all.
  static func export(
    _ path: String, _ arguments: Arguments, as type: String = "text/csv", of what: String = "lines", rows: Int? = nil
  ) throws -> ExitCode {
    try ServerCall.run(arguments) { client, _ in
      var code = ExitCode.success
      var lines = 0
      var cut = rows.map { RowCut(rows: $0) }
      // Where the list itself runs over the terminal, nothing is drawn between.
      var progress = Terminal.isShown ? nil : Progress("exporting")
      let answer = try await client.export(path, as: type) { bytes in
        let piece = cut?.take(bytes) ?? (bytes[...], bytes.count { $0 == UInt8(ascii: "\n") })
        code = Terminal.pour(Array(piece.bytes))
        lines += piece.rows
        progress?.saw(lines, "lines")
        return code == .success && cut?.isDone != true
      }
      progress?.clear()
      guard answer.isSuccess else { return ServerCall.refused(answer, json: arguments.wantsJSON) }
      if code == .failure { Terminal.complain("cannot write all \(what) to standard output", "is the disk full?") }
      return code
    }
  }

  /// Says that there are more, where a list for people ends.
  static func tellRest(_ count: Int, _ isWhole: Bool) {
    if !isWhole { Terminal.note("the list has more rows than \(count): use --limit COUNT, or --csv for all") }
  }
}
