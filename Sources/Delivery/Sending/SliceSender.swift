import Domain
import Loop
import Store

/// Requests for many recipients (design D17): gathered, stored before their first attempt, sent again unchanged.
final class SliceSender: SenderPart {
  private(set) var plan: SlicePlan<Delivery>
  /// Slices that may go; their members count as at work in their lanes.
  var ready = ReadySlices()
  /// Slices that are being stored, those of members among them.
  var storing = 0
  private var sliceTimer: (timer: Timer, due: Instant)?

  override init(_ sender: Sender) {
    plan = SlicePlan(limit: sender.account.recipientLimit, settings: sender.context.settings.slice)
    super.init(sender)
  }

  /// The account is another one now.
  func renew() { plan.limit = sender.account.recipientLimit }

  /// Moves what lanes may start into slices. Bulk members wait while enough slices stand ready.
  func gather() {
    let now = loop.now
    let wall = loop.wallNow
    let enough = 2 * sender.transport.streams
    while context.mayOpen, !sender.lanes.isEmpty {
      let isUrgent = !sender.lanes.urgent.isEmpty
      // Bulk that waits for its ramp is in no urgent slice's way.
      let count = isUrgent ? ready.urgent.count : ready.count
      guard count + storing < enough else { break }
      guard let delivery = sender.deliveries.takeNext(urgent: isUrgent, now: now, wall: wall) else { continue }
      if let slice = delivery.slice {
        if let closed = plan.add(delivery, delivery.id, of: slice, now: now) { ready.append(closed) }
      } else {
        let recipientClass = "\(sender.account.recipientClass(of: delivery.address)) \(likeness(of: delivery))"
        if let closed = plan.add(delivery, delivery.id, recipientClass: recipientClass, now: now) { store(closed) }
      }
    }
    if !plan.isEmpty { armSliceTimer(now: now) }
  }

  /// What the members of a slice must have in common.
  private func likeness(of delivery: Delivery) -> String {
    delivery.message.likeness(sender.account, delivery.content, for: delivery.target.facts)
  }

  /// A member of a stored slice whose device is gone.
  func absent(from slice: StoredSlice) {
    guard let closed = plan.absent(from: slice, now: loop.now) else {
      return armSliceTimer(now: loop.now)
    }
    ready.append(closed)
    worker.turns.wake(sender)
  }

  /// Takes out members of slices that are not at work; what meets the condition for one member does for all of its
  /// slice.
  func take(where condition: (Delivery) -> Bool, members: (DeliveryBatch) -> Bool) -> [Delivery] {
    var taken = plan.remove(where: condition) + sender.memberSlices.take(where: members)
    guard !ready.isEmpty else { return taken }
    for closed in ready.takeAll() {
      if condition(closed.members[0]) { taken += closed.members } else { ready.append(closed) }
    }
    return taken
  }

  func armSliceTimer(now: Instant) {
    guard let due = [plan.nextDue, sender.memberSlices.plan.nextDue].compactMap({ $0 }).min() else { return }
    // What gathers now must not wait with a slice that waits for its members.
    if let armed = sliceTimer {
      guard due < armed.due else { return }
      loop.cancel(armed.timer)
    }
    let timer = loop.after(milliseconds: max(0, due - now)) { [weak self] in
      guard let self else { return }
      sliceTimer = nil
      let now = loop.now
      sender.memberSlices.storeDue(now: now)
      for closed in plan.due(now: now) {
        if !closed.stored {
          store(closed)
        } else if closed.missing == 0 {
          ready.append(closed)
        } else {
          settle(closed)
        }
      }
      armSliceTimer(now: now)
      worker.turns.wake(sender)
    }
    sliceTimer = (timer, due)
  }

  /// Some members of a stored slice did not come back in time. If they have ended, the slice goes again as it is. If
  /// not, they are late: then those at hand go under a new key, so that no late one is taken for having been sent.
  private func settle(_ closed: SlicePlan<Delivery>.Closed) {
    storing += 1
    background { [sender, worker] in
      var unfinished: Set<Int> = []
      let known = await worker.leaseKeeper.untilStored(closed.members[0].partition) { (_) throws(StoreError) in
        unfinished = try await self.store.queue.unfinishedMembers(of: closed.slice)
      }
      self.storing -= 1
      guard known else { return worker.settler.abandon(closed.members) }
      let absent = closed.slice.members.count - closed.members.count - closed.missing
      if unfinished.subtracting(closed.members.map(\.id.index)).count > absent {
        self.revise(closed)
      } else {
        self.ready.append(closed)
        worker.turns.wake(sender)
      }
    }
  }

  /// Stores a new slice; it may be sent when that is done.
  private func store(_ closed: SlicePlan<Delivery>.Closed) {
    storing += 1
    background { [sender, worker] in
      let partition = closed.members[0].partition
      let stored = await worker.leaseKeeper.untilStored(partition) { (lease) throws(StoreError) in
        try await self.store.queue.storeSlice(lease, closed.slice)
      }
      self.storing -= 1
      guard stored else { return worker.settler.abandon(closed.members) }
      for delivery in closed.members { delivery.slice = closed.slice }
      self.ready.append(.init(slice: closed.slice, members: closed.members, stored: true))
      worker.turns.wake(sender)
    }
  }

