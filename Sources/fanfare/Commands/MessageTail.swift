import Domain
import Glibc
import HTTPClient
import JSON
import Loop

/// `fanfare messages tail`: a line for each message that comes, and for each change of its state, until ctrl-C.
struct MessageTail {
  private static let interval: Int64 = 500
  /// Messages that are still followed; those further back have ended, as a rule.
  private static let followed = 200
  /// A page that is asked for each time.
  private static let page = 50

  private let json: Bool
  private var states: [String: String] = [:]

  static func run(_ query: [(name: String, value: String?)], _ arguments: Arguments) throws -> ExitCode {
    let backlog = try arguments.integer("--limit", in: 1...followed) ?? 10
    let json = arguments.wantsJSON
    StopSignals.block()
    return try ServerCall.run(arguments) { client, loop in
      var tail = MessageTail(json: json)
      var isAway = false
      var limit = backlog
      while !StopSignals.isPending {
        do throws(HTTPClientFailure) {
          let path = "/v1/messages" + ServerCall.query(query + [("limit", String(limit))])
          let answer = try await client.call("GET", path)
          // Redis may be away for a moment.
          guard answer.status == 503 || answer.isSuccess else { return ServerCall.refused(answer, json: json) }
          if isAway, answer.isSuccess { Terminal.note("the server is back") }
          isAway = !answer.isSuccess
          tail.saw(answer.document?["items"]?.array ?? [])
          if answer.isSuccess { limit = max(page, backlog) }
        } catch {
          // At the start it is a mistake, later it is worth waiting for.
          guard !tail.states.isEmpty || isAway || limit != backlog else { throw error }
          if !isAway { Terminal.note("cannot reach the server; waiting for it (\(error.reason))") }
          isAway = true
        }
        let end = loop.now + interval
        while loop.now < end, !StopSignals.isPending { await loop.sleep(milliseconds: 50) }
      }
      return .success
    }
  }

  private init(json: Bool) { self.json = json }

  /// Newest first, as the server lists them.
  private mutating func saw(_ reports: [JSONValue]) {
    for report in reports.reversed() {
      guard let id = report["id"]?.string, let state = report["state"]?.string else { continue }
      let known = report["completed_at"] == nil ? state : state + " ended"
      guard states[id] != known else { continue }
      states[id] = known
      json ? Terminal.print(report.encoded) : Terminal.print(line(report, id, state))
    }
    guard states.count > Self.followed * 2 else { return }
    // Ids begin with their time.
    for id in states.keys.sorted().dropLast(Self.followed) { states[id] = nil }
  }

  private func line(_ report: JSONValue, _ id: String, _ state: String) -> String {
    let time =
      report["completed_at"]?.string ?? report["last_outcome_at"]?.string ?? report["accepted_at"]?.string ?? ""
    let shown = Help.padded(state, 9)
    let counts = MessageCounts(report)
    let name = report["name"]?.string.map { "  \"\($0)\"" } ?? ""
    let targets = counted(counts.total, "target")
    return
      "\(Style.dim.on(time))  \(id)  \(Style.of(state: state)?.on(shown) ?? shown)  \(targets)\(counts.text)\(name)"
  }
}
