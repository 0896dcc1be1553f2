import Domain
import Loop
import Store

/// Gathers the outcomes of one partition under one lease into numbered flushes, one at work at a time (design D9). A flush
/// without a reply is repeated with its number until one comes.
struct FlushPlan {
  /// What must not be torn apart: one delivery's outcome, or those of all members of a slice.
  struct Piece {
    var finals: [Flush.Final] = []
    /// Members of audiences, by message.
    var accepted: [Flush.Accepted] = []
    fileprivate(set) var acceptedCount = 0
    var retries: [Flush.RetryEntry] = []
    var finishedJobs: [JobID] = []
    var prunes: [Flush.Prune] = []
    var outcomes: Int { finals.count + retries.count + acceptedCount }
    var isEmpty: Bool { outcomes == 0 && finishedJobs.isEmpty && prunes.isEmpty }
  }

  private var gathered: FIFO<Piece> = FIFO()
  /// The youngest, still growing.
  private var open = Piece()
  private var atWork: (number: UInt64, piece: Piece)?
  private var last: UInt64 = 0
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  var isAtWork: Bool { atWork != nil }
  var isIdle: Bool { atWork == nil && gathered.isEmpty && open.isEmpty }
  /// Outcomes that no flush has confirmed.
  var unflushed: Int {
    var waiting = gathered
    return waiting.takeAll().reduce(open.outcomes + (atWork?.piece.outcomes ?? 0)) { $0 + $1.outcomes }
  }
  /// Enough for a flush without waiting for more.
  var isFull: Bool { !gathered.isEmpty || open.outcomes >= limit }

  mutating func add(_ piece: Piece) {
    close(before: piece.outcomes)
    open.finals += piece.finals
    open.retries += piece.retries
    open.finishedJobs += piece.finishedJobs
    open.prunes += piece.prunes
  }

  mutating func add(_ final: Flush.Final, prune: Flush.Prune?, finishedJob: JobID?) {
    close(before: 1)
    open.finals.append(final)
    if let prune { open.prunes.append(prune) }
    if let finishedJob { open.finishedJobs.append(finishedJob) }
  }

  /// Members of an audience were accepted.
  mutating func add(accepted indexes: [UInt32], of message: MessageID, firstAttempt: WallTime, finishedJob: JobID?) {
    var rest = indexes[...]
    while !rest.isEmpty {
      close(before: 1)
      if open.accepted.last?.message != message {
        open.accepted.append(.init(message: message, indexes: [], firstAttempt: firstAttempt))
      }
      let some = rest.prefix(max(1, limit - open.outcomes))
      open.accepted[open.accepted.count - 1].indexes += some
      open.acceptedCount += some.count
      rest = rest.dropFirst(some.count)
    }
    if let finishedJob { open.finishedJobs.append(finishedJob) }
  }

  mutating func add(_ retry: Flush.RetryEntry, finishedJob: JobID?) {
    close(before: 1)
    open.retries.append(retry)
    if let finishedJob { open.finishedJobs.append(finishedJob) }
  }

  private mutating func close(before more: Int) {
    guard open.outcomes > 0, open.outcomes + more > limit else { return }
    gathered.append(open)
    open = Piece()
  }

  /// The next flush, if none is at work.
  mutating func next(_ lease: Lease) -> Flush? {
    guard atWork == nil else { return nil }
    if gathered.isEmpty {
      guard !open.isEmpty else { return nil }
      gathered.append(open)
      open = Piece()
    }
    guard let piece = gathered.popFirst() else { return nil }
    last += 1
    atWork = (last, piece)
    return flush(lease)
  }

  /// The flush at work once more: its reply was lost.
  func again(_ lease: Lease) -> Flush {
    guard atWork != nil else { preconditionFailure("nothing to repeat") }
    return flush(lease)
  }

  private func flush(_ lease: Lease) -> Flush {
    guard let (number, piece) = atWork else { preconditionFailure("no flush at work") }
    var flush = Flush(lease: lease, number: number)
    flush.finals = piece.finals
    flush.accepted = piece.accepted
    flush.retries = piece.retries
    flush.finishedJobs = piece.finishedJobs
    flush.prunes = piece.prunes
    return flush
  }

  /// It took effect: what it carried.
  mutating func confirmed() -> Piece {
    guard let (_, piece) = atWork else { preconditionFailure("no flush at work") }
    atWork = nil
    return piece
  }
}
