import Domain
import Loop
import Store

/// Requests for many recipients (design D17): gathered, stored before their first attempt, sent again unchanged.
///
/// Members of audiences go into slices of their own, without a delivery each. If such a slice is not accepted as a
/// whole, or its message may not go, its members become deliveries of that slice.
final class SliceSender: SenderPart {
  private(set) var plan: SlicePlan<SliceTicket>
  /// Slices that may go: they are stored. Deliveries in them count as at work in their lanes.
  var ready = ReadySlices()
  /// Slices that are being stored.
  private(set) var storing = 0
  private var timer: (timer: Timer, due: Instant)?
  /// The token of the member at hand.
  private var token: [UInt8] = []

  override init(_ sender: Sender) {
    plan = SlicePlan(limit: sender.account.recipientLimit, settings: sender.context.settings.slice)
    super.init(sender)
  }

  /// The account is another one now.
  func renew() { plan.limit = sender.account.recipientLimit }

  // MARK: Gathering

  /// Moves what may start into slices, until enough of them stand ready.
  func gather() {
    let (now, wall) = (loop.now, loop.wallNow)
    let enough = 2 * sender.transport.streams
    gatherDeliveries(enough: enough, now: now, wall: wall)
    gatherMembers(enough: enough, now: now, wall: wall)
    if !plan.isEmpty { armTimer(now: now) }
  }

  private func gatherDeliveries(enough: Int, now: Instant, wall: WallTime) {
    while context.mayOpen, !sender.lanes.isEmpty {
      let isUrgent = !sender.lanes.urgent.isEmpty
      // Bulk that waits for its ramp is in no urgent slice's way.
      let count = isUrgent ? ready.urgent.count : ready.count
      guard count + storing < enough else { break }
      guard let delivery = sender.requests.takeNext(urgent: isUrgent, now: now, wall: wall) else { continue }
      if let slice = delivery.slice {
        if let slice = plan.add(.delivery(delivery), delivery.id, of: slice, now: now) { ready.append(slice) }
      } else {
        let recipientClass = "\(sender.account.recipientClass(of: delivery.address)) \(likeness(of: delivery))"
        let slice = plan.add(.delivery(delivery), delivery.id, recipientClass: recipientClass, now: now)
        if let slice { store(slice) }
      }
    }
  }

  /// What the members of a slice must have in common.
  func likeness(of delivery: Delivery) -> String {
    delivery.message.likeness(sender.account, delivery.content, for: delivery.target.facts)
  }

  private func gatherMembers(enough: Int, now: Instant, wall: WallTime) {
    let sender = self.sender
    while context.mayOpen, let batch = sender.batches.first(.members)?.asMembers, ready.count + storing < enough {
      if !worker.leaseKeeper.holdsLease(batch.partition, now: now) {
        sender.batches.remove(batch, .members)
        batch.partition.parkedBatches.append(batch)
      } else if batch.mayStop(now: wall), worker.batchSettler.stop(batch, now: wall) {
        sender.batches.remove(batch, .members)
      } else {
        gather(batch, now: now, wall: wall)
        if batch.waiting == 0 { sender.batches.remove(batch, .members) }
      }
    }
  }

  /// As many as fit one request. Those of another route or class than the first take the slow path.
  private func gather(_ batch: MemberBatch, now: Instant, wall: WallTime) {
    let (sender, worker) = (self.sender, self.worker)
    let account = sender.account
    var taken: [(index: Int, ticket: SliceTicket)] = []
    taken.reserveCapacity(min(batch.waiting, account.recipientLimit))
    while batch.waiting > 0, taken.count < account.recipientLimit {
      let place = batch.takeNext()
      guard let (token, hash) = short(place, of: batch, account, worker) else {
        worker.admission.takeSlowPath(place, of: batch)
        continue
      }
      let tag = worker.laneKeeper.index.begin(
        .init(
          batch: batch, place: place, hash: hash, began: now, at: wall, connectionSlot: 0,
          generation: sender.generation))
      taken.append((batch.members.index(at: place), .member(BatchTicket(tag: tag, token: token))))
    }
    guard !taken.isEmpty, let like = batch.like else { return }
    let slices = plan.add(
      taken, of: batch.message.id, partition: batch.partition.number, recipientClass: like.recipientClass, now: now)
    for slice in slices { store(slice) }
  }

  /// Nil: it has to take the slow path.
  private func short(_ place: Int, of batch: MemberBatch, _ account: any ProviderAccount, _ worker: Worker) -> (
    token: String, hash: UInt64
  )? {
    let member = batch.members.member(at: place)
    guard member.token(into: &token) else { return nil }
    let hash = TokenTable.hash(token, owner: batch.owner)
    guard worker.laneKeeper.index.tokens.number(hash) == nil, !worker.laneKeeper.lanes.has(hash) else { return nil }
    if batch.like == nil {
      guard let address = member.address else { return nil }
      batch.like = .init(route: member.route, address: address, recipientClass: account.recipientClass(of: address))
    }
    let text = String(decoding: token, as: UTF8.self)
    return batch.isLike(member, token: text, account) ? (text, hash) : nil
  }

