import Domain
import Loop
import Store
import Telemetry

/// Prunes what is called dead, as far as the prune brakes let it; and what all workers share of the brakes.
final class Pruner: WorkerPart {
  /// The store has told which prune brakes are on.
  private(set) var knowsBrakes = false
  /// What this worker has added to the gauge of prunes that wait.
  private var waiting = 0

  /// A delivery was accepted, or its token called dead; nil: nothing is to be pruned. The store prunes only a
  /// registered device that still holds this token (design D13).
  func prune(_ delivery: Delivery, _ verdict: Verdict?) -> Flush.Prune? {
    let sender = delivery.sender
    let began = delivery.began ?? Instant(nanoseconds: 0)
    sender.lastVerdict = loop.now
    switch verdict {
    case .accepted:
      guard delivery.target.registered else { return nil }
      reached(delivery.target.device, by: delivery.message.id, began: began, sender)
      return nil
    case .dead(let death):
      if delivery.isOfEarlierAccount, death.isDoubtful { return nil }
      if delivery.target.registered, sender.brake.dead(began: began, ahead: sender.ahead) { tripped(sender) }
      var prune = Flush.Prune(
        app: delivery.message.app, device: delivery.target.device, token: death.token ?? delivery.address.token,
        reason: death.reason, since: death.since, at: loop.wallNow)
      prune.credential = sender.id
      prune.message = delivery.message.id
      prune.isHeld = sender.brake.isOn
      if prune.isHeld || (!death.isDoubtful && !sender.brake.isSuspicious) { return prune }
      sender.unproven.add(
        .init(prune: prune, partition: delivery.partition, began: began), isDoubtful: death.isDoubtful)
      if !sender.brake.isJudging { settleUnproven(of: sender) }
      countWaiting()
      return nil
    default: return nil
    }
  }

  /// A row of a batch was accepted at `now`, which a request that began at `began` asked for.
  func alive(_ row: LaneIndex.Row, _ sender: Sender, began: Instant, now: Instant) {
    sender.lastVerdict = now
    if let direct = row.batch.asDirect, !direct.targets[row.place].registered { return }
    reached(row.batch.target(at: row.place, wholly: false)?.device, by: row.batch.message.id, began: began, sender)
  }

  /// `device` is asked for only while prunes wait: of an audience it has to be read.
  private func reached(
    _ device: @autoclosure () -> DeviceID?, by message: MessageID, began: Instant, _ sender: Sender
  ) {
    var proves = true
    if !sender.unproven.isEmpty {
      if let device = device() { sender.unproven.reached(device) }
      proves = sender.unproven.isEmpty || sender.unproven.mayBeProven(by: message, now: loop.now)
    }
    if sender.brake.alive(began: began, ahead: sender.ahead, proves: proves) { settleUnproven(of: sender) }
  }

  /// Another worker owns the partition.
  func lost(_ partition: Partition) {
    for sender in worker.senders.values { sender.unproven.forget(partition) }
    countWaiting()
  }

  /// More is believed now, or the brake is on: what waits is carried out, or put aside.
  func settleUnproven(of sender: Sender) {
    guard !sender.unproven.isEmpty else { return }
    carryOut(sender.unproven.take(&sender.brake, now: loop.now), of: sender)
  }

  /// Decides what waits, as far as it can be, of credentials that have nothing more to send. A worker is often idle for a
  /// moment in the midst of a send: what is asked is whether any worker has a job of the credential.
  func concludeEnded() async throws(StoreError) {
    let ended = worker.senders.values.filter(isQuiet)
    guard !ended.isEmpty else { return }
    let busy = ended.contains { !$0.unproven.isEmpty } ? try await store.queue.credentials() : []
    for sender in ended where isQuiet(sender) && !busy.contains(sender.id) {
      let (entries, hasBraked) = sender.unproven.conclude(&sender.brake)
      if hasBraked { tripped(sender) }
      carryOut(entries, of: sender)
    }
  }

  /// No verdict for a moment, and none is to come of what this worker has in memory.
  private func isQuiet(_ sender: Sender) -> Bool {
    guard !sender.isRemoved, !sender.brake.isConcluded, let last = sender.lastVerdict else { return false }
    return sender.isIdle && sender.ahead.inMemory == 0 && loop.now - last >= Self.quiet
  }
  /// Milliseconds without a verdict after which a send may have ended: the partitions of one message start together.
  private static let quiet: Int64 = 1_000

  private func countWaiting() {
    let now = worker.senders.values.reduce(0) { $0 + $1.unproven.count }
    counts.waitingPrunes.add(Int64(now - waiting))
    waiting = now
  }

  private func carryOut(_ entries: [UnprovenPrunes.Entry], of sender: Sender) {
    countWaiting()
    var pieces: [Int: FlushPlan.Piece] = [:]
    for var entry in entries where entry.partition.mayWork {
      entry.prune.isHeld = sender.brake.isOn
      // Whoever has registered since the provider said so knows better.
      if !entry.prune.isHeld { entry.prune.since = min(entry.prune.since ?? entry.prune.at, entry.prune.at) }
      pieces[entry.partition.number, default: .init()].prunes.append(entry.prune)
    }
    for (number, piece) in pieces {
      guard let partition = worker.leaseKeeper.partitions[number] else { continue }
      partition.flush.add(piece)
      worker.flusher.flushSoon(partition)
    }
  }

  /// Tells all workers.
  private func tripped(_ sender: Sender) {
    settleUnproven(of: sender)
    let braked = sender.brake.braked(at: loop.wallNow)
    counts.braked.add()
    log(
      .error, "prune_brake_on",
      [
        "credential": sender.id.rawValue, "dead": String(braked.dead), "seen": String(braked.seen),
        "norm_percent": String((braked.norm * 1000).rounded() / 10),
        "fix": "fanfare devices prunes review, then apply or discard",
      ])
    background {
      while !self.isStopped {
        do throws(StoreError) {
          try await self.store.pruneBrakes.brake(sender.id, braked)
          return sender.brake.told()
        } catch {
          await self.loop.sleep(milliseconds: self.settings.flush.repeatAfter)
        }
      }
    }
  }

  /// Reads which brakes are on, tells what was seen, learns the norms.
  func readBrakes() async throws(StoreError) {
    let asked = worker.senders.values.filter { !$0.isRemoved }
    let seen = asked.map { $0.brake.report() }
    let norms: [PruneNorm]
    let brakes: [CredentialID: Braked]
    do throws(StoreError) {
      norms = try await store.pruneBrakes.learnNorms(zip(asked, seen).map { ($0.id, $1.seen, $1.dead) })
      brakes = try await store.pruneBrakes.all()
    } catch {
      // What the store has counted all the same weighs twice: the norm is no exact number.
      for (sender, report) in zip(asked, seen) { sender.brake.unreported(report) }
      throw error
    }
    for (sender, norm) in zip(asked, norms) {
      sender.brake.learned(norm)
      guard sender.brake.heard(isOn: brakes[sender.id] != nil) else { continue }
      settleUnproven(of: sender)
      log(.warning, sender.brake.isOn ? "prunes_held" : "prunes_resumed", ["credential": sender.id.rawValue])
    }
    countWaiting()
    knowsBrakes = true
  }

  /// Until it is known which brakes are on nothing is sent: a dead verdict must not slip through. Returns also when the
  /// partition is lost.
  func awaitBrakes(for partition: Partition) async {
    while !knowsBrakes, !partition.isLost, !isStopped {
      do throws(StoreError) {
        try await readBrakes()
      } catch {
        await loop.sleep(milliseconds: settings.flush.repeatAfter)
      }
    }
  }
}
