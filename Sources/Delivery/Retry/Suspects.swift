import Domain
import Loop

/// Deliveries of a credential that were at work when a connection ended: one of them may have ended it. They go behind all others,
/// over connections aside from theirs (decision 0049). An answer clears one; who ends such a connection alone is to blame, and goes
/// behind the other suspects from then on, as rarely as the provider's waits want it.
struct Suspects {
  /// Numbers of lanes.
  private var waiting = FIFO<Int>()
  private var blamed = FIFO<Int>()
  /// The next comes from the other end of the queue: those that are alike stand next to each other, and nobody should wait for all of
  /// them.
  private var fromEnd = false
  /// Answers in a row.
  private var passed = 0

  var isEmpty: Bool { waiting.isEmpty && blamed.isEmpty }
  var count: Int { waiting.count + blamed.count }

  /// How many may be at work on one connection when the next goes: one until some in a row were answered, as after the end of a
  /// connection with hundreds at work, of which none is to blame.
  var together: Int { waiting.isEmpty ? 1 : min(max(1, passed / Self.proof), Self.most) }
  private static let proof = 4
  private static let most = 256

  mutating func add(_ lane: Int, isBlamed: Bool) { if isBlamed { blamed.append(lane) } else { waiting.append(lane) } }

  mutating func next() -> Int? {
    guard !waiting.isEmpty else { return blamed.popFirst() }
    defer { fromEnd.toggle() }
    return fromEnd ? waiting.popLast() : waiting.popFirst()
  }

  /// One was answered, whatever it was told.
  mutating func answered() { passed += 1 }
  /// One was not.
  mutating func unanswered() { passed = 0 }
}

/// What is on record of a delivery whose connection ended with it: it is known from that by every process.
enum Suspicion {
  private static let ended = "the connection ended while this request was at work"
  private static let silent = "the connection fell silent while this request was at work"
  private static let alone = " alone"

  static func ofEnd(_ reason: String, alone: Bool) -> String { "\(ended)\(alone ? Self.alone : ""): \(reason)" }
  static func ofSilence(_ reason: String, alone: Bool) -> String { "\(silent)\(alone ? Self.alone : ""): \(reason)" }

  /// It was at work when a connection ended.
  static func isSuspect(_ reason: String?) -> Bool {
    reason.map { $0.hasPrefix(ended) || $0.hasPrefix(silent) } ?? false
  }
  /// Nothing else was.
  static func isBlamed(_ reason: String?) -> Bool {
    reason.map { $0.hasPrefix(ended + alone) || $0.hasPrefix(silent + alone) } ?? false
  }
}
