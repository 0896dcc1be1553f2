import Domain
import Loop
import Store
import Telemetry

/// All that one credential sends on this loop (design D14): its queues of lanes, its condition, its authorization, its
/// connections. It takes lanes that may start something, and gives every started delivery back to the worker with what
/// became of it.
final class Sender {
  let id: CredentialID
  private(set) var account: any ProviderAccount
  let provider: ProviderName
  unowned let worker: Worker
  let context: WorkerContext
  private(set) var transport: any Transport
  /// Counts the accounts that this credential has had; requests of an earlier one say nothing of the present.
  private(set) var generation = 0
  var retired: [Retired] = []
  /// The credential left the configuration.
  var isRemoved = false
  let policy: RetryPolicy
  let metrics: SenderMetrics
  /// What the ledger counts for it.
  let usage = SenderUsage()
  var retryPauses = RetryPauses()
  var brake: PruneBrake
  var unproven = UnprovenPrunes()
  /// When a token was last reached, or called dead; nil: none was.
  var lastVerdict: Instant?
  var jitter = Jitter()
  var quota: SenderQuota?
  var subscriberLimit: SubscriberLimit?
  /// Lanes that may start a delivery.
  var lanes = ReadyLanes()
  /// Batches of which rows may be sent.
  var batches = ReadyBatches()
  /// The batches that had their turn last among what is urgent, and among bulk; nil: the lanes had.
  var lastUrgent: ReadyBatches.Kind?
  var lastBulk: ReadyBatches.Kind?
  /// Stands in the worker's list of senders with something to send.
  var isAwake = false
  private var wakeTimer: (timer: Timer, due: Instant)?
  /// What the transport tells comes by this.
  private lazy var events = TransportEvents(self)

  // What speaks for and against sending.
  private(set) lazy var status = CredentialStatus(self)
  private(set) lazy var authorizer = Authorizer(self)
  private(set) lazy var limits = RequestLimits(self)
  private(set) lazy var probing = ProbeChooser(self)
  // What sends.
  private(set) lazy var requests = RequestSender(self)
  private(set) lazy var slices = SliceSender(self)
  private(set) lazy var suspects = SuspectSender(self)
  private(set) lazy var judge = AnswerJudge(self)

  /// The part of the streams that bulk leaves to urgent (design D7).
  static let reserve = 0.1

  init(worker: Worker, account: any ProviderAccount, transport: any Transport) {
    self.worker = worker
    context = worker.context
    self.account = account
    self.transport = transport
    id = account.credential
    provider = account.provider
    policy = RetryPolicy(context.settings.retry[provider] ?? RetryRules())
    brake = PruneBrake(context.settings.brake)
    metrics = SenderMetrics(context.metrics, provider: provider)
    transport.owner = events
    quota = SenderQuota(worker.quotas[provider], group: account.quotaGroup, sender: self)
    subscriberLimit = SubscriberLimit(worker.quotas[provider], account.subscriberRule, sender: self)
  }

  /// Sends with another account from now on.
  func replace(account: any ProviderAccount, transport: any Transport) {
    generation += 1
    self.account = account
    self.transport = transport
    transport.owner = events
    authorizer.renew()
    status.resetBreaker()
    limits.renew()
    brake.renewed(at: context.loop.now)
    // The settings may have been what was wrong, and not the tokens: the next send tells.
    unproven.forgetDoubtful()
    slices.renew()
    renewQuota()
  }

  // MARK: What there is to do

  var gathersSlices: Bool { account.recipientLimit > 1 }
  var hasWaiting: Bool { hasWaitingOthers || !suspects.isEmpty }
  /// Others than suspects.
  var hasWaitingOthers: Bool {
    !lanes.isEmpty || !batches.isEmpty || !slices.ready.isEmpty
  }
  var isIdle: Bool { usage.atWork == 0 && slices.storing == 0 }
  /// Something of it is in memory: its answers will tell what stands against the credential.
  var hasWork: Bool { usage.inMemory > 0 || !isIdle }
  /// Urgent sends stand ready.
  var hasUrgent: Bool {
    gathersSlices ? !slices.ready.urgent.isEmpty : !lanes.urgent.isEmpty || !batches.urgent.isEmpty
  }
  /// How many the next request reaches; nil: all subscribers.
  var nextRecipients: Int? {
    guard let slice = slices.ready.first else { return 1 }
    if case .delivery(let first) = slice.members[0], first.address.tokenKind == .subscribers { return nil }
    return slice.members.count
  }

  /// Deliveries this credential still takes. Members that wait for the rest of their slice do not count, as they wait
  /// for what is still to be claimed.
  var room: (free: Int, whole: Int) {
    let whole = context.settings.claim.room
    guard !isRemoved, usage.barriers < context.settings.claim.barriers else { return (0, whole) }
    return (whole - (usage.inMemory - slices.plan.reuniting - usage.paced), whole)
  }

  /// A retry that comes back now would find a closed door, or no room: it had better wait where it is.
  var takesRetries: Bool {
    !isRemoved && status.breaker.mayPass(now: context.loop.now) && room.free > -context.settings.claim.retriesAtOnce
  }

  /// Requests for many tell of all of theirs at once. What waits for its rate comes much later.
  var ahead: PruneBrake.Ahead {
    let inMemory = max(0, usage.inMemory - usage.paced - usage.grouped)
    return .init(atWork: gathersSlices ? inMemory : usage.atWork, inMemory: inMemory)
  }

  /// The lane may start this delivery. `first`: it is to go before the others.
  func enqueue(lane: Int, _ next: Delivery, first: Bool = false) {
    defer { worker.turns.wake(self) }
    guard gathersSlices || !next.isSuspect else { return suspects.queue.add(lane, isBlamed: next.isBlamed) }
    let isUrgent = next.urgency == .urgent
    if isUrgent { limits.window.urgentCame(now: context.loop.now) }
    if first { lanes.prepend(lane, urgent: isUrgent) } else { lanes.append(lane, urgent: isUrgent) }
  }

  /// Look again at that time; nil: an answer will do it.
  func wake(at time: Instant?, now: Instant) {
    guard let time else { return }
    if let set = wakeTimer {
      if set.due <= time { return }
      context.loop.cancel(set.timer)
    }
    let timer = context.loop.after(milliseconds: max(1, time - now)) { [weak events] in
      guard let sender = events?.sender else { return }
      sender.wakeTimer = nil
      sender.worker.turns.wake(sender)
    }
    wakeTimer = (timer, time)
  }
}
