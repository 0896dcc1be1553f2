import Domain
import Loop
import Store

/// A member of an audience in a slice without a delivery of its own: its request in flight is named by `tag`.
struct BatchTicket {
  var tag: Int
  /// The rest of its address is what its batch has in common.
  var token: String
}

/// Members of audiences whose provider takes many recipients in a request: from the batch into slices without a
/// delivery each. Such a slice is stored before its first attempt like any other. If it is not accepted as a whole, or
/// its message may not go, its members become deliveries of that slice.
final class MemberSliceSender: SenderPart {
  private(set) var plan: SlicePlan<BatchTicket>
  /// Slices that may go; they are stored.
  private(set) var ready = FIFO<SlicePlan<BatchTicket>.Closed>()
  /// The token of the member at hand.
  private var token: [UInt8] = []

  override init(_ sender: Sender) {
    plan = SlicePlan(limit: sender.account.recipientLimit, settings: sender.context.settings.slice)
    super.init(sender)
  }

  /// The account is another one now.
  func renew() { plan.limit = sender.account.recipientLimit }

  /// Moves members of batches into slices, until enough of them stand ready.
  func gather() {
    let now = loop.now
    let wall = loop.wallNow
    let enough = 2 * sender.transport.streams
    while context.mayOpen, let batch = sender.members.batches.first,
      ready.count + sender.slices.ready.count + sender.slices.storing < enough
    {
      if !worker.leaseKeeper.holdsLease(batch.partition, now: now) {
        _ = sender.members.batches.popFirst()
        batch.partition.parkedBatches.append((sender, batch))
      } else if batch.mayStop(now: wall), worker.memberSettler.stop(batch, sender, now: wall) {
        _ = sender.members.batches.popFirst()
      } else {
        gather(batch, now: now, wall: wall)
        if batch.waiting == 0 { _ = sender.members.batches.popFirst() }
      }
    }
    if !plan.isEmpty { sender.slices.armSliceTimer(now: now) }
  }

  /// As many as fit one request. Those of another route or class than the first take the slow path.
  private func gather(_ batch: DeliveryBatch, now: Instant, wall: WallTime) {
    let worker = self.worker
    let account = sender.account
    var taken: [(index: Int, ticket: BatchTicket)] = []
    taken.reserveCapacity(min(batch.waiting, account.recipientLimit))
    while batch.waiting > 0, taken.count < account.recipientLimit {
      let place = batch.takeNext()
      guard let (token, hash) = short(place, of: batch, account, worker) else {
        worker.admission.takeSlowPath(place, of: batch, sender)
        continue
      }
      let tag = worker.laneKeeper.inFlightMembers.begin(
        .init(
          batch: batch, place: place, hash: hash, began: now, at: wall, connectionSlot: 0,
          generation: sender.generation,
          lane: nil)
      )
      taken.append((batch.members.index(at: place), BatchTicket(tag: tag, token: token)))
    }
    guard !taken.isEmpty, let like = batch.like else { return }
    let closed = plan.add(
      taken, of: batch.message.id, partition: batch.partition.number, recipientClass: like.recipientClass, now: now)
    for slice in closed { store(slice) }
  }

  /// Nil: it has to take the slow path.
  private func short(_ place: Int, of batch: DeliveryBatch, _ account: any ProviderAccount, _ worker: Worker) -> (
    token: String, hash: UInt64
  )? {
    let member = batch.members.member(at: place)
    guard member.token(into: &token) else { return nil }
    let hash = TokenTable.hash(token, owner: batch.owner)
    guard worker.laneKeeper.inFlightMembers.tokens.inFlight(hash) == nil, !worker.laneKeeper.lanes.has(hash) else {
      return nil
    }
    if batch.like == nil {
      guard let address = member.address else { return nil }
      batch.like = .init(route: member.route, address: address, recipientClass: account.recipientClass(of: address))
    }
    let text = String(decoding: token, as: UTF8.self)
    return batch.isLike(member, token: text, account) ? (text, hash) : nil
  }

  /// Stores what has gathered long enough.
  func storeDue(now: Instant) {
    for closed in plan.due(now: now) { store(closed) }
  }

  private func store(_ closed: SlicePlan<BatchTicket>.Closed) {
    sender.slices.storing += 1
    let partition = batch(of: closed).partition
    background { [sender, worker] in
      let stored = await worker.leaseKeeper.untilStored(partition) { (lease) throws(StoreError) in
        try await self.store.queue.storeSlice(lease, closed.slice)
      }
      self.sender.slices.storing -= 1
      guard stored else {
        for ticket in closed.members {
          worker.memberSettler.abandon(worker.laneKeeper.inFlightMembers.end(ticket.tag), sender)
        }
        return
      }
      self.ready.append(closed)
      worker.turns.wake(sender)
    }
  }

