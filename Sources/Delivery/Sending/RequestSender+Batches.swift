import Domain
import HTTP2
import Loop
import Store

/// Rows of batches: sent from the front of their batch, and accepted in groups.
extension RequestSender {
  func enqueue(_ batch: DeliveryBatch) {
    guard batch.waiting > 0 else { return }
    if batch.urgency == .urgent { sender.limits.window.urgentCame(now: loop.now) }
    sender.batches.append(batch)
    worker.turns.wake(sender)
  }

  /// The account can send rows of this message without a delivery each.
  func takes(_ message: LoadedMessage) -> Bool {
    guard sender.gathersSlices else { return true }
    return message.isAudience && !message.isPersonal && message.timing == nil
  }

  /// Sends at most `most` rows of batches of this kind; how many left them, at least one.
  func send(_ kind: ReadyBatches.Kind, _ pass: Sender.Pass, most: Int) -> Int {
    let limits = sender.limits
    let occupied = limits.occupied
    let reserve = kind == .urgent ? 0 : Sender.reserve
    var room = min(
      pass.takesYoungest ? 1 : most, sender.transport.room(at: pass.connectionSlot, reserve: reserve),
      limits.limit.room(atWork: occupied, reserve: reserve))
    if kind != .urgent { room = min(room, limits.window.room(atWork: occupied)) }
    var gone = 0
    while room > 0, gone < most,
      let batch = pass.takesYoungest ? sender.batches.last(kind) : sender.batches.first(kind)
    {
      guard mayGo(batch, kind, pass) else {
        gone += 1
        continue
      }
      let before = batch.waiting
      room -= send(batch, pass, most: room)
      gone += before - batch.waiting
      if batch.waiting == 0 { sender.batches.remove(batch, kind) }
    }
    return max(1, gone)
  }

  /// How many of its rows went.
  private func send(_ batch: DeliveryBatch, _ pass: Sender.Pass, most: Int) -> Int {
    let (sender, worker) = (self.sender, self.worker)
    let laneKeeper = worker.laneKeeper
    var sent = 0
    while sent < most, batch.waiting > 0 {
      let place = pass.takesYoungest ? batch.takeLast() : batch.takeNext()
      if push(place, of: batch, pass, sender, laneKeeper) { sent += 1 } else { giveUp(place, of: batch) }
    }
    guard sent > 0 else { return 0 }
    if batch.firstAttempt == nil { batch.firstAttempt = pass.wall }
    ledger.started(sent, by: usage)
    sender.metrics.began(sent, firstAfter: pass.wall - batch.message.startedAt)
    return sent
  }

  /// False: the batch has left the queue.
  private func mayGo(_ batch: DeliveryBatch, _ kind: ReadyBatches.Kind, _ pass: Sender.Pass) -> Bool {
    guard batch.waiting > 0 else {
      sender.batches.remove(batch, kind)
      return false
    }
    guard worker.leaseKeeper.holdsLease(batch.partition, now: pass.now) else {
      sender.batches.remove(batch, kind)
      batch.partition.parkedBatches.append(batch)
      batch.isQueued = true
      return false
    }
    guard batch.mayStop(now: pass.wall), worker.batchSettler.stop(batch, now: pass.wall) else { return true }
    sender.batches.remove(batch, kind)
    return false
  }

  /// False: it has to take the slow path.
  private func push(
    _ place: Int, of batch: DeliveryBatch, _ pass: Sender.Pass, _ sender: Sender, _ laneKeeper: LaneKeeper
  ) -> Bool {
    guard batch.token(at: place, into: &token) else { return false }
    var hash: UInt64 = 0
    if !batch.isDirect {
      hash = TokenTable.hash(token, owner: batch.owner)
      guard laneKeeper.index.tokens.number(hash) == nil, !laneKeeper.lanes.has(hash) else { return false }
    }
    let id = batch.id(at: place).requestID
    guard let request = request(place, of: batch, id, pass, sender) else { return false }
    let tag: Int
    if let direct = batch.asDirect {
      // It has stood in the index since it came: nobody else has its token.
      tag = laneKeeper.index.start(direct.number(at: place), pass)
    } else {
      tag = laneKeeper.index.begin(
        .init(
          batch: batch, place: place, hash: hash, began: pass.now, at: pass.wall, connectionSlot: pass.connectionSlot,
          generation: pass.generation))
    }
    switch request {
    case .framed(let push, let body):
      sender.transport.push(push, token: token, id: id, body: body, tag: tag, connectionSlot: pass.connectionSlot)
    case .whole(let request): hand(request, tag: tag, connectionSlot: pass.connectionSlot)
    }
    return true
  }

