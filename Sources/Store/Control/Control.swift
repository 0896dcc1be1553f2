/// What operators have decided about a message: the truth at its home, a copy in each of its partitions. Each decision has
/// a version, and the later one wins wherever two meet. A message that nobody touched has none.
package struct Control: Hashable, Sendable {
  /// The raw values are stored.
  package enum Word: String, Hashable, Sendable {
    case running = "r"
    case paused = "p"
    /// For ever.
    case cancelled = "c"
  }
  /// Of a delivery whose time ended while its message was paused.
  package static let expiredReason = "paused"

  package var word: Word
  package var version: Int64

  /// `version`: one more than the decision before; a message that nobody touched has none.
  package init(_ word: Word, version: Int64) {
    self.word = word
    self.version = version
  }

  /// As it is stored: `p3`.
  var packed: String { "\(word.rawValue)\(version)" }
  init?(packed: some StringProtocol) {
    guard let word = Word(rawValue: String(packed.prefix(1))), let version = Int64(packed.dropFirst()) else {
      return nil
    }
    self.init(word, version: version)
  }
}

/// What came of an operator's word.
package enum Controlled: Hashable, Sendable {
  case changed
  /// It was so before.
  case unchanged
  /// Every delivery is final.
  case completed
  /// A cancelled message does not go on, nor does it rest.
  case cancelled
  case unknown
}
