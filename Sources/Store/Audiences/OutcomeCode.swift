import Domain

/// How a delivery of a message shard stands, in four bits per index (decisions 0011, 0064): high half of a byte first, as
/// BITFIELD counts. Part of the stored layout.
enum OutcomeCode: UInt8, CaseIterable {
  case none = 0
  case accepted = 1
  case failed = 2
  case dead = 3
  case expired = 4
  case superseded = 5
  case cancelled = 6
  case skipped = 7
  /// In the retry set, with a record.
  case waiting = 8

  init(_ outcome: Outcome) {
    self =
      switch outcome {
      case .accepted: .accepted
      case .failed: .failed
      case .dead: .dead
      case .expired: .expired
      case .superseded: .superseded
      case .cancelled: .cancelled
      case .skipped: .skipped
      }
  }

  var outcome: Outcome? {
    switch self {
    case .none, .waiting: nil
    case .accepted: .accepted
    case .failed: .failed
    case .dead: .dead
    case .expired: .expired
    case .superseded: .superseded
    case .cancelled: .cancelled
    case .skipped: .skipped
    }
  }
}

/// Codes of consecutive deliveries of a message shard, from some index on.
struct OutcomeCodes {
  private let bytes: [UInt8]
  /// The first index of the first byte: even.
  private let base: Int

  /// The bytes that hold `range`.
  static func bytes(of range: Range<Int>) -> ClosedRange<Int> {
    range.lowerBound / 2...max(range.lowerBound, range.upperBound - 1) / 2
  }

  /// `bytes`: what stands at `bytes(of:)` of a range that begins at `first`; what is missing counts as none.
  init(_ bytes: [UInt8], from first: Int) {
    self.bytes = bytes
    base = first / 2 * 2
  }

  subscript(index: Int) -> OutcomeCode {
    let place = (index - base) / 2
    guard index >= base, place < bytes.count else { return .none }
    return OutcomeCode(rawValue: index.isMultiple(of: 2) ? bytes[place] >> 4 : bytes[place] & 15) ?? .none
  }
}
