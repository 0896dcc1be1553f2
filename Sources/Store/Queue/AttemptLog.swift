package import Domain

/// One request for a delivery, as kept.
package struct Attempt: Hashable, Sendable {
  package var at: WallTime
  /// `accepted`, `retry` … (`Verdict.word`)
  package var verdict: String
  package var reason: String?
  /// HTTP status; 0 without an answer.
  package var status: Int
  /// `status` 0: nobody answered.
  package init(at: WallTime, verdict: String, reason: String?, status: Int) {
    self.at = at
    self.verdict = verdict
    self.reason = reason
    self.status = status
  }
}

/// The requests for one delivery in their order: the first and the last of them, and how many were left out between. What is tried
/// for weeks stays as small as what is tried for hours.
package struct AttemptLog: Hashable, Sendable {
  /// Those that are kept; what was left out came behind the first `firstKept` of them.
  package private(set) var kept: [Attempt] = []
  /// Nothing up to `firstKept + lastKept` attempts.
  package private(set) var omitted = Omitted()

  /// What was left out.
  package struct Omitted: Hashable, Sendable {
    package var count = 0
    /// Of them, those that count, and those that count and were not answered.
    var spent = 0
    var unanswered = 0
  }

  /// Of the oldest, kept whatever follows.
  package static let firstKept = 8
  /// Of the newest.
  package static let lastKept = 24

  package init() {}
  /// In their order, as `add` one after the other.
  package init(_ attempts: some Sequence<Attempt>) { for attempt in attempts { add(attempt) } }

  package var isEmpty: Bool { kept.isEmpty }
  /// Of all, those left out among them.
  package var count: Int { kept.count + omitted.count }
  package var first: Attempt? { kept.first }
  package var last: Attempt? { kept.last }
  /// The first attempt that counts, of those that are kept.
  package var firstThatCounts: Attempt? { kept.first(where: \.counts) }
  /// Attempts that count.
  package var spent: Int { kept.count(where: \.counts) + omitted.spent }
  /// Attempts that count and that nobody answered.
  package var unanswered: Int { kept.count(where: \.isUnanswered) + omitted.unanswered }

  /// `attempt` is later than those before. The one behind the first `firstKept` gives way once there are too many.
  package mutating func add(_ attempt: Attempt) {
    kept.append(attempt)
    guard kept.count > Self.firstKept + Self.lastKept else { return }
    let left = kept.remove(at: Self.firstKept)
    omitted.count += 1
    if left.counts { omitted.spent += 1 }
    if left.isUnanswered { omitted.unanswered += 1 }
  }
}

extension AttemptLog: ExpressibleByArrayLiteral {
  package init(arrayLiteral attempts: Attempt...) { self.init(attempts) }
}

extension Attempt {
  /// The word for a request whose answer made the connection or the credential wait: it was made, and does not count.
  package static let deferred = "deferred"

  var counts: Bool { verdict != Self.deferred }
  /// It may have reached its device.
  var isUnanswered: Bool { status == 0 && counts && verdict != Outcome.accepted.rawValue }
}

// MARK: Stored form

extension AttemptLog {
  /// Stands in place of what was left out, before the counts of that: no time.
  private static let gap = 1 << 53

  var packed: [UInt8] {
    var packer = Packer()
    for (place, attempt) in kept.enumerated() {
      if place == Self.firstKept, omitted.count > 0 {
        for count in [Self.gap, omitted.count, omitted.spent, omitted.unanswered] { packer.number(count) }
      }
      packer.time(attempt.at.milliseconds)
      packer.text(DeliveryRecord.cut(attempt.verdict))
      packer.optional(attempt.reason.map(DeliveryRecord.cut))
      packer.number(max(0, attempt.status))
    }
    return packer.bytes
  }

  /// Reads to the end.
  init(_ reader: inout Unpacker) throws(Corrupt) {
    while !reader.isAtEnd {
      if kept.count == Self.firstKept, omitted.count == 0, reader.next(is: Self.gap) {
        omitted = Omitted(count: try reader.int(), spent: try reader.int(), unanswered: try reader.int())
        guard (1..<1 << 40).contains(omitted.count), !reader.isAtEnd,
          max(omitted.spent, omitted.unanswered) <= omitted.count
        else { throw Corrupt() }
      }
      kept.append(
        Attempt(
          at: WallTime(milliseconds: try reader.time()), verdict: try reader.text(), reason: try reader.optional(),
          status: try reader.int()))
    }
  }
}
