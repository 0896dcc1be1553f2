package import Domain

/// The counters of a message as `GET /v1/messages/{id}` tells them.
package struct MessageCounts: Sendable {
  package var total = 0
  /// By outcome, over all providers and reasons.
  package var outcomes: [String: Int] = [:]
  package var lines: [Line] = []
  /// The message names an audience, not devices.
  private let isOfAudience: Bool

  /// Deliveries of one provider that ended alike.
  package struct Line: Hashable, Sendable {
    package var provider: String
    package var outcome: String
    package var reason: String?
    package var count: Int

    fileprivate func isLike(_ other: Line) -> Bool {
      (provider, outcome, reason ?? "") == (other.provider, other.outcome, other.reason ?? "")
    }
  }

  /// `report`: the body of the answer.
  package init(_ report: JSONValue) {
    isOfAudience = report["audience"] != nil
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

  /// All were accepted, or skipped as the message, its app or the operator asks for. Of an audience also: skipped as
  /// such a push cannot go there.
  package var isAsMeant: Bool {
    let meant = lines.filter { line in
      line.outcome == Outcome.accepted.rawValue
        || (line.outcome == Outcome.skipped.rawValue
          && line.reason.flatMap { SkipReason(rawValue: $0) }.map {
            $0.isIntended || isOfAudience && $0.isOfKind
          } == true)
    }
    return meant.reduce(0) { $0 + $1.count } == total
  }

  /// There were targets, and each of them has switched notifications off.
  package var isNobodyReachable: Bool {
    !lines.isEmpty && lines.allSatisfy { $0.reason == SkipReason.deviceDisabled.rawValue }
  }

  /// `: 3 accepted, 1 dead (Unregistered)`
  package var text: String {
    let parts = lines.map { line in
      "\(grouped(line.count)) \(line.outcome)\(line.reason.map { " (\($0))" } ?? "")\(line.provider.isEmpty ? "" : " \(line.provider)")"
    }
    return parts.isEmpty ? "" : ": " + parts.joined(separator: ", ")
  }
}
