import Domain
import Loop
import Store

/// A member of an audience in a slice without a parcel of its own: its flight is named by `tag`.
struct MemberTicket {
  var tag: Int
  /// The rest of its address is what its batch has in common.
  var token: String
}

/// Members of audiences whose provider takes many recipients in a request: from the batch into slices without a parcel each.
/// Such a slice is stored before its first attempt like any other. If it is not accepted as a whole, or its message may not
/// go, its members become parcels of that slice.
extension Sender {
  /// Moves members of batches into slices, until enough of them stand ready.
  func gatherMembers() {
    let now = worker.loop.now
    let wall = worker.loop.wallNow
    let enough = 2 * carrier.streams
    while worker.mayOpen, let batch = batches.first,
      closedMembers.count + closedSlices.count + storingSlices < enough
    {
      if !worker.holdsLease(batch.partition, now: now) {
        _ = batches.popFirst()
        batch.partition.parkedBatches.append((self, batch))
      } else if batch.mayStop(now: wall), worker.stop(batch, self, now: wall) {
        _ = batches.popFirst()
      } else {
        gather(batch, now: now, wall: wall)
        if batch.waiting == 0 { _ = batches.popFirst() }
      }
    }
    if !memberSlices.isEmpty { armSliceTimer(now: now) }
  }

  /// As many as fit one request. Those of another route or class than the first go the long way.
  private func gather(_ batch: MemberBatch, now: Instant, wall: WallTime) {
    let worker = self.worker
    let account = self.account
    var taken: [(index: Int, ticket: MemberTicket)] = []
    taken.reserveCapacity(min(batch.waiting, account.recipientLimit))
    while batch.waiting > 0, taken.count < account.recipientLimit {
      let place = batch.takeNext()
      guard let (token, hash) = short(place, of: batch, account, worker) else {
        worker.takeLongWay(place, of: batch, self)
        continue
      }
      let tag = worker.memberFlights.begin(
        .init(batch: batch, place: place, hash: hash, began: now, at: wall, berth: 0, generation: generation, lane: nil)
      )
      taken.append((batch.members.index(at: place), MemberTicket(tag: tag, token: token)))
    }
    guard !taken.isEmpty, let like = batch.like else { return }
    let closed = memberSlices.add(
      taken, of: batch.message.id, partition: batch.partition.number, recipientClass: like.recipientClass, now: now)
    for slice in closed { store(slice) }
  }

  /// Nil: it has to go the long way.
  private func short(_ place: Int, of batch: MemberBatch, _ account: any ProviderAccount, _ worker: Worker) -> (
    token: String, hash: UInt64
  )? {
    let member = batch.members.member(at: place)
    guard member.token(into: &token) else { return nil }
    let hash = TokenTable.hash(token, owner: batch.owner)
    guard worker.memberFlights.tokens.flight(hash) == nil, !worker.lanes.has(hash) else { return nil }
    if batch.like == nil {
      guard let address = member.address else { return nil }
      batch.like = .init(route: member.route, address: address, recipientClass: account.recipientClass(of: address))
    }
    let text = String(decoding: token, as: UTF8.self)
    return batch.isLike(member, token: text, account) ? (text, hash) : nil
  }

  func store(_ closed: SlicePlan<MemberTicket>.Closed) {
    storingSlices += 1
    let partition = batch(of: closed).partition
    worker.background { [worker] in
      let stored = await worker.untilStored(partition) { (lease) throws(StoreError) in
        try await worker.store.storeSlice(lease, closed.slice)
      }
      self.storingSlices -= 1
      guard stored else {
        for ticket in closed.members { worker.abandon(worker.memberFlights.end(ticket.tag), self) }
        return
      }
      self.closedMembers.append(closed)
      worker.wake(self)
    }
  }

  private func batch(of closed: SlicePlan<MemberTicket>.Closed) -> MemberBatch {
    worker.memberFlights.batch(of: closed.members[0].tag)
  }

  /// Sends the first slice of members; false: it has to look for its turn among the others.
  func sendMemberSlice(_ pass: Pass) -> Bool {
    guard let closed = closedMembers.popFirst() else { return false }
    let first = batch(of: closed)
    guard first.partition.mayWork, worker.holdsLease(first.partition, now: pass.now), !first.message.isStopped,
      first.message.startBy >= pass.wall, !pass.probe,
      case .success(let rendering) = first.message.rendering(account, 0, for: nil)
    else {
      closedSlices.append(parcelled(closed))
      return false
    }
    let recipients = begin(closed.members, pass)
    let request = account.request(rendering, to: recipients, id: closed.slice.key, authorization: pass.header)
    metrics.firstAttempts(closed.members.count, after: pass.wall - first.message.startedAt)
    metrics.began()
    let flight = Flight(
      [], recipients: recipients, slice: closed.slice, members: closed.members, berth: pass.berth, pass)
    carrier.send(request, tag: flights.begin(flight), berth: pass.berth)
    return true
  }

  /// Where they go. Their batches have begun.
  private func begin(_ members: [MemberTicket], _ pass: Pass) -> [Address] {
    let worker = self.worker
    var recipients: [Address] = []
    recipients.reserveCapacity(members.count)
    var current: (batch: MemberBatch, address: Address)?
    for ticket in members {
      let batch = worker.memberFlights.batch(of: ticket.tag)
      if current?.batch !== batch {
        if batch.firstAttempt == nil { batch.firstAttempt = pass.wall }
        current = (batch, batch.commonAddress)
      }
      current!.address.token = ticket.token
      recipients.append(current!.address)
    }
    return recipients
  }

  /// All members were accepted. The first ends as a parcel: what the provider calls the slice is kept with it.
  func concludeMembers(_ flight: Flight, _ verdict: Verdict, status: Int) {
    let worker = self.worker
    let members = flight.members
    var run = Worker.Run()
    for ticket in members.dropFirst() {
      worker.accepted(worker.memberFlights.end(ticket.tag), &run, self)
      if brake.alive(began: flight.began, ahead: ahead) { worker.settleUnproven(of: self) }
    }
    worker.close(&run, self)
    let first = parcel(of: members[0])
    first.slice = flight.slice
    first.record(verdict, counts: true, status: status, at: flight.at)
    worker.end(first, .accepted, reason: nil, verdict: verdict)
    worker.wake(self)
  }

  /// The same request as one of parcels.
  func parcelled(_ flight: Flight) -> Flight {
    guard !flight.members.isEmpty else { return flight }
    return Flight(flight, flight.members.map(parcel), of: flight.slice)
  }

  private func parcelled(_ closed: SlicePlan<MemberTicket>.Closed) -> SlicePlan<Parcel>.Closed {
    let members = closed.members.map(parcel)
    for parcel in members { parcel.slice = closed.slice }
    return .init(slice: closed.slice, members: members, stored: true)
  }

  private func parcel(of ticket: MemberTicket) -> Parcel {
    worker.longFlight(worker.memberFlights.end(ticket.tag), self).parcels[0]
  }

  /// Takes out members of slices that are not at work, as parcels; whole slices where they are stored.
  func takeMemberSlices(where condition: (MemberBatch) -> Bool) -> [Parcel] {
    var taken = memberSlices.remove { condition(worker.memberFlights.batch(of: $0.tag)) }.map(parcel)
    guard !closedMembers.isEmpty else { return taken }
    for closed in closedMembers.takeAll() {
      if condition(batch(of: closed)) { taken += parcelled(closed).members } else { closedMembers.append(closed) }
    }
    return taken
  }
}