  private enum Request {
    case framed(PreparedPush, body: [UInt8])
    case whole(ProviderRequest)
  }

  /// Nil: nothing can be sent to it, or what it gets cannot be told here.
  private func request(_ place: Int, of batch: DeliveryBatch, _ id: UUIDBytes, _ pass: Sender.Pass, _ sender: Sender)
    -> Request?
  {
    let account = sender.account
    let isFramed = PushFrame.takes(token: token)
    if isFramed, let prepared = batch.prepared, prepared.isOf(pass), batch.isAlike(place, prepared) {
      guard batch.message.isPersonal else {
        return .framed(prepared.push, body: account.body(prepared.rendering, token: token))
      }
      guard case .success(let own)? = batch.rendering(at: place, account) else { return nil }
      if prepared.carries(own) { return .framed(prepared.push, body: account.body(own, token: token)) }
    }
    guard let address = batch.address(at: place), case .success(let rendering)? = batch.rendering(at: place, account),
      !rendering.needsLiveActivityToken
    else { return nil }
    if isFramed, let prepared = frames.prepare(rendering, like: address, route: batch.route(at: place), pass) {
      batch.prepared = prepared
      return .framed(prepared.push, body: account.body(rendering, token: token))
    }
    return .whole(account.request(rendering, to: [address], id: id, authorization: pass.header))
  }

  /// The next row of these batches takes the slow path, before the others; or the youngest. False: none waits.
  func takeOneOut(_ kind: ReadyBatches.Kind, youngest: Bool) -> Bool {
    guard let batch = youngest ? sender.batches.last(kind) : sender.batches.first(kind), batch.waiting > 0 else {
      return false
    }
    sender.lanesAreNext()
    giveUp(youngest ? batch.takeLast() : batch.takeNext(), of: batch)
    return true
  }

  /// One that was taken for its turn takes the slow path.
  private func giveUp(_ place: Int, of batch: DeliveryBatch) {
    if let direct = batch.asDirect { _ = worker.laneKeeper.index.end(direct.number(at: place)) }
    worker.admission.takeSlowPath(place, of: batch)
  }

  // MARK: Answers

  /// Requests of rows were answered 200.
  func succeeded(_ answers: [(tag: UInt64, body: [UInt8])]) {
    let (sender, worker, ledger) = (self.sender, self.worker, self.ledger)
    let (status, limits) = (sender.status, sender.limits)
    let (laneKeeper, settler) = (worker.laneKeeper, worker.batchSettler)
    let (account, transport) = (sender.account, sender.transport)
    let now = loop.now
    var accepted = 0
    var late: Int?
    var run = BatchSettler.Run()
    for (tag, body) in answers {
      guard let receipt = account.acceptance(status: 200, body: body) else {
        sender.judge.answered(Int(tag), ProviderAnswer(status: 200, body: body))
        continue
      }
      let row = laneKeeper.index.end(Int(tag))
      accepted += 1
      let seconds = Double(now.nanoseconds - row.began.nanoseconds) / 1e9
      sender.metrics.answered(seconds: seconds)
      if row.generation == sender.generation {
        status.rowAccepted(began: row.began, now: now)
        limits.rowAccepted(took: seconds * 1000, began: row.began, transport, late: &late, now: now)
        status.isTaken()
      }
      ledger.answered(by: usage)
      if let direct = row.batch.asDirect {
        settler.accepted(row, of: direct, receipt)
      } else {
        settler.accepted(row, &run)
      }
      worker.pruner.alive(row, sender, began: row.began, now: now)
    }
    settler.close(&run)
    guard accepted > 0 else { return }
    sender.metrics.accepted(accepted)
    worker.turns.wake(sender)
  }
}
