import Domain

/// What a transport and timers refer to in place of a sender, as nobody else may keep it alive. An object that something
/// refers to weakly is slower to retain, and a sender is retained many times for each delivery.
final class TransportEvents: TransportOwner {
  /// It owns this.
  unowned let sender: Sender

  init(_ sender: Sender) { self.sender = sender }

  func answered(_ tag: Int, _ answer: ProviderAnswer) { sender.judge.answered(tag, answer) }
  func succeeded(_ answers: [(tag: UInt64, body: [UInt8])]) { sender.requests.succeeded(answers) }
  func failed(_ tag: Int, _ failure: TransportFailure) { sender.judge.failed(tag, failure) }
  func hasRoom() { sender.worker.turns.wake(sender) }
  func unreachable(_ reason: String) { sender.status.unreachable(reason) }
  func reached() { sender.status.reached() }
}
