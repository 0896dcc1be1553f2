import Domain
import Loop
import Store

/// Requests for slices, and what becomes of their members.
extension SliceSender {
  /// Sends the next slice; false: it ended otherwise, or has to look for its turn once more.
  func sendNext(_ pass: Sender.Pass) -> Bool {
    guard let slice = pass.takesYoungest ? ready.popLast() : ready.popFirst() else { return false }
    guard case .delivery(let first) = slice.members[0] else { return sendMembers(of: slice, pass) }
    let deliveries = slice.deliveries
    guard first.partition.mayWork else {
      worker.settler.abandon(deliveries)
      return false
    }
    guard worker.leaseKeeper.holdsLease(first.partition, now: pass.now) else {
      first.partition.parkedSlices.append((sender, slice))
      return false
    }
    if first.message.isStopped, worker.control.stop(deliveries, now: pass.wall) { return false }
    if let end = first.end(now: pass.wall) {
      worker.settler.end(deliveries, end.outcome, reason: end.reason)
      return false
    }
    let firstLikeness = likeness(of: first)
    let others = deliveries.filter { likeness(of: $0) != firstLikeness }
    guard others.isEmpty else {
      takeOut(others, of: slice)
      return false
    }
    switch first.message.rendering(sender.account, first.content, for: first.target.facts) {
    case .failure(let why):
      worker.settler.end(deliveries, why.outcome.0, reason: why.outcome.reason)
      return false
    case .success(let rendering):
      let recipients = deliveries.map(\.address)
      let request = sender.account.request(
        rendering, to: recipients, id: slice.slice.key, authorization: pass.header)
      sender.requests.send(
        request,
        InFlightRequest(
          deliveries, recipients: recipients, slice: slice.slice, connectionSlot: pass.connectionSlot, pass))
      return true
    }
  }

  /// Facts of some devices have changed since the slice was stored, so their text is now another than that of the first.
  /// They leave the slice and go in slices of their own.
  private func takeOut(_ others: [Delivery], of slice: GatheredSlice) {
    let leaving = Set(others.map(\.id))
    revise(slice.slice, to: slice.deliveries.filter { !leaving.contains($0.id) })
    for delivery in others {
      delivery.slice = nil
      worker.settler.goBack(delivery)
    }
  }

  /// Sends a slice of members; false: they are deliveries now, and go next.
  private func sendMembers(of slice: GatheredSlice, _ pass: Sender.Pass) -> Bool {
    let members = slice.batchTickets
    let first = worker.laneKeeper.index.batch(of: members[0].tag)
    guard first.partition.mayWork, worker.leaseKeeper.holdsLease(first.partition, now: pass.now),
      !first.message.isStopped, first.message.startBy >= pass.wall, !pass.probe,
      case .success(let rendering) = first.message.rendering(sender.account, 0, for: nil)
    else {
      let slice = withDeliveries(slice)
      if pass.takesYoungest { ready.append(slice) } else { ready.prepend(slice) }
      return false
    }
    let recipients = begin(members, pass)
    let request = sender.account.request(rendering, to: recipients, id: slice.slice.key, authorization: pass.header)
    sender.metrics.firstAttempts(members.count, after: pass.wall - first.message.startedAt)
    sender.metrics.began()
    let inFlight = InFlightRequest(
      [], recipients: recipients, slice: slice.slice, members: members, connectionSlot: pass.connectionSlot, pass)
    sender.requests.begin(request, inFlight)
    return true
  }

  /// Where they go. Their batches have begun.
  private func begin(_ members: [BatchTicket], _ pass: Sender.Pass) -> [Address] {
    let worker = self.worker
    var recipients: [Address] = []
    recipients.reserveCapacity(members.count)
    var current: (batch: MemberBatch, address: Address)?
    for ticket in members {
      guard let batch = worker.laneKeeper.index.batch(of: ticket.tag).asMembers else { continue }
      if current?.batch !== batch {
        if batch.firstAttempt == nil { batch.firstAttempt = pass.wall }
        current = (batch, batch.commonAddress)
      }
      current!.address.token = ticket.token
      recipients.append(current!.address)
    }
    return recipients
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
    if rest.count == slice.members.count || !judgement.common.isRevised {
      ready.prepend(GatheredSlice(slice, rest))
    } else {
      revise(slice, to: rest)
    }
    worker.turns.wake(sender)
  }

  /// All members were accepted. The first ends as a delivery: what the provider calls the slice is kept with it.
  func concludeMembers(_ inFlight: InFlightRequest, _ verdict: Verdict, status: Int) {
    let worker = self.worker
    let members = inFlight.members
    var run = BatchSettler.Run()
    for ticket in members.dropFirst() {
      let row = worker.laneKeeper.index.end(ticket.tag)
      worker.batchSettler.accepted(row, &run)
      worker.pruner.alive(row, sender, began: inFlight.began, now: loop.now)
    }
    worker.batchSettler.close(&run)
    let first = delivery(of: .member(members[0]))
    first.slice = inFlight.slice
    first.record(verdict, counts: true, status: status, at: inFlight.at)
    worker.settler.end(first, .accepted, reason: nil, verdict: verdict)
    worker.turns.wake(sender)
  }

  /// The same request as one of deliveries.
  func withDeliveries(_ inFlight: InFlightRequest) -> InFlightRequest {
    guard !inFlight.members.isEmpty else { return inFlight }
    return InFlightRequest(inFlight, inFlight.members.map { delivery(of: .member($0)) }, of: inFlight.slice)
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
