import CommandFrame
import Domain
import GatewayClient
import Glibc
import HTTPClient
import JSON
import Loop
import Processes

/// `fanfare messages tail`: a line for each message that comes, and for each change of its state, until ctrl-C. While the server is
/// away it waits; what happened meanwhile is told when it is back.
struct MessageTail {
  private static let interval: Int64 = 500
  /// Messages that are still followed; those further back have ended, as a rule.
  private static let followed = 200
  private static let page = 50
  /// Pages of one look: what came while the server, or the network, was away.
  private static let mostPages = 40
  /// Messages that no page shows any more and that have not ended: so many are asked for by themselves at a time.
  private static let askedAtOnce = 10

  private let json: Bool
  private let backlog: Int
  private let query: [(name: String, value: String?)]
  /// With a filter by state a message comes and goes, and only the list tells.
  private var filtersStates: Bool { query.contains { $0.name == "state" && $0.value != nil } }
  /// What was told last of each, and whether it was the end.
  private var known: [String: (state: String, isOver: Bool)] = [:]
  /// The newest message when it was looked last; empty: there was none. Nil: it has not been looked yet.
  private var newest: String?
  /// Of the open ones, the one asked for last.
  private var lastAsked = ""

  static func run(_ query: [(name: String, value: String?)], _ arguments: Arguments) throws -> ExitCode {
    let backlog = try arguments.integer("--limit", in: 1...followed) ?? 10
    let json = arguments.wantsJSON
    StopSignals.block()
    return try ServerCall.run(arguments) { client, loop in
      var tail = MessageTail(json: json, backlog: backlog, query: query)
      var isAway = false
      while !StopSignals.isPending {
        do throws(HTTPClientFailure) {
          let refusal = try await tail.look(client)
          // Redis may be away for a moment.
          if let refusal, refusal.status != 503 { return ServerCall.refused(refusal, json: json) }
          if isAway, refusal == nil { Terminal.note("the server is back") }
          isAway = refusal != nil
        } catch {
          // At the start it is a mistake, later it is worth waiting for.
          guard tail.newest != nil || isAway else { throw error }
          if !isAway { Terminal.note("cannot reach the server; waiting for it (\(error.reason))") }
          isAway = true
        }
        let end = loop.now + interval
        while loop.now < end, !StopSignals.isPending { await loop.sleep(milliseconds: 50) }
      }
      return .success
    }
  }

  private init(json: Bool, backlog: Int, query: [(name: String, value: String?)]) {
    self.json = json
    self.backlog = backlog
    self.query = query
  }

  /// Tells what is new. Nil, or the answer that tells nothing: then the next look tells it.
  private mutating func look(_ client: Client) async throws(HTTPClientFailure) -> Client.Answer? {
    var found: [JSONValue] = []
    var cursor: String?
    for page in 1... {
      let size = max(Self.page, newest == nil ? backlog : 0)
      let answer = try await client.call(
        "GET", "/v1/messages" + ServerCall.query(query + [("limit", String(size)), ("cursor", cursor)]))
      guard answer.isSuccess else { return answer }
      found += answer.document?["items"]?.array ?? []
      cursor = answer.document?["next_cursor"]?.string
      // Ids begin with their time.
      let last = found.last?["id"]?.string ?? ""
      guard cursor != nil, newest.map({ last > $0 }) ?? (found.count < backlog) else { break }
      guard page < Self.mostPages else {
        if newest != nil { Terminal.note("more messages came than are shown: fanfare messages list") }
        break
      }
    }
    let listed = Set(found.compactMap { $0["id"]?.string })
    for id in open(besides: listed) {
      let answer = try await client.call("GET", "/v1/messages/\(id)")
      guard answer.status != 404 else {
        known[id] = nil
        continue
      }
      guard answer.isSuccess, let report = answer.document else { return answer }
      found.append(report)
      lastAsked = id
    }
    saw(found)
    return nil
  }

  /// Messages that have not ended when they were told last and that no page shows, some of them in turn.
  private func open(besides listed: Set<String>) -> [String] {
    guard !filtersStates else { return [] }
    let all = known.filter { !$0.value.isOver && !listed.contains($0.key) }.keys.sorted()
    let behind = all.filter { $0 > lastAsked }
    return Array((behind + all.filter { $0 <= lastAsked }).prefix(Self.askedAtOnce))
  }

  private mutating func saw(_ reports: [JSONValue]) {
    let isFirst = newest == nil
    let found = reports.compactMap { report in report["id"]?.string.map { (id: $0, report: report) } }
      .sorted { $0.id < $1.id }
    for (place, (id, report)) in found.enumerated() {
      guard let state = report["state"]?.string else { continue }
      let now = (state: state, isOver: report["completed_at"] != nil)
      guard known[id].map({ $0 != now }) ?? true else { continue }
      known[id] = now
      // Of what was there before only the newest are told.
      guard !isFirst || place >= found.count - backlog else { continue }
      json ? Terminal.print(report.encoded) : Terminal.print(line(report, id, state))
    }
    newest = max(newest ?? "", found.last?.id ?? "")
    forget()
  }

  private mutating func forget() {
    guard known.count > Self.followed * 2 else { return }
    let ended = known.filter(\.value.isOver).keys.sorted()
    for id in ended.dropLast(Self.followed) { known[id] = nil }
    for id in known.keys.sorted().dropLast(Self.followed * 10) { known[id] = nil }
  }

  private func line(_ report: JSONValue, _ id: String, _ state: String) -> String {
    let time =
      report["completed_at"]?.string ?? report["last_outcome_at"]?.string ?? report["accepted_at"]?.string ?? ""
    let shown = padded(state, 9)
    let counts = MessageCounts(report)
    let name = report["name"]?.string.map { "  \"\($0)\"" } ?? ""
    let targets = counted(counts.total, "target")
    return
      "\(Style.dim.on(time))  \(id)  \(Style.of(state: state)?.on(shown) ?? shown)  \(targets)\(counts.text)\(name)"
  }
}