  /// A member of a stored slice whose device is gone.
  func absent(from stored: StoredSlice) {
    guard let slice = plan.absent(from: stored, now: loop.now) else {
      return armTimer(now: loop.now)
    }
    ready.append(slice)
    worker.turns.wake(sender)
  }

  /// Takes out members of slices that are not at work, as deliveries; what meets the condition for one member of a
  /// slice that is ready does for all of it.
  func take(where condition: (Delivery) -> Bool, members: (DeliveryBatch) -> Bool) -> [Delivery] {
    guard !plan.isEmpty || !ready.isEmpty else { return [] }
    let laneKeeper = worker.laneKeeper
    func meets(_ ticket: SliceTicket) -> Bool {
      switch ticket {
      case .delivery(let delivery): condition(delivery)
      case .member(let member): members(laneKeeper.index.batch(of: member.tag))
      }
    }
    var taken = plan.remove(where: meets).map(delivery)
    guard !ready.isEmpty else { return taken }
    for slice in ready.takeAll() {
      if meets(slice.members[0]) { taken += withDeliveries(slice).deliveries } else { ready.append(slice) }
    }
    return taken
  }

  private func armTimer(now: Instant) {
    guard let due = plan.nextDue else { return }
    // What gathers now must not wait with a slice that waits for its members.
    if let armed = timer {
      guard due < armed.due else { return }
      loop.cancel(armed.timer)
    }
    let timer = loop.after(milliseconds: max(0, due - now)) { [weak self] in
      guard let self else { return }
      self.timer = nil
      let now = loop.now
      for slice in plan.due(now: now) {
        if !slice.stored {
          store(slice)
        } else if slice.missing == 0 {
          ready.append(slice)
        } else {
          settle(slice)
        }
      }
      armTimer(now: now)
      worker.turns.wake(sender)
    }
    self.timer = (timer, due)
  }

  // MARK: Storing

  /// Stores a new slice; it may be sent when that is done.
  func store(_ slice: GatheredSlice) {
    storing += 1
    let partition = partition(of: slice)
    background { [sender, worker] in
      let isStored = await worker.leaseKeeper.untilStored(partition) { (lease) throws(StoreError) in
        try await self.store.queue.storeSlice(lease, slice.slice)
      }
      self.storing -= 1
      guard isStored else { return self.abandon(slice) }
      for case .delivery(let delivery) in slice.members { delivery.slice = slice.slice }
      var slice = slice
      slice.stored = true
      self.ready.append(slice)
      worker.turns.wake(sender)
    }
  }

  /// Some members of a stored slice did not come back in time. If they have ended, the slice goes again as it is. If
  /// not, they are late: then those at hand go under a new key, so that no late one is taken for having been sent.
  private func settle(_ slice: GatheredSlice) {
    storing += 1
    background { [sender, worker] in
      let deliveries = slice.deliveries
      var unfinished: Set<Int> = []
      let known = await worker.leaseKeeper.untilStored(deliveries[0].partition) { (_) throws(StoreError) in
        unfinished = try await self.store.queue.unfinishedMembers(of: slice.slice)
      }
      self.storing -= 1
      guard known else { return worker.settler.abandon(deliveries) }
      let absent = slice.slice.members.count - deliveries.count - slice.missing
      if unfinished.subtracting(deliveries.map(\.id.index)).count > absent {
        self.revise(slice.slice, to: deliveries)
      } else {
        self.ready.append(slice)
        worker.turns.wake(sender)
      }
    }
  }

  /// The same slice without the members refused by name or late, under a new key.
  func revise(_ slice: StoredSlice, to deliveries: [Delivery]) {
    var slice = slice
    slice.revision += 1
    slice.members = deliveries.map(\.id.index)
    store(GatheredSlice(slice, deliveries, stored: false))
  }

  private func abandon(_ slice: GatheredSlice) {
    worker.settler.abandon(slice.deliveries)
    for case .member(let member) in slice.members {
      worker.batchSettler.abandon(worker.laneKeeper.index.end(member.tag))
    }
  }

  // MARK: Members of audiences

  func partition(of slice: GatheredSlice) -> Partition {
    switch slice.members[0] {
    case .delivery(let delivery): delivery.partition
    case .member(let member): worker.laneKeeper.index.batch(of: member.tag).partition
    }
  }

  func delivery(of ticket: SliceTicket) -> Delivery {
    switch ticket {
    case .delivery(let delivery): delivery
    case .member(let member):
      worker.batchSettler.slowPathRequest(worker.laneKeeper.index.end(member.tag)).deliveries[0]
    }
  }

  /// The same slice as one of deliveries.
  func withDeliveries(_ slice: GatheredSlice) -> GatheredSlice {
    guard case .member = slice.members[0] else { return slice }
    let deliveries = slice.members.map(delivery)
    for delivery in deliveries { delivery.slice = slice.slice }
    return GatheredSlice(slice.slice, deliveries)
  }
}
