package import Domain
import Loop
import RedisClient

/// Lazy expansion of audiences: a claim of a job takes the next members that have no outcome. What was handed out is
/// known by the caller alone; holds nothing but its session, on whose loop it is used.
package struct AudienceMembers: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Members whose codes are read at a time where many have ended.
  private static let codesPerRead = 32_768

  /// Members of an audience's job from `from` on. Nil: nothing of the job is left to do, it is taken out.
  func open(_ job: StoredJob, _ range: Range<Int>, from: Int, _ lease: Lease, limit: Int, packed: Bool)
    async throws(StoreError) -> ClaimedJob?
  {
    let partition = lease.partition
    let field = "j\(range.lowerBound)"
    let command = RedisCommand(
      "HMGET", keys.work(partition, job.message), "x", field, "c", "b\(range.lowerBound)")
    let work = try await ask(command, partition: partition).array ?? []
    guard work.count == 4, let left = work[1].integer, left > 0, (work[0].integer ?? 0) > 0,
      let part = try await AudienceShards(session).shard(job.message, lease),
      let own = part.job(from: range.lowerBound),
      own.range == range, own.credential == job.id.stream.credential,
      part.sequence(of: own, released: work[3].integer) == job.id.sequence
    else {
      try await JobQueue(session).drop([job.entry], corrupt: 0, lease, job.id.stream)
      return nil
    }
    let control = work[2].text.flatMap { Control(packed: $0) }
    if control?.word == .cancelled { part.ending = .cancelled }
    if part.ending == nil, part.until < loop.wallNow { part.ending = .expired }
    var claim = ClaimedJob(id: job.id, message: job.message, targets: [])
    claim.control = control
    let outcome = part.ending
    if outcome == nil, let end = own.wave?.pause?.end(now: loop.wallNow) {
      try await adjourn(own, of: part, lease, until: end)
      claim.lastMember = range.upperBound - 1
      return from > range.lowerBound ? claim : nil
    }
    // What was handed out before the job left its stream is still at work.
    let from = part.adjourned.contains(range.lowerBound) ? max(from, part.rest(of: own).lowerBound) : from
    if let outcome {
      try await endRest(of: part, lease, outcome, control)
      // Whoever has members of it at work is to know that no more follow.
      claim.lastMember = range.upperBound - 1
      return from > range.lowerBound ? claim : nil
    }
    var members: [Int] = []
    var next = max(from, range.lowerBound)
    var window = limit
    while next < range.upperBound, members.count < limit {
      let some = next..<min(range.upperBound, next + window)
      let codes = try await codes(job.message, partition, some)
      next = some.upperBound
      for index in some where codes[index] == .none {
        members.append(index)
        guard members.count == limit else { continue }
        next = index + 1
        break
      }
      window = Self.codesPerRead
    }
    if packed {
      claim.members = try await packedMembers(members, of: part, own, lease)
    } else {
      claim.targets = members.map { self.target($0, of: part, own, partition) }
      try await JobQueue(session).readMembers(&claim.targets, at: Array(claim.targets.indices), part, lease)
    }
    // From here to the return nothing comes between: what is handed out, and what ends as the rest, never overlap.
    guard part.ending == nil, session.owned.audiences[partition]?[job.message] === part else { return nil }
    claim.isWhole = next >= range.upperBound
    claim.lastMember = next - 1
    part.handedOut(through: next - 1, of: own)
    return claim
  }

  /// Members of a job behind that place go back: none of them is at work, and their outcomes are written down.
  package func returned(_ job: JobID, of message: MessageID, behind place: Int = ClaimPlace.start) {
    guard let part = session.owned.audiences[job.stream.partition]?[message] else { return }
    if let own = part.job(at: job.sequence) { part.handedBack(own, behind: place) }
  }

  func target(_ index: Int, of part: AudienceShard, _ job: Snapshot.Job, _ partition: Int) -> ClaimedTarget {
    ClaimedTarget(
      delivery: DeliveryID(message: part.id, partition: partition, index: index), device: DeviceID(rawValue: ""),
      registered: true, credential: job.credential, sequence: part.sequence(of: index, in: job), address: nil,
      gone: nil,
      facts: nil, attempts: [], slice: part.slices[index])
  }

  /// Their records as they stand. Those that are gone, belong to a stored slice, or cannot be read at a header, are
  /// read whole.
  private func packedMembers(_ indexes: [Int], of part: AudienceShard, _ job: Snapshot.Job, _ lease: Lease)
    async throws(StoreError) -> ClaimedMembers
  {
    let partition = lease.partition
    let place = WordPlace(partition: partition, app: part.app)
    if session.registry.shelf.books[place] == nil { try await StringTables(session).loadWords(place) }
    let numbers = part.snapshot.numbers(of: indexes)
    let records = try await DeviceRecords(session).parts(
      numbers.map { DevicePlace(partition: partition, number: Int($0)) }, app: part.app)
    let born = JobQueue(session).bornBefore(part)
    var members = ClaimedMembers(
      of: part, job, partition: partition, words: session.registry.shelf.books[place] ?? StringTable())
    var notPacked: [ClaimedTarget] = []
    for (member, record) in zip(zip(indexes, numbers), records) {
      let (index, number) = member
      if !part.slices.contains(index), let place = record.part?.record,
        let header = try? DeviceRecordHeader(record.bucket.bytes, place),
        header.gone == nil,
        header.bornAt <= born
      {
        members.add(index, number: number, record.bucket, header)
      } else {
        notPacked.append(target(index, of: part, job, partition))
      }
    }
    if !notPacked.isEmpty {
      try await JobQueue(session).readMembers(&notPacked, at: Array(notPacked.indices), part, lease)
      for target in notPacked { members.add(target) }
    }
    return members
  }

  func codes(_ message: MessageID, _ partition: Int, _ range: Range<Int>) async throws(StoreError) -> OutcomeCodes {
    let reply = try await ask(codesCommand(message, partition, range), partition: partition)
    return OutcomeCodes(reply.bytes ?? [], from: range.lowerBound)
  }

  func codesCommand(_ message: MessageID, _ partition: Int, _ range: Range<Int>) -> RedisCommand {
    let bytes = OutcomeCodes.bytes(of: range)
    return RedisCommand(
      "GETRANGE", keys.codes(partition, message), String(bytes.lowerBound), String(bytes.upperBound))
  }
}
