import Domain
import HTTP2
import Loop
import Store

/// Members of audiences on the fast path: request by request from the batch, and acceptances back in groups.
extension Sender {
  func enqueue(_ batch: DeliveryBatch) {
    batches.append(batch)
    worker.turns.wake(self)
  }

  /// The account can send members of this message without a delivery each.
  func takesMembers(of message: LoadedMessage) -> Bool {
    gathersSlices ? !message.isPersonal && message.timing == nil : transport.takesPrepared
  }

  /// Sends at most `limit` members of the first batch; how many left it, at least one.
  func sendMembers(_ pass: Pass, limit: Int) -> Int {
    guard let batch = batches.first else { return 1 }
    let worker = self.worker
    let before = batch.waiting
    if !worker.leaseKeeper.holdsLease(batch.partition, now: pass.now) {
      _ = batches.popFirst()
      batch.partition.parkedBatches.append((self, batch))
      return 1
    }
    if batch.mayStop(now: pass.wall), worker.memberSettler.stop(batch, self, now: pass.wall) {
      _ = batches.popFirst()
      return 1
    }
    let room = min(
      limit, transport.room(at: pass.connectionSlot, reserve: Self.reserve),
      self.limit.room(atWork: occupied, reserve: Self.reserve), window.room(atWork: occupied))
    var sent = 0
    while sent < room, batch.waiting > 0 {
      let place = batch.takeNext()
      if push(place, of: batch, pass, worker) {
        sent += 1
      } else {
        worker.admission.takeSlowPath(place, of: batch, self)
      }
    }
    if sent > 0 {
      context.ledger.started(sent, by: usage)
      if batch.firstAttempt == nil { batch.firstAttempt = pass.wall }
      metrics.began(sent, firstAfter: pass.wall - batch.message.startedAt)
    }
    if batch.waiting == 0 { _ = batches.popFirst() }
    return max(1, before - batch.waiting)
  }

  /// False: it has to take the slow path.
  private func push(_ place: Int, of batch: DeliveryBatch, _ pass: Pass, _ worker: Worker) -> Bool {
    let member = batch.members.member(at: place)
    guard member.token(into: &token), PushFrame.takes(token: token) else { return false }
    let hash = TokenTable.hash(token, owner: batch.owner)
    guard worker.laneKeeper.inFlightMembers.tokens.inFlight(hash) == nil, !worker.laneKeeper.lanes.has(hash) else {
      return false
    }
    guard let (push, body) = request(member, of: batch, pass) else { return false }
    let id = batch.members.id(at: place).requestID
    let tag = worker.laneKeeper.inFlightMembers.begin(
      .init(
        batch: batch, place: place, hash: hash, began: pass.now, at: pass.wall, connectionSlot: pass.connectionSlot,
        generation: pass.generation, lane: nil))
    transport.push(push, token: token, id: id, body: body, tag: tag, connectionSlot: pass.connectionSlot)
    return true
  }

  private func request(_ member: ClaimedMembers.Member, of batch: DeliveryBatch, _ pass: Pass)
    -> (PreparedPush, [UInt8])?
  {
    if let prepared = batch.prepared, member.isOn(prepared.route), prepared.generation == pass.generation,
      prepared.header == pass.header
    {
      guard batch.message.isPersonal else { return (prepared.push, account.body(prepared.rendering, token: token)) }
      guard let facts = member.facts, case .success(let own) = batch.message.rendering(account, 0, for: facts),
        own.path == prepared.rendering.path, own.headers == prepared.rendering.headers,
        own.mark == prepared.rendering.mark
      else { return nil }
      return (prepared.push, account.body(own, token: token))
    }
    guard let address = member.address, let facts = member.facts,
      case .success(let rendering) = batch.message.rendering(account, 0, for: facts),
      let frame = account.frame(rendering, like: address, authorization: pass.header),
      let push = transport.prepare(frame)
    else { return nil }
    batch.prepared = .init(
      push: push, rendering: rendering, route: member.route, header: pass.header, generation: pass.generation)
    return (push, account.body(rendering, token: token))
  }

  /// The next member takes the slow path, before the others.
  func takeOneOut(of batch: DeliveryBatch) {
    let place = batch.takeNext()
    if batch.waiting == 0 { _ = batches.popFirst() }
    batchesTurn = true
    worker.admission.takeSlowPath(place, of: batch, self)
  }

  /// Takes out batches that meet the condition.
  func takeBatches(where condition: (DeliveryBatch) -> Bool) -> [DeliveryBatch] {
    guard !batches.isEmpty else { return [] }
    var taken: [DeliveryBatch] = []
    for batch in batches.takeAll() { if condition(batch) { taken.append(batch) } else { batches.append(batch) } }
    return taken
  }

  // MARK: Answers

  func succeeded(_ answers: [(tag: UInt64, body: [UInt8])]) {
    let worker = self.worker
    let ledger = context.ledger
    let now = context.loop.now
    let account = self.account
    var accepted = 0
    var run = MemberSettler.Run()
    for (tag, body) in answers {
      guard account.isAcceptance(status: 200, body: body) else {
        answered(Int(tag), ProviderAnswer(status: 200, body: body))
        continue
      }
      let inFlight = worker.laneKeeper.inFlightMembers.end(Int(tag))
      accepted += 1
      if !unproven.isEmpty, let device = inFlight.batch.members.target(at: inFlight.place, wholly: false)?.device {
        unproven.reached(device)
      }
      let seconds = Double(now.nanoseconds - inFlight.began.nanoseconds) / 1e9
      metrics.answered(seconds: seconds)
      if inFlight.generation == generation {
        let heeds = gate.heedsAcceptance || !streak.isEmpty
        streak.taken(now: now)
        if heeds {
          tell(gate.answered(.accepted(id: nil), began: inFlight.began, probe: false, now: now, jitter: 0))
        } else {
          gate.serves(now: now)
        }
        self.limit.answered(
          .accepted(id: nil), took: seconds * 1000, began: inFlight.began, atWork: occupied,
          capacity: transport.streams,
          now: now)
        window.answered(
          took: seconds * 1000, began: inFlight.began, atWork: occupied, capacity: transport.streams, now: now)
        isTaken()
      }
      ledger.answered(by: usage)
      worker.memberSettler.accepted(inFlight, &run, self)
      if brake.alive(began: inFlight.began, ahead: ahead) { worker.pruner.settleUnproven(of: self) }
    }
    worker.memberSettler.close(&run, self)
    guard accepted > 0 else { return }
    metrics.accepted(accepted)
    worker.turns.wake(self)
  }

  /// A request in flight of a member that was not simply accepted, as any other.
  func endRequest(_ tag: Int) -> InFlightRequest {
    guard InFlightMembers.isOne(tag) else {
      let inFlight = inFlightRequests.end(tag)
      context.ledger.answered(isAside: inFlight.isAside, by: usage)
      return inFlight
    }
    context.ledger.answered(by: usage)
    return worker.memberSettler.slowPathRequest(worker.laneKeeper.inFlightMembers.end(tag), self)
  }
}
