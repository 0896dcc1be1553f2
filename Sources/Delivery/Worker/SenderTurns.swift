import Domain
import Loop

/// Gives the senders that have something to send their turns.
final class SenderTurns: WorkerPart {
  /// Senders with something to send, in turns.
  private var awake: [Sender] = []
  private var dispatching = false

  /// Requests of one credential before another one's turn.
  private static let quantum = 64

  /// Milliseconds of a turn of the loop that go into sending.
  private static let moment: Int64 = 2

  /// The sender may have something to send: it is asked at the end of this turn.
  func wake(_ sender: Sender) {
    guard !sender.isAwake else { return }
    sender.isAwake = true
    awake.append(sender)
    guard !dispatching else { return }
    dispatching = true
    dispatchLast()
  }

  /// In turns, so that nobody's flood holds back the others: urgent sends first, bulk for a moment, then the loop looks
  /// after what has come meanwhile. Without that a campaign fills all streams that came free before anything else is
  /// heard.
  private func dispatch() {
    for sender in awake where sender.hasUrgent { _ = sender.dispatch(quantum: Self.quantum, onlyUrgent: true) }
    let end = loop.now + Self.moment
    while !awake.isEmpty, loop.now < end {
      let turn = awake
      awake.removeAll(keepingCapacity: true)
      for (place, sender) in turn.enumerated() {
        guard place == 0 || loop.now < end else {
          awake = turn[place...] + awake
          break
        }
        sender.isAwake = false
        if sender.dispatch(quantum: Self.quantum) { wake(sender) }
      }
    }
    dispatching = !awake.isEmpty
    if dispatching { loop.after(milliseconds: 0) { [weak self] in self?.dispatchLast() } }
    worker.claimer.claim()
  }

  /// At the end of the turn, behind what others write at its end: commands to the store must not wait for bulk.
  private func dispatchLast() {
    loop.atEndOfTurn { [weak self] in self?.loop.atEndOfTurn { self?.dispatch() } }
  }

  /// All senders may go on: a flush made room for outcomes.
  func wakeAll() {
    for sender in worker.senders.values where sender.hasWaiting { wake(sender) }
  }
}
