import Loop
import Store
import Telemetry

/// A part of a sender, which owns it.
class SenderPart {
  /// For the other parts.
  unowned let sender: Sender
  unowned let worker: Worker
  let context: WorkerContext
  let usage: SenderUsage

  init(_ sender: Sender) {
    self.sender = sender
    worker = sender.worker
    context = sender.context
    usage = sender.usage
  }

  final var loop: EventLoop { context.loop }
  final var store: Store { context.store }
  final var settings: WorkerSettings { context.settings }
  final var log: Log { context.log }
  final var ledger: DeliveryLedger { context.ledger }
  final var isStopped: Bool { context.isStopped }
  final func background(_ body: @escaping () async -> Void) { context.background(body) }
}
