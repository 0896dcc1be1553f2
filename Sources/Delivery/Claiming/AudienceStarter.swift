import Audience
import Domain
import Loop
import Store
import Telemetry

/// Audiences whose time has come: who is in them is decided here, once per partition, one after the other. One
/// partition at a time: starts of all of them together would stand before every urgent send's commands at Redis.
final class AudienceStarter: WorkerPart {
  /// Partitions that start audiences, the first of them now.
  private var starting = FIFO<Partition>()

  /// Starts all that is due. A wakeup meanwhile is heeded: what it told of is looked for once more.
  func startAudiences(of partition: Partition) {
    guard mayBegin, partition.takesWork, !partition.isLost else { return }
    guard !partition.isStarting else {
      partition.hasStartWakeup = true
      return
    }
    partition.isStarting = true
    starting.append(partition)
    guard starting.count == 1 else { return }
    background {
      while let partition = self.starting.first {
        await self.startAll(of: partition)
        partition.isStarting = false
        _ = self.starting.popFirst()
      }
    }
  }

  private func startAll(of partition: Partition) async {
    do throws(StoreError) {
      repeat {
        partition.hasStartWakeup = false
        try await startDue(of: partition)
      } while partition.hasStartWakeup && !partition.isLost && mayBegin
    } catch {
      // The sweep comes back to it.
      worker.leaseKeeper.failed(error, partition)
    }
  }

  /// Something starts then: the sweep may come later.
  private func expectStart(of partition: Partition, at due: WallTime) {
    let wait = due - loop.wallNow
    guard wait <= settings.sweepInterval, !partition.isLost else { return }
    if let timer = partition.startTimer { loop.cancel(timer) }
    partition.startTimer = loop.after(milliseconds: max(1, wait)) { [weak self] in
      partition.startTimer = nil
      self?.startAudiences(of: partition)
    }
  }

  private func startDue(of partition: Partition) async throws(StoreError) {
    while mayBegin, partition.takesWork, !partition.isLost,
      let lease = worker.leaseKeeper.leases[partition.number]?.lease
    {
      let limit = settings.claim.startsAtOnce
      let begun = try await store.schedule.beginDue(lease, now: loop.wallNow, limit: limit) {
        (id: MessageID) async throws(StoreError) -> FirstStart? in try await self.firstStart(of: id)
      }
      let due = try await store.audienceStarts.due(lease, now: loop.wallNow, limit: limit)
      for start in due where mayBegin && !partition.isLost {
        switch start {
        case .part(let id): try await self.start(id, lease)
        case .members(let id, let first): try await release(id, first, lease)
        }
      }
      guard begun < limit, due.count < limit else { continue }
      if let next = try await store.schedule.nextStart(lease) { expectStart(of: partition, at: next) }
      return
    }
  }

  /// Of a message for local times: when the first of its devices gets it. Nil: it cannot be read.
  private func firstStart(of id: MessageID) async throws(StoreError) -> FirstStart? {
    // It is not kept: it has no start yet.
    guard let stored = try await store.queue.message(id), let message = messages.content(of: stored),
      let timing = messages.timing(stored.app, message)
    else { return nil }
    let (route, now) = (worker.resolver(stored.app, message), loop.wallNow)
    let zones = try await store.schedule.zones(of: id, now: now) { route($0).isQueued }
    let life = max(Int64(message.ttl) * 1_000, Message.atOnce)
    return zones.map { timing.first(of: $0, life: life, now: now) }
  }

  /// Members of an audience whose own time has come, and those who meanwhile moved to where it has passed.
  private func release(_ id: MessageID, _ first: Int, _ lease: Lease) async throws(StoreError) {
    try await store.members.release(lease, id, first: first)
    guard let timing = try await messages.load(id)?.timing, timing.local != nil else { return }
    try await store.members.sendMovers(lease, id, timing, now: loop.wallNow)
    if let partition = worker.leaseKeeper.partitions[lease.partition] {
      worker.retries.expectRetry(of: partition, at: loop.wallNow)
    }
  }

  /// Never a widening: an audience that cannot be read again ends as failed.
  private func start(_ id: MessageID, _ lease: Lease) async throws(StoreError) {
    guard let stored = try await store.queue.message(id) else {
      return try await abandon(id, lease, reason: "message_expired")
    }
    if let control = stored.control, control.word == .paused {
      // Its partition does not know yet: it is due no more once it does.
      try await store.control.apply(control, to: id, lease)
    }
    let loaded = try await messages.load(id)
    guard let message = loaded?.content else {
      return try await abandon(id, lease, reason: LoadedMessage.unreadable)
    }
    guard let audience = stored.audience, let expression = try? AudienceExpression(parsing: audience.expression) else {
      return try await abandon(id, lease, reason: "unreadable_audience")
    }
    let selection = AudienceSelection(expression: expression, reach: audience.reach)
    let route = worker.resolver(stored.app, message)
    var capped: ((UInt32) -> Bool)?
    if let loaded, let cap = message.cap, let partition = worker.leaseKeeper.partitions[lease.partition] {
      guard await worker.caps.readCaps(of: [loaded], for: partition) else { return }
      if let book = partition.caps[CapCount(cap, app: stored.app, now: loop.wallNow)] {
        capped = { book.count(Int($0)) >= cap.limit }
      }
    }
    try await store.audienceStarts.start(
      lease, stored, selection: selection, now: loop.wallNow, timing: loaded?.timing,
      capped: capped, route: route)
    counts.startedAudiences.add()
  }

  private func abandon(_ id: MessageID, _ lease: Lease, reason: String) async throws(StoreError) {
    log(.error, "audience_abandoned", ["message": id.description, "reason": reason])
    try await store.audienceStarts.abandon(lease, id, reason: reason)
  }
}