  // MARK: Sending

  /// Sends the first slice that may go; false: it ended otherwise.
  func sendNext(_ pass: Sender.Pass) -> Bool {
    guard let closed = pass.takesYoungest ? ready.popLast() : ready.popFirst() else { return false }
    let first = closed.members[0]
    guard first.partition.mayWork else {
      worker.settler.abandon(closed.members)
      return false
    }
    guard worker.leaseKeeper.holdsLease(first.partition, now: pass.now) else {
      first.partition.parkedSlices.append((sender, closed))
      return false
    }
    if first.message.isStopped, worker.control.stop(closed.members, now: pass.wall) { return false }
    if let end = first.end(now: pass.wall) {
      worker.settler.end(closed.members, end.outcome, reason: end.reason)
      return false
    }
    let likeness = likeness(of: first)
    let strangers = closed.members.filter { self.likeness(of: $0) != likeness }
    guard strangers.isEmpty else {
      part(strangers, from: closed)
      return false
    }
    switch first.message.rendering(sender.account, first.content, for: first.target.facts) {
    case .failure(let why):
      worker.settler.end(closed.members, why.outcome.0, reason: why.outcome.reason)
      return false
    case .success(let rendering):
      let recipients = closed.members.map(\.address)
      let request = sender.account.request(
        rendering, to: recipients, id: closed.slice.key, authorization: pass.header)
      sender.deliveries.send(
        request,
        InFlightRequest(
          closed.members, recipients: recipients, slice: closed.slice, connectionSlot: pass.connectionSlot, pass))
      return true
    }
  }

  /// The facts of some have changed since the slice was stored: their text is another now, and nobody gets another's.
  /// They go in slices of their own.
  private func part(_ strangers: [Delivery], from closed: SlicePlan<Delivery>.Closed) {
    let leaving = Set(strangers.map(\.id))
    var rest = closed
    rest.members.removeAll { leaving.contains($0.id) }
    revise(rest)
    for delivery in strangers {
      delivery.slice = nil
      worker.settler.goBack(delivery)
    }
  }

  // MARK: Answers

  /// One verdict for all members, so that they stay together; those named have their own.
  func conclude(_ inFlight: InFlightRequest, _ judgement: Judgement, status: Int, now: WallTime) {
    guard let slice = inFlight.slice, let first = inFlight.deliveries.first else { return }
    let common = sender.policy.decide(
      judgement.common, first.history, asked: inFlight.at, now: now, jitter: sender.jitter.next())
    var piece = Settlement()
    var rest: [Delivery] = []
    for delivery in inFlight.deliveries {
      if let own = judgement.exceptions[delivery.address.token] {
        let decision = sender.policy.decide(own, delivery.history, asked: inFlight.at, now: now, jitter: 0)
        delivery.record(own, counts: true, status: status, at: inFlight.at)
        piece.add(delivery, own, decision, now: now)
        continue
      }
      delivery.record(judgement.common, counts: common.counts, status: status, at: inFlight.at)
      switch common {
      case .end, .wait: piece.add(delivery, judgement.common, common, now: now)
      case .again:
        delivery.atOnce += 1
        rest.append(delivery)
      case .stay: rest.append(delivery)
      }
    }
    worker.settler.settle(piece)
    if case .wait(let due) = common {
      sender.metrics.retried()
      sender.status.rests(until: due)
    }
    guard !rest.isEmpty else { return }
    guard first.partition.mayWork else { return worker.settler.abandon(rest) }
    if case .stay = common { worker.attempts.tell(tried: rest) }
    sender.metrics.retried()
    let together = SlicePlan<Delivery>.Closed(slice: slice, members: rest, stored: true)
    if rest.count == slice.members.count || !judgement.common.isRevised {
      ready.prepend(together)
    } else {
      revise(together)
    }
    worker.turns.wake(sender)
  }

  /// The same slice without the members refused by name or late, under a new key.
  private func revise(_ closed: SlicePlan<Delivery>.Closed) {
    var slice = closed.slice
    slice.revision += 1
    slice.members = closed.members.map(\.id.index)
    store(.init(slice: slice, members: closed.members, stored: false))
  }
}

/// The outcomes of one request's deliveries, written together.
struct Settlement {
  var ended: [(delivery: Delivery, verdict: Verdict?, outcome: Outcome, reason: String?)] = []
  var resting: [(delivery: Delivery, until: WallTime, reason: String)] = []

  mutating func add(_ delivery: Delivery, _ verdict: Verdict, _ decision: RetryPolicy.Decision, now: WallTime) {
    switch decision {
    case .end(let outcome, let reason): ended.append((delivery, verdict, outcome, reason))
    case .wait(let until): resting.append((delivery, until, verdict.reason ?? ""))
    // A slice waits for no single member: it goes again on its own.
    case .again, .stay: resting.append((delivery, now, verdict.reason ?? ""))
    }
  }
}

extension Verdict {
  fileprivate var isRevised: Bool {
    if case .retry(let retry) = self { retry.cause == .revised } else { false }
  }
}
