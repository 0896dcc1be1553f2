import Loop
import Store
import Telemetry

/// What all parts of a worker share: its loop, store and settings, the tasks at work, and whether new ones may begin.
/// Loop-owned.
final class WorkerContext {
  let loop: EventLoop
  let store: Store
  let settings: WorkerSettings
  let log: Log
  let metrics: Metrics
  let counts: WorkerMetrics
  let messages: Messages
  let ledger: DeliveryLedger
  private var draining = false
  private(set) var isStopped = false
  private var stopWaiter: UnsafeContinuation<Void, Never>?
  private var tasks = 0
  private var idleWaiter: UnsafeContinuation<Void, Never>?

  init(
    loop: EventLoop, store: Store, settings: WorkerSettings, log: Log, metrics: Metrics, messages: Messages
  ) {
    self.loop = loop
    self.store = store
    self.settings = settings
    self.log = log
    self.metrics = metrics
    self.messages = messages
    counts = WorkerMetrics(metrics)
    ledger = DeliveryLedger(messages: messages.kept)
  }

  /// False once the worker drains: nothing new begins.
  var mayBegin: Bool { !draining }
  /// A request may begin: few enough outcomes wait for their flush (design D4).
  var mayOpen: Bool { !draining && ledger.unflushed < settings.flush.unflushed }

  // MARK: Tasks

  /// A task under `Worker.run`, which returns only after it.
  func background(_ body: @escaping () async -> Void) {
    tasks += 1
    loop.spawn {
      await body()
      self.tasks -= 1
      if self.tasks == 0, let waiter = self.idleWaiter {
        self.idleWaiter = nil
        waiter.resume()
      }
    }
  }

  var hasTasks: Bool { tasks > 0 }
  func waitForTasks() async {
    guard hasTasks else { return }
    await withUnsafeContinuation { waiter in
      if tasks == 0 { waiter.resume() } else { idleWaiter = waiter }
    }
  }

  // MARK: The end

  /// Nothing new begins from now on. False: that was so before.
  func drain() -> Bool {
    guard !draining else { return false }
    draining = true
    stopWaiter?.resume()
    stopWaiter = nil
    return true
  }

  func waitForDrain() async {
    // To wait takes a turn of the loop: what is waited for may have come by then, here as above.
    await withUnsafeContinuation { waiter in
      if draining { waiter.resume() } else { stopWaiter = waiter }
    }
  }

  /// Nothing is repeated any more.
  func stopped() { isStopped = true }
}

/// What works in the context of a worker.
class ContextPart {
  let context: WorkerContext

  init(_ context: WorkerContext) { self.context = context }

  final var loop: EventLoop { context.loop }
  final var store: Store { context.store }
  final var settings: WorkerSettings { context.settings }
  final var log: Log { context.log }
  final var counts: WorkerMetrics { context.counts }
  final var messages: Messages { context.messages }
  final var ledger: DeliveryLedger { context.ledger }
  final var mayBegin: Bool { context.mayBegin }
  final var isStopped: Bool { context.isStopped }
  final func background(_ body: @escaping () async -> Void) { context.background(body) }
}

/// A part of a worker, which owns it.
class WorkerPart: ContextPart {
  /// For the other parts.
  unowned let worker: Worker

  init(_ worker: Worker) {
    self.worker = worker
    super.init(worker.context)
  }
}