  private func batch(of closed: SlicePlan<BatchTicket>.Closed) -> DeliveryBatch {
    worker.laneKeeper.inFlightMembers.batch(of: closed.members[0].tag)
  }

  /// Sends the first slice of members; false: it has to look for its turn among the others.
  func sendNext(_ pass: Sender.Pass) -> Bool {
    guard let closed = ready.popFirst() else { return false }
    let first = batch(of: closed)
    guard first.partition.mayWork, worker.leaseKeeper.holdsLease(first.partition, now: pass.now),
      !first.message.isStopped,
      first.message.startBy >= pass.wall, !pass.probe,
      case .success(let rendering) = first.message.rendering(sender.account, 0, for: nil)
    else {
      sender.slices.ready.append(withDeliveries(closed))
      return false
    }
    let recipients = begin(closed.members, pass)
    let request = sender.account.request(rendering, to: recipients, id: closed.slice.key, authorization: pass.header)
    sender.metrics.firstAttempts(closed.members.count, after: pass.wall - first.message.startedAt)
    sender.metrics.began()
    let inFlight = InFlightRequest(
      [], recipients: recipients, slice: closed.slice, members: closed.members, connectionSlot: pass.connectionSlot,
      pass)
    sender.deliveries.begin(request, inFlight)
    return true
  }

  /// Where they go. Their batches have begun.
  private func begin(_ members: [BatchTicket], _ pass: Sender.Pass) -> [Address] {
    let worker = self.worker
    var recipients: [Address] = []
    recipients.reserveCapacity(members.count)
    var current: (batch: DeliveryBatch, address: Address)?
    for ticket in members {
      let batch = worker.laneKeeper.inFlightMembers.batch(of: ticket.tag)
      if current?.batch !== batch {
        if batch.firstAttempt == nil { batch.firstAttempt = pass.wall }
        current = (batch, batch.commonAddress)
      }
      current!.address.token = ticket.token
      recipients.append(current!.address)
    }
    return recipients
  }

  /// All members were accepted. The first ends as a delivery: what the provider calls the slice is kept with it.
  func conclude(_ inFlight: InFlightRequest, _ verdict: Verdict, status: Int) {
    let worker = self.worker
    let members = inFlight.members
    var run = MemberSettler.Run()
    for ticket in members.dropFirst() {
      worker.memberSettler.accepted(worker.laneKeeper.inFlightMembers.end(ticket.tag), &run, sender)
      if sender.brake.alive(began: inFlight.began, ahead: sender.ahead) { worker.pruner.settleUnproven(of: sender) }
    }
    worker.memberSettler.close(&run, sender)
    let first = delivery(of: members[0])
    first.slice = inFlight.slice
    first.record(verdict, counts: true, status: status, at: inFlight.at)
    worker.settler.end(first, .accepted, reason: nil, verdict: verdict)
    worker.turns.wake(sender)
  }

  /// The same request as one of deliveries.
  func withDeliveries(_ inFlight: InFlightRequest) -> InFlightRequest {
    guard !inFlight.members.isEmpty else { return inFlight }
    return InFlightRequest(inFlight, inFlight.members.map(delivery), of: inFlight.slice)
  }

  private func withDeliveries(_ closed: SlicePlan<BatchTicket>.Closed) -> SlicePlan<Delivery>.Closed {
    let members = closed.members.map(delivery)
    for delivery in members { delivery.slice = closed.slice }
    return .init(slice: closed.slice, members: members, stored: true)
  }

  private func delivery(of ticket: BatchTicket) -> Delivery {
    worker.memberSettler.slowPathRequest(worker.laneKeeper.inFlightMembers.end(ticket.tag), sender).deliveries[0]
  }

  /// Takes out members of slices that are not at work, as deliveries; whole slices where they are stored.
  func take(where condition: (DeliveryBatch) -> Bool) -> [Delivery] {
    var taken = plan.remove { condition(worker.laneKeeper.inFlightMembers.batch(of: $0.tag)) }.map(delivery)
    guard !ready.isEmpty else { return taken }
    for closed in ready.takeAll() {
      if condition(batch(of: closed)) { taken += withDeliveries(closed).members } else { ready.append(closed) }
    }
    return taken
  }
}
