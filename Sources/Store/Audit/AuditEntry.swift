package import Domain

/// What somebody did with an app, for the trail of its audit.
package struct AuditEntry: Hashable, Sendable {
  /// How it ended.
  package enum Outcome: String, Hashable, Sendable, CaseIterable {
    case done
    /// By what it asked for; nothing was changed.
    case refused
    /// By the gateway, Redis or a provider: some of it may have been done.
    case failed
    /// It has begun, and has not ended yet.
    case begun
    /// It had begun, and the process ended before it could say how the act did.
    case unknown
  }

  /// When it began.
  package var beganAt: WallTime
  /// When it ended; of one that has not, when it began; of an unknown one, when that was found.
  package var at: WallTime
  /// The name of the operation, as in /openapi.json; of a command its own.
  package var operation: String
  /// The key's id; nil: a command, at Redis itself.
  package var key: String?
  /// Of a command: who ran it, and where, as the system says.
  package var user: String?
  package var address: String?
  /// What it was done with, as the path names it.
  package var object: String?
  /// What the request's query says, such as the filters of an export.
  package var query: String?
  /// The id of what it made.
  package var created: String?
  package var outcome: Outcome
  /// Of the answer.
  package var status: Int?
  /// Of a problem.
  package var code: String?
  /// The client's own name of the request (`X-Request-Id`).
  package var requestID: String?
  /// Of the request's body.
  package var requestDigest: AuditDigest?
  /// Of what a `GET` of the object would have answered just before, and just behind.
  package var before: AuditDigest?
  package var after: AuditDigest?

  /// An id as an entry has it: of an API key's secret that somebody took for one only how it begins.
  package static func withoutSecret(_ id: String) -> String {
    let prefix = ["fan_", "fk_"].first { id.hasPrefix($0) }
    return prefix.map { $0 + "…" } ?? id
  }

  /// One that begins now.
  package init(operation: String, at now: WallTime) {
    self.operation = operation
    (beganAt, at) = (now, now)
    outcome = .begun
  }
}

/// The first 16 bytes of a SHA-256.
package struct AuditDigest: Hashable, Sendable, CustomStringConvertible {
  let bytes: UUIDBytes

  /// `sha256`: all of it.
  package init(sha256: [UInt8]) {
    func word(_ range: Range<Int>) -> UInt64 { range.reduce(0) { $0 << 8 | UInt64(sha256[$1]) } }
    bytes = UUIDBytes(high: word(0..<8), low: word(8..<16))
  }
  init(_ bytes: UUIDBytes) { self.bytes = bytes }
  /// In hexadecimal digits.
  package var description: String {
    [bytes.high, bytes.low].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

/// The trails of an app. Entries are pushed out of one only by others of the same kind.
package enum AuditTrailName: String, CaseIterable, Sendable {
  /// What only administrators may do.
  case admin
  /// What was done with API keys.
  case keys
  case acts
  /// Messages that were sent.
  case sends
  /// What was refused and changed nothing, of any kind.
  case refused
  /// Sessions of the console that began or ended: any key may begin as many as it likes. New ones stand at the end, as
  /// Redis knows them by their places.
  case sessions
}

/// Where an entry stands among all of an app, newest first. At work: an act that has not ended.
package struct AuditPlace: Hashable, Sendable, Comparable {
  /// Of the stream's entry.
  var milliseconds: UInt64
  var sequence: UInt64
  /// Which trail, in the order of `AuditTrailName`.
  var trail: Int
  /// In the stream's entry, from 0.
  var index: Int

  init(_ milliseconds: UInt64, _ sequence: UInt64, trail: Int, index: Int) {
    (self.milliseconds, self.sequence, self.trail, self.index) = (milliseconds, sequence, trail, index)
  }

  /// As `text` wrote it.
  package init?(text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
    guard parts.count == 4, let milliseconds = parts[0], let sequence = parts[1], let trail = parts[2],
      let index = parts[3], trail < UInt64(AuditTrailName.allCases.count), index <= UInt64(Int32.max)
    else { return nil }
    self.init(milliseconds, sequence, trail: Int(trail), index: Int(index))
  }
  package var text: String { "\(milliseconds)-\(sequence)-\(trail)-\(index)" }

  package static func < (left: Self, right: Self) -> Bool {
    (left.milliseconds, left.sequence, left.trail, left.index)
      < (right.milliseconds, right.sequence, right.trail, right.index)
  }
}

/// An entry as a trail has it.
package struct AuditRecord: Hashable, Sendable {
  /// Nil: it is at work, and has no place yet.
  package var place: AuditPlace?
  package var trail: AuditTrailName?
  /// Of the trail, counted from its beginning: a gap would show that one is missing.
  package var number: Int64?
  package var entry: AuditEntry
}
