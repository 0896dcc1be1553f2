import Domain

/// A message as the pages tell of it, read from what the API answers.
struct Campaign {
  var id: String
  /// As its sender called it; empty: it has no name.
  var name: String
  var state: String
  var kind: String
  /// The expression; nil: it goes to a list.
  var audience: String?
  var targets: Int
  var acceptedAt: String?
  var startsAt: String?
  var completedAt: String?
  var predictedEnd: String?
  var duration: Int?
  var rate: Int?
  var final: Int
  var retrying: Int
  var blocked: Int
  var outcomes: [String: Int]
  /// By provider, outcome and reason.
  var counts: [Count]
  /// By platform and variant, too.
  var details: [Count]
  /// Names of its variants, in its order.
  var variants: [String]
  var labels: [(key: String, value: String)]
  var replayOf: String?
  var replayedBy: [String]
  var draftOf: String?
  var pausedReason: String?

  struct Count {
    var provider: String
    var outcome: String
    var reason: String
    var platform = ""
    var variant = ""
    var count: Int

    func isLike(_ other: Count) -> Bool {
      (provider, outcome, reason) == (other.provider, other.outcome, other.reason)
    }
  }

  init(_ report: JSONValue) {
    func number(_ value: JSONValue?) -> Int { Int(clamping: value?.integer ?? 0) }
    id = report["id"]?.string ?? ""
    name = report["name"]?.string ?? ""
    state = report["state"]?.string ?? ""
    kind = report["kind"]?.string ?? ""
    audience = report["audience"]?.string
    targets = number(report["targets"])
    acceptedAt = report["accepted_at"]?.string
    startsAt = report["starts_at"]?.string
    completedAt = report["completed_at"]?.string
    predictedEnd = report["predicted_end_at"]?.string
    duration = report["duration_ms"]?.integer.map { Int(clamping: $0) }
    rate = Self.rounded(report["outcomes_per_second"])
    let progress = report["progress"]
    final = number(progress?["final"])
    retrying = number(progress?["retrying"])
    blocked = number(progress?["blocked"])
    outcomes = [:]
    for member in report["outcomes"]?.object ?? [] { outcomes[member.key] = number(member.value) }
    counts = []
    details = []
    variants = (report["variants"]?.array ?? []).compactMap { $0["name"]?.string }
    labels = (report["labels"]?.object ?? []).map { ($0.key, $0.value.string ?? "") }
    replayOf = report["replay_of"]?.string
    replayedBy = (report["replayed_by"]?.array ?? []).compactMap(\.string)
    draftOf = report["draft_of"]?.string
    pausedReason = report["paused_reason"]?.string
    for item in report["counts"]?.array ?? [] {
      let count = Count(
        provider: item["provider"]?.string ?? "", outcome: item["outcome"]?.string ?? "",
        reason: item["reason"]?.string ?? "", platform: item["platform"]?.string ?? "",
        variant: item["variant"]?.string ?? "", count: number(item["count"]))
      details.append(count)
      // The API counts by platform and variant, too.
      if let place = counts.firstIndex(where: { $0.isLike(count) }) {
        counts[place].count &+= count.count
      } else {
        counts.append(count)
      }
    }
  }

  private static func rounded(_ value: JSONValue?) -> Int? {
    switch value {
    case .double(let number): Int(exactly: number.rounded())
    case .integer(let number): Int(clamping: number)
    default: nil
    }
  }

  var link: Link { Link("campaigns", id) }
  /// What a replay sends to again.
  var again: Int { (outcomes["failed"] ?? 0) &+ (outcomes["expired"] ?? 0) }
  /// What is to be written to cancel it.
  var confirmation: String { name.isEmpty ? id : name }
  func title(_ texts: Texts) -> String { name.isEmpty ? texts[.untitled] : name }
  var left: Int { max(0, targets - final) }
  var isOver: Bool { state == "completed" || state == "cancelled" }
  var failed: Int { (outcomes["failed"] ?? 0) + (outcomes["expired"] ?? 0) }

  /// In the order in which a funnel shows them, without those that nobody has.
  var parts: [(part: Part, count: Int)] {
    let ended = Part.allCases.filter { $0 != .waiting }.map { ($0, outcomes[$0.rawValue] ?? 0) }
    return (ended + [(.waiting, left)]).filter { $0.1 > 0 }
  }

  enum Part: String, CaseIterable {
    case accepted, failed, dead, expired, superseded, skipped, cancelled, waiting

    /// What the style sheet calls it.
    var style: String {
      switch self {
      case .superseded, .cancelled: "skipped"
      default: rawValue
      }
    }
    var word: Word {
      switch self {
      case .accepted: .outcomeAccepted
      case .failed: .outcomeFailed
      case .dead: .outcomeDead
      case .expired: .outcomeExpired
      case .superseded: .outcomeSuperseded
      case .skipped: .outcomeSkipped
      case .cancelled: .outcomeCancelled
      case .waiting: .outcomePending
      }
    }
    /// Nil: nothing is to be done.
    var fix: Word? {
      switch self {
      case .failed: .fixFailed
      case .dead: .fixDead
      case .expired: .fixExpired
      case .superseded: .fixSuperseded
      case .skipped: .fixSkipped
      case .cancelled: .fixCancelled
      case .accepted, .waiting: nil
      }
    }
  }
}
