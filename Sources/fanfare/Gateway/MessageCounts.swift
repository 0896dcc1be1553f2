import Domain

/// The counters of a message as `GET /v1/messages/{id}` tells them.
struct MessageCounts: Sendable {
  var total = 0
  /// By outcome, over all providers and reasons.
  var outcomes: [String: Int] = [:]
  var lines: [Line] = []

  struct Line: Hashable, Sendable {
    var provider: String
    var outcome: String
    var reason: String?
    var count: Int

    fileprivate func isLike(_ other: Line) -> Bool {
      (provider, outcome, reason ?? "") == (other.provider, other.outcome, other.reason ?? "")
    }
  }

  init(_ report: JSONValue) {
    total = Int(report["targets"]?.integer ?? 0)
    for item in report["counts"]?.array ?? [] {
      let line = Line(
        provider: item["provider"]?.string ?? "", outcome: item["outcome"]?.string ?? "",
        reason: item["reason"]?.string, count: Int(item["count"]?.integer ?? 0))
      // The server counts by platform and variant, too.
      if let place = lines.firstIndex(where: { $0.isLike(line) }) {
        lines[place].count += line.count
      } else {
        lines.append(line)
      }
      outcomes[line.outcome, default: 0] += line.count
    }
  }

  /// All were accepted, or skipped as the message, its app or the operator asks for.
  var isAsMeant: Bool {
    let meant = lines.filter { line in
      line.outcome == Outcome.accepted.rawValue
        || (line.outcome == Outcome.skipped.rawValue
          && line.reason.flatMap { SkipReason(rawValue: $0) }?.isIntended == true)
    }
    return meant.reduce(0) { $0 + $1.count } == total
  }

  /// `: 3 accepted, 1 dead (Unregistered)`
  var text: String {
    let parts = lines.map { line in
      "\(line.count) \(line.outcome)\(line.reason.map { " (\($0))" } ?? "")\(line.provider.isEmpty ? "" : " \(line.provider)")"
    }
    return parts.isEmpty ? "" : ": " + parts.joined(separator: ", ")
  }
}
