import Domain
import Loop
import Store

/// Requests for many recipients (design D17): gathered, stored before their first attempt, sent again unchanged.
extension Sender {
  /// Moves what lanes may start into slices. Bulk members wait while enough slices stand ready.
  func gather() {
    let now = context.loop.now
    let wall = context.loop.wallNow
    let enough = 2 * transport.streams
    while context.mayOpen, hasLanes.urgent || hasLanes.bulk {
      // Bulk that waits for its ramp is in no urgent slice's way.
      let ready = hasLanes.urgent ? closedSlices.urgent.count : closedSlices.count
      guard ready + storingSlices < enough else { break }
      guard let delivery = takeNext(urgent: hasLanes.urgent, now: now, wall: wall) else { continue }
      if let slice = delivery.slice {
        if let closed = slices.add(delivery, delivery.id, of: slice, now: now) { closedSlices.append(closed) }
      } else {
        let recipientClass = "\(account.recipientClass(of: delivery.address)) \(likeness(of: delivery))"
        if let closed = slices.add(delivery, delivery.id, recipientClass: recipientClass, now: now) { store(closed) }
      }
    }
    if !slices.isEmpty { armSliceTimer(now: now) }
  }

  /// What the members of a slice must have in common.
  private func likeness(of delivery: Delivery) -> String {
    delivery.message.likeness(account, delivery.content, for: delivery.target.facts)
  }

  /// A member of a stored slice whose device is gone.
  func absent(from slice: StoredSlice) {
    guard let closed = slices.absent(from: slice, now: context.loop.now) else {
      return armSliceTimer(now: context.loop.now)
    }
    closedSlices.append(closed)
    worker.turns.wake(self)
  }

  /// Takes out members of slices that are not at work; what meets the condition for one member does for all of its
  /// slice.
  func takeSlices(where condition: (Delivery) -> Bool, members: (DeliveryBatch) -> Bool) -> [Delivery] {
    var taken = slices.remove(where: condition) + takeMemberSlices(where: members)
    guard !closedSlices.isEmpty else { return taken }
    for closed in closedSlices.takeAll() {
      if condition(closed.members[0]) { taken += closed.members } else { closedSlices.append(closed) }
    }
    return taken
  }

  func armSliceTimer(now: Instant) {
    guard let due = [slices.nextDue, memberSlices.nextDue].compactMap({ $0 }).min() else { return }
    // What gathers now must not wait with a slice that waits for its members.
    if let armed = sliceTimer {
      guard due < armed.due else { return }
      context.loop.cancel(armed.timer)
    }
    let timer = context.loop.after(milliseconds: max(0, due - now)) { [weak self] in
      guard let self else { return }
      sliceTimer = nil
      let now = context.loop.now
      for closed in memberSlices.due(now: now) { store(closed) }
      for closed in slices.due(now: now) {
        if !closed.stored {
          store(closed)
        } else if closed.missing == 0 {
          closedSlices.append(closed)
        } else {
          settle(closed)
        }
      }
      armSliceTimer(now: now)
      worker.turns.wake(self)
    }
    sliceTimer = (timer, due)
  }

  /// Some members of a stored slice did not come back in time. If they have ended, the slice goes again as it is. If
  /// not, they are late: then those at hand go under a new key, so that no late one is taken for having been sent.
  private func settle(_ closed: SlicePlan<Delivery>.Closed) {
    storingSlices += 1
    context.background { [worker] in
      var unfinished: Set<Int> = []
      let known = await worker.leaseKeeper.untilStored(closed.members[0].partition) { (_) throws(StoreError) in
        unfinished = try await self.context.store.queue.unfinishedMembers(of: closed.slice)
      }
      self.storingSlices -= 1
      guard known else { return worker.settler.abandon(closed.members) }
      let absent = closed.slice.members.count - closed.members.count - closed.missing
      if unfinished.subtracting(closed.members.map(\.id.index)).count > absent {
        self.revise(closed)
      } else {
        self.closedSlices.append(closed)
        worker.turns.wake(self)
      }
    }
  }

  /// Stores a new slice; it may be sent when that is done.
  private func store(_ closed: SlicePlan<Delivery>.Closed) {
    storingSlices += 1
    context.background { [worker] in
      let partition = closed.members[0].partition
      let stored = await worker.leaseKeeper.untilStored(partition) { (lease) throws(StoreError) in
        try await self.context.store.queue.storeSlice(lease, closed.slice)
      }
      self.storingSlices -= 1
      guard stored else { return worker.settler.abandon(closed.members) }
      for delivery in closed.members { delivery.slice = closed.slice }
      self.closedSlices.append(.init(slice: closed.slice, members: closed.members, stored: true))
      worker.turns.wake(self)
    }
  }

  /// Sends the first slice that may go; false: it ended otherwise.
  func sendSlice(_ pass: Pass) -> Bool {
    guard let closed = pass.takesYoungest ? closedSlices.popLast() : closedSlices.popFirst() else { return false }
    let first = closed.members[0]
    guard first.partition.mayWork else {
      worker.settler.abandon(closed.members)
      return false
    }
    guard worker.leaseKeeper.holdsLease(first.partition, now: pass.now) else {
      first.partition.parkedSlices.append((self, closed))
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
    switch first.message.rendering(account, first.content, for: first.target.facts) {
    case .failure(let why):
      worker.settler.end(closed.members, why.outcome.0, reason: why.outcome.reason)
      return false
    case .success(let rendering):
      let recipients = closed.members.map(\.address)
      let request = account.request(
        rendering, to: recipients, id: closed.slice.key, authorization: pass.header)
      send(
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

  /// One verdict for all members, so that they stay together; those named have their own.
  func concludeSlice(_ inFlight: InFlightRequest, _ judgement: Judgement, status: Int, now: WallTime) {
    guard let slice = inFlight.slice, let first = inFlight.deliveries.first else { return }
    let common = policy.decide(
      judgement.common, first.history, asked: inFlight.at, now: now, jitter: jitter.next())
    var piece = Settlement()
    var rest: [Delivery] = []
    for delivery in inFlight.deliveries {
      if let own = judgement.exceptions[delivery.address.token] {
        let decision = policy.decide(own, delivery.history, asked: inFlight.at, now: now, jitter: 0)
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
      metrics.retried()
      rests(until: due)
    }
    guard !rest.isEmpty else { return }
    guard first.partition.mayWork else { return worker.settler.abandon(rest) }
    if case .stay = common { worker.attempts.tell(tried: rest) }
    metrics.retried()
    let together = SlicePlan<Delivery>.Closed(slice: slice, members: rest, stored: true)
    if rest.count == slice.members.count || !judgement.common.isRevised {
      closedSlices.prepend(together)
    } else {
      revise(together)
    }
    worker.turns.wake(self)
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
