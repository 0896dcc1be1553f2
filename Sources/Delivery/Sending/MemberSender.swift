import Domain
import HTTP2
import Loop
import Store

/// Sends members of audiences on the fast path: request by request from the batch, and acceptances back in groups.
final class MemberSender: SenderPart {
  var batches = FIFO<DeliveryBatch>()
  /// The token of the request that is being made.
  private var token: [UInt8] = []

  func enqueue(_ batch: DeliveryBatch) {
    batches.append(batch)
    worker.turns.wake(sender)
  }

  /// The account can send members of this message without a delivery each.
  func takes(_ message: LoadedMessage) -> Bool {
    sender.gathersSlices ? !message.isPersonal && message.timing == nil : sender.transport.takesPrepared
  }

  /// Sends at most `most` members of the first batch; how many left it, at least one.
  func send(_ pass: Sender.Pass, most: Int) -> Int {
    guard let batch = batches.first else { return 1 }
    let (sender, worker) = (self.sender, self.worker)
    let before = batch.waiting
    if !worker.leaseKeeper.holdsLease(batch.partition, now: pass.now) {
      _ = batches.popFirst()
      batch.partition.parkedBatches.append((sender, batch))
      return 1
    }
    if batch.mayStop(now: pass.wall), worker.memberSettler.stop(batch, sender, now: pass.wall) {
      _ = batches.popFirst()
      return 1
    }
    let (limits, occupied) = (sender.limits, sender.limits.occupied)
    let room = min(
      most, sender.transport.room(at: pass.connectionSlot, reserve: Sender.reserve),
      limits.limit.room(atWork: occupied, reserve: Sender.reserve), limits.window.room(atWork: occupied))
    let laneKeeper = worker.laneKeeper
    var sent = 0
    while sent < room, batch.waiting > 0 {
      let place = batch.takeNext()
      if push(place, of: batch, pass, sender, laneKeeper) {
        sent += 1
      } else {
        worker.admission.takeSlowPath(place, of: batch, sender)
      }
    }
    if sent > 0 {
      ledger.started(sent, by: usage)
      if batch.firstAttempt == nil { batch.firstAttempt = pass.wall }
      sender.metrics.began(sent, firstAfter: pass.wall - batch.message.startedAt)
    }
    if batch.waiting == 0 { _ = batches.popFirst() }
    return max(1, before - batch.waiting)
  }

  /// False: it has to take the slow path.
  private func push(
    _ place: Int, of batch: DeliveryBatch, _ pass: Sender.Pass, _ sender: Sender, _ laneKeeper: LaneKeeper
  ) -> Bool {
    let member = batch.members.member(at: place)
    guard member.token(into: &token), PushFrame.takes(token: token) else { return false }
    let hash = TokenTable.hash(token, owner: batch.owner)
    guard laneKeeper.inFlightMembers.tokens.inFlight(hash) == nil, !laneKeeper.lanes.has(hash) else { return false }
    guard let (push, body) = request(member, of: batch, pass, sender) else { return false }
    let id = batch.members.id(at: place).requestID
    let tag = laneKeeper.inFlightMembers.begin(
      .init(
        batch: batch, place: place, hash: hash, began: pass.now, at: pass.wall, connectionSlot: pass.connectionSlot,
        generation: pass.generation, lane: nil))
    sender.transport.push(push, token: token, id: id, body: body, tag: tag, connectionSlot: pass.connectionSlot)
    return true
  }

  private func request(_ member: ClaimedMembers.Member, of batch: DeliveryBatch, _ pass: Sender.Pass, _ sender: Sender)
    -> (PreparedPush, [UInt8])?
  {
    let account = sender.account
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
      let push = sender.transport.prepare(frame)
    else { return nil }
    batch.prepared = .init(
      push: push, rendering: rendering, route: member.route, header: pass.header, generation: pass.generation)
    return (push, account.body(rendering, token: token))
  }

  /// The next member takes the slow path, before the others.
  func takeOneOut(of batch: DeliveryBatch) {
    let place = batch.takeNext()
    if batch.waiting == 0 { _ = batches.popFirst() }
    sender.batchesTurn = true
    worker.admission.takeSlowPath(place, of: batch, sender)
  }

  /// Takes out batches that meet the condition.
  func take(where condition: (DeliveryBatch) -> Bool) -> [DeliveryBatch] {
    guard !batches.isEmpty else { return [] }
    var taken: [DeliveryBatch] = []
    for batch in batches.takeAll() { if condition(batch) { taken.append(batch) } else { batches.append(batch) } }
    return taken
  }

  // MARK: Answers

  /// Prepared requests were answered 200.
  func succeeded(_ answers: [(tag: UInt64, body: [UInt8])]) {
    let (sender, worker, ledger) = (self.sender, self.worker, self.ledger)
    let (status, limits) = (sender.status, sender.limits)
    let (laneKeeper, settler) = (worker.laneKeeper, worker.memberSettler)
    let (account, transport) = (sender.account, sender.transport)
    let now = loop.now
    var accepted = 0
    var run = MemberSettler.Run()
    for (tag, body) in answers {
      guard account.isAcceptance(status: 200, body: body) else {
        sender.judge.answered(Int(tag), ProviderAnswer(status: 200, body: body))
        continue
      }
      let inFlight = laneKeeper.inFlightMembers.end(Int(tag))
      accepted += 1
      if !sender.unproven.isEmpty, let device = inFlight.batch.members.target(at: inFlight.place, wholly: false)?.device
      {
        sender.unproven.reached(device)
      }
      let seconds = Double(now.nanoseconds - inFlight.began.nanoseconds) / 1e9
      sender.metrics.answered(seconds: seconds)
      if inFlight.generation == sender.generation {
        status.memberAccepted(began: inFlight.began, now: now)
        limits.memberAccepted(took: seconds * 1000, began: inFlight.began, transport, now: now)
        status.isTaken()
      }
      ledger.answered(by: usage)
      settler.accepted(inFlight, &run, sender)
      if sender.brake.alive(began: inFlight.began, ahead: sender.ahead) { worker.pruner.settleUnproven(of: sender) }
    }
    settler.close(&run, sender)
    guard accepted > 0 else { return }
    sender.metrics.accepted(accepted)
    worker.turns.wake(sender)
  }
}
