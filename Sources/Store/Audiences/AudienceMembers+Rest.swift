import Domain
import RedisClient

/// Ending what nobody was handed out: cancelled or expired audiences, jobs that cannot be read.
extension AudienceMembers {
  /// Members of one script run, which keeps it within a millisecond.
  private static let membersPerStep = 4_096

  /// All members that were never handed out, in bounded steps; those at work end as their owner tells. Repeatable.
  func endRest(of part: AudienceShard, _ lease: Lease, _ outcome: Outcome, _ control: Control?)
    async throws(StoreError)
  {
    part.ending = outcome
    let reason = outcome == .expired && control?.word == .paused ? Control.expiredReason : nil
    for job in part.jobs {
      try await end(part.rest(of: job), of: job, part, lease, outcome, reason: reason)
    }
  }

  func end(
    _ range: Range<Int>, of job: Snapshot.Job, _ part: AudienceShard, _ lease: Lease, _ outcome: Outcome,
    reason: String?
  ) async throws(StoreError) {
    let partition = lease.partition
    let id = part.id
    let stream = StreamID(partition: partition, credential: job.credential, urgency: .bulk).name
    var next = range.lowerBound
    // An empty range, too: it takes out a job that has nothing left.
    repeat {
      let step = next..<min(range.upperBound, next + Self.membersPerStep)
      var arguments: [RedisArgument] = [
        .bytes(id.raw), .number(id.hour), .number(settings.retentionSeconds),
        .number(Int64(OutcomeCode(outcome).rawValue)), .number(Int64(job.range.lowerBound)),
        .text(part.entry(of: job)), .text(stream),
      ]
      for segment in part.snapshot.segments where segment.range.overlaps(step) {
        let own = segment.range.clamped(to: step)
        arguments += [
          .number(Int64(own.lowerBound)), .number(Int64(own.upperBound)),
          .bytes(part.counter(of: own.lowerBound, outcome, reason).field),
        ]
      }
      let reply = try await ask(
        Scripts.endRest,
        keys: [
          keys.lease(partition), keys.work(partition, id), keys.codes(partition, id), keys.ends(partition),
          keys.finished(partition), keys.segments(partition), keys.kept(partition, id.hour), keys.ready(partition),
          keys.stream(partition, stream), keys.snapshot(partition, id), keys.deliveries(partition, id),
          keys.slices(partition, id), keys.tallies(partition),
        ], arguments, under: lease)
      AudienceShards(session).ended(id, reply, partition)
      next = step.upperBound
    } while next < range.upperBound
  }

  /// Parts whose time is over, and cancelled ones: what is left of them ends.
  func sweepEnds(_ lease: Lease, now: WallTime) async throws(StoreError) {
    let partition = lease.partition
    let command = RedisCommand(
      "ZRANGEBYSCORE", keys.ends(partition), "-inf", String(now.milliseconds), "LIMIT", "0", "10")
    for member in (try await ask(command, partition: partition).array ?? []).compactMap(\.bytes) {
      guard let id = MessageID(raw: member) else { continue }
      let stored = try await ask(RedisCommand("HGET", keys.work(partition, id), "c"), partition: partition)
      let control = stored.text.flatMap { Control(packed: $0) }
      if let part = try await AudienceShards(session).shard(id, lease) {
        // What is at work ends without this; until then it is looked at once more each time.
        if part.ending == nil || part.jobs.contains(where: { !part.rest(of: $0).isEmpty }) {
          try await endRest(
            of: part, lease, control?.word == .cancelled ? .cancelled : .expired, control)
          for job in part.jobs { part.handedOut(through: job.range.upperBound - 1, of: job) }
        }
      } else {
        var gone = RedisCommand("ZREM", keys.ends(partition))
        gone.append(member)
        _ = try await ask(gone, partition: partition)
      }
    }
  }
}
