package import Domain
import RedisClient

/// Members of an audience whose time comes later than their part's.
extension AudienceMembers {
  /// The entry of a job among the starts of its partition.
  private func entry(_ id: MessageID, _ first: Int) -> RedisArgument { .bytes(id.raw + raw32(first)) }

  /// The time of some members has come: their job joins its stream. Repeatable.
  package func release(_ lease: Lease, _ id: MessageID, first: Int) async throws(StoreError) {
    let partition = lease.partition
    guard let part = try await AudienceShards(session).shard(id, lease), let job = part.job(from: first) else {
      var gone = RedisCommand("ZREM", keys.starts(partition))
      gone.append(id.raw + raw32(first))
      _ = try await ask(gone, partition: partition)
      return
    }
    let stream = StreamID(partition: partition, credential: job.credential, urgency: .bulk).name
    let place = try await ask(
      Scripts.releaseJob,
      keys: [
        keys.lease(partition), keys.work(partition, id), keys.starts(partition), keys.sequence(partition),
        keys.ready(partition), keys.waiting(partition), keys.stream(partition, stream),
      ],
      [
        .bytes(id.raw), entry(id, first), .text(keys.wakeup), .number(Int64(partition)),
        .text(stream), .number(Int64(first)), .number(Int64(job.range.count)),
      ], under: lease)
    if let sequence = place.integer, sequence > 0 { part.released(job, at: UInt64(sequence)) }
  }

  /// Quiet hours have begun for the members of a job that were not handed out yet.
  func adjourn(_ job: Snapshot.Job, of part: AudienceShard, _ lease: Lease, until: WallTime) async throws(StoreError) {
    let partition = lease.partition
    let stream = StreamID(partition: partition, credential: job.credential, urgency: .bulk).name
    part.adjourn(job)
    _ = try await ask(
      Scripts.adjourn,
      keys: [
        keys.lease(partition), keys.stream(partition, stream), keys.ready(partition), keys.starts(partition),
      ],
      [
        .text(part.entry(of: job)), .text(stream), entry(part.id, job.range.lowerBound),
        .number(until.milliseconds),
      ], under: lease)
  }

  /// Who waits for a later time, and has moved to a zone whose clock shows the message's time already: these members go
  /// at once, by the retry set. That they wait there keeps them out of the job they belonged to.
  package func sendMovers(_ lease: Lease, _ id: MessageID, _ timing: Timing, now: WallTime) async throws(StoreError) {
    let partition = lease.partition
    guard timing.local != nil, let part = try await AudienceShards(session).shard(id, lease), part.ending == nil
    else { return }
    let later = part.jobs.filter { ($0.wave?.due).map { $0 > now } ?? false && !part.isReleased($0) }
    guard !later.isEmpty else { return }
    for block in 0..<(try await DeviceSets(session).blockCount(partition: partition, app: part.app)) {
      let zones =
        try await DeviceSets(session).values([.zone], block: block, partition: partition, app: part.app)[.zone] ?? []
      let passed = zones.filter { zone in timing.start(zone).map { $0 <= now } ?? false }
      guard !passed.isEmpty else { continue }
      var there = SetBlock.empty
      let words = try await DeviceSets(session).blocks(
        passed.map { SetName(.zone, $0) }, block: block, partition: partition, app: part.app)
      for words in words { SetBlock.formUnion(&there, words) }
      var flush = Flush(lease: lease, number: 0)
      for job in later {
        for segment in part.snapshot.segments where job.range.contains(segment.first) {
          for (place, number) in segment.numbers.enumerated() {
            let offset = Int(number) - block * SetBlock.size
            guard (0..<SetBlock.size).contains(offset), there[offset >> 6] & SetBlock.bit(offset) != 0 else { continue }
            let index = segment.first + place
            let target = ClaimedTarget(
              delivery: DeliveryID(message: id, partition: partition, index: index), device: DeviceID(rawValue: ""),
              registered: true, credential: job.credential, sequence: part.sequence(of: index, in: job), address: nil,
              gone: nil, facts: nil, attempts: [], slice: part.slices[index])
            flush.retries.append(
              Flush.RetryEntry(target: target, due: now, reason: Timing.localReason, attempts: []))
          }
        }
      }
      if !flush.retries.isEmpty { _ = try await OutcomeWriter(session).flush(flush) }
    }
  }
}
