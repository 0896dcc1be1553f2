import Domain
import Loop
import Store
import Telemetry

/// Claims jobs for credentials that have room (design D7), with the messages that they need.
final class Claimer: WorkerPart {
  var claims: ClaimPlan
  private var pollTimer: Timer?

  override init(_ worker: Worker) {
    let (store, settings) = (worker.context.store, worker.context.settings)
    claims = ClaimPlan(
      jobsAtOnce: settings.claim.jobsAtOnce, targetsPerJob: store.session.settings.targetsPerJob,
      membersAtOnce: settings.claim.membersAtOnce)
    super.init(worker)
  }

  /// Claims what the plan asks for.
  func claim() {
    guard mayBegin else { return }
    for claim in claims.next(room: { worker.senders[$0]?.room ?? (0, 0) }) { make(claim) }
  }

  private func make(_ claim: ClaimPlan.Claim) {
    guard let partition = worker.leaseKeeper.partitions[claim.stream.partition], partition.takesWork,
      let lease = worker.leaseKeeper.leases[partition.number]?.lease
    else {
      return claims.failed(claim)
    }
    background {
      do throws(StoreError) {
        let claimed = try await self.store.queue.claim(
          lease, claim.stream, after: claim.after, jobs: claim.jobs, targets: claim.targets, packed: true
        ) { self.expect($0) }
        for job in claimed { if let stored = job.stored { self.messages.enter(stored) } }
        guard let messages = await self.load(Set(claimed.map(\.message)), for: partition),
          await self.worker.caps.readCaps(of: messages.values, for: partition)
        else { return }
        let jobs = try await self.worker.rateQueues.unpacked(claimed, messages, lease)
        var found = ClaimPlan.Catch(jobs: jobs.count, last: jobs.last?.place)
        for job in jobs {
          if self.worker.control.keepsAside(job, messages[job.message], partition) { continue }
          let rateQueue = self.worker.rateQueues.rateQueue(of: messages[job.message], by: job.id.stream.credential)
          guard let job = rateQueue.map({ self.worker.rateQueues.paced(job, $0) }) ?? job else { continue }
          if job.lastMember == nil { found.direct = (found.direct.targets + job.targets.count, found.direct.jobs + 1) }
          self.enter(job, messages[job.message], through: rateQueue, partition: partition)
        }
        if !claim.isContinuation { self.counts.claimedJobs.add(UInt64(jobs.count)) }
        self.claims.claimed(claim, found)
        self.pollSoon()
        self.claim()
      } catch {
        self.worker.leaseKeeper.failed(error, partition)
        if !partition.isLost { self.claims.failed(claim) }
      }
    }
  }

  private func enter(
    _ job: ClaimedJob, _ message: LoadedMessage?, through rateQueue: RateLimitedQueue?, partition: Partition
  ) {
    let atWork: JobAtWork
    if job.lastMember == nil {
      atWork = JobAtWork(id: job.id)
      ledger.claimed(job.targets.count, of: atWork, isWhole: true)
    } else {
      atWork = partition.audienceJobs[job.id] ?? JobAtWork(id: job.id)
      ledger.claimed(job.count, of: atWork, isWhole: job.isWhole)
      partition.audienceJobs[job.id] = job.isWhole ? nil : atWork
    }
    if atWork.isFinished {
      partition.flush.add(FlushPlan.Piece(finishedJobs: [job.id]))
      return worker.flusher.flushSoon(partition)
    }
    let urgency = job.id.stream.urgency
    worker.admission.enter(
      job.targets, message, job: atWork, urgency: urgency, through: rateQueue, partition: partition)
    if let members = job.members { worker.admission.enter(members, message, job: atWork, partition: partition) }
  }

  /// While jobs are at work, their streams may get more without a wakeup.
  func pollSoon() {
    guard pollTimer == nil, mayBegin, claims.hasOutstanding else { return }
    pollTimer = loop.after(milliseconds: settings.claim.pollInterval) { [weak self] in
      guard let self else { return }
      pollTimer = nil
      claims.poll()
      claim()
      pollSoon()
    }
  }

  // MARK: Messages

  /// Reads these messages, however long the store is away; nil: the partition is lost or leaving meanwhile. One that is
  /// missing in the result is beyond retention.
  func load(_ ids: Set<MessageID>, for partition: Partition) async -> [MessageID: LoadedMessage]? {
    var found: [MessageID: LoadedMessage] = [:]
    var missing: [MessageID] = []
    found.reserveCapacity(ids.count)
    for id in ids { if let message = messages.inMemory(id) { found[id] = message } else { missing.append(id) } }
    while partition.mayWork, !isStopped {
      guard !missing.isEmpty else { return found }
      let unanswered = await fetch(missing, into: &found)
      if !unanswered.isEmpty { await loop.sleep(milliseconds: settings.flush.repeatAfter) }
      missing = unanswered
    }
    return nil
  }

  /// A message that will be needed is read in the meantime; whoever loads it waits for the same answer.
  private func expect(_ id: MessageID) {
    guard messages.inMemory(id) == nil, !messages.isLoading(id) else { return }
    background { _ = try? await self.messages.load(id) }
  }

  /// At the same time, as they share one connection; returns those that got no answer.
  private func fetch(_ ids: [MessageID], into found: inout [MessageID: LoadedMessage]) async -> [MessageID] {
    var loaded: [MessageID: LoadedMessage] = [:]
    var unanswered: [MessageID] = []
    var left = ids.count
    await withUnsafeContinuation { (waiter: UnsafeContinuation<Void, Never>) in
      for id in ids {
        background {
          do throws(StoreError) {
            loaded[id] = try await self.messages.load(id)
          } catch {
            unanswered.append(id)
          }
          left -= 1
          if left == 0 { waiter.resume() }
        }
      }
    }
    found.merge(loaded) { old, _ in old }
    return unanswered
  }
}
