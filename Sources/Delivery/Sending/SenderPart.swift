/// A part of a sender, which owns it.
class SenderPart: ContextPart {
  /// For the other parts.
  unowned let sender: Sender
  unowned let worker: Worker
  let usage: SenderUsage

  init(_ sender: Sender) {
    self.sender = sender
    worker = sender.worker
    usage = sender.usage
    super.init(sender.context)
  }
}
