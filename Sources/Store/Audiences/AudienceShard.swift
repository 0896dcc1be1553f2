import Domain
import RedisClient

/// A partition's part of an audience while its owner works on it: who is in it, read once, and how far it was claimed.
/// The owner is the only writer of what is kept here.
final class AudienceShard {
  let id: MessageID
  let app: AppID
  let snapshot: Snapshot
  let jobs: [Snapshot.Job]
  /// Sequence of index 0, but for jobs in `bases`.
  private let base: UInt64
  /// … of jobs that joined their stream later, by their first index: sequence of that member.
  private(set) var bases: [Int: UInt64]
  /// Jobs that left their stream for a while: where they go on is known here only.
  private(set) var adjourned: Set<Int> = []
  /// … and where they stood before, by their first index.
  private var former: [UInt64: Int] = [:]
  let keepsReceipts: Bool
  /// No first attempt begins after it.
  let until: WallTime
  private(set) var slices: MemberSlices
  /// By the first index of a job: the last member that was handed out.
  private var places: [Int: Int] = [:]
  /// What is left ends like this: nobody is handed out any more.
  var ending: Outcome?

  init(
    id: MessageID, app: AppID, snapshot: Snapshot, base: UInt64, bases: [Int: UInt64], keepsReceipts: Bool,
    until: WallTime, slices: [StoredSlice]
  ) {
    self.id = id
    self.app = app
    self.snapshot = snapshot
    jobs = snapshot.jobs
    self.base = base
    self.bases = bases
    self.keepsReceipts = keepsReceipts
    self.until = until
    self.slices = MemberSlices(slices, of: snapshot.count)
  }

  func sequence(of index: Int, in job: Snapshot.Job) -> UInt64 {
    let first = job.range.lowerBound
    guard let own = bases[first] else { return base &+ UInt64(index) }
    return own &+ UInt64(index - first)
  }
  /// The entry of a job in its stream.
  func entry(of job: Snapshot.Job) -> String { JobID.entry(sequence(of: job.range.lowerBound, in: job), id) }
  /// The job that stands at a place of its stream now.
  func job(at sequence: UInt64) -> Snapshot.Job? {
    jobs.first { self.sequence(of: $0.range.lowerBound, in: $0) == sequence }
  }
  /// It stands in its stream, or has been done there.
  func isReleased(_ job: Snapshot.Job) -> Bool {
    job.wave?.due == nil || bases[job.range.lowerBound] != nil
  }
  /// The place of a job as the store has it: the answer to its release may have been lost.
  func sequence(of job: Snapshot.Job, released stored: Int64?) -> UInt64 {
    if let stored { bases[job.range.lowerBound] = UInt64(bitPattern: stored) }
    return sequence(of: job.range.lowerBound, in: job)
  }
  func released(_ job: Snapshot.Job, at sequence: UInt64) { bases[job.range.lowerBound] = sequence }
  func adjourn(_ job: Snapshot.Job) {
    adjourned.insert(job.range.lowerBound)
    former[sequence(of: job.range.lowerBound, in: job)] = job.range.lowerBound
  }
  /// The job that stands, or has stood, at a place of its stream: its last members may end when it has another.
  func job(onceAt sequence: UInt64) -> Snapshot.Job? {
    job(at: sequence) ?? former[sequence].flatMap { job(from: $0) }
  }

  /// The job that a member belongs to.
  func job(of index: Int) -> Snapshot.Job? { jobs.first { $0.range.contains(index) } }
  func job(from first: Int) -> Snapshot.Job? { jobs.first { $0.range.lowerBound == first } }

  func handedOut(through index: Int, of job: Snapshot.Job) {
    places[job.range.lowerBound] = max(index, places[job.range.lowerBound] ?? index)
  }
  /// Whom a job was handed out to behind that place, and who has no outcome, is handed out once more.
  func handedBack(_ job: Snapshot.Job, behind place: Int) {
    places[job.range.lowerBound] = place < job.range.lowerBound ? nil : place
  }
  /// The first member of a job that was never handed out.
  func rest(of job: Snapshot.Job) -> Range<Int> {
    let next = places[job.range.lowerBound].map { $0 + 1 } ?? job.range.lowerBound
    return min(next, job.range.upperBound)..<job.range.upperBound
  }

  func stored(_ slice: StoredSlice) { slices.add(slice) }

  func counter(of index: Int, _ outcome: Outcome, _ reason: String?) -> CounterName {
    let segment = snapshot.segment(of: index)
    return CounterName(
      provider: segment?.provider, outcome: outcome, reason: reason, platform: segment?.platform,
      variant: segment?.variant)
  }
}

/// The audience shards at work in the partitions of this process. They stand in the session until they end or the lease is
/// gone; used on its loop. A shard that is not at work is read from Redis when it is asked for.
struct AudienceShards: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  private static let partFields = ["s", "u", "rc", "x"]

  /// The part of an audience as its owner knows it; nil: it has ended, or was not started. What cannot be read ends
  /// here.
  func shard(_ id: MessageID, _ lease: Lease) async throws(StoreError) -> AudienceShard? {
    let partition = lease.partition
    if let part = session.owned.audiences[partition]?[id] { return part }
    let replies = try await ask(
      [
        RedisCommand(words: ["HMGET", keys.work(partition, id)] + Self.partFields),
        RedisCommand("GET", keys.snapshot(partition, id)),
        RedisCommand("HGETALL", keys.slices(partition, id)),
        RedisCommand("HGET", keys.message(id), "app"),
      ], partition: partition)
    // Another call may have been faster.
    if let part = session.owned.audiences[partition]?[id] { return part }
    guard let work = replies[0].array, work.count == Self.partFields.count, let base = work[0].integer,
      let until = work[1].integer, let left = work[3].integer, left > 0
    else { return nil }
    guard let packed = replies[1].bytes, let snapshot = try? Snapshot(packed: packed), let app = replies[3].text else {
      try await abandon(lease, id, reason: CorruptRecords.reason, corrupt: true)
      return nil
    }
    let bases = try await bases(of: snapshot, id, partition)
    if let part = session.owned.audiences[partition]?[id] { return part }
    let part = AudienceShard(
      id: id, app: AppID(rawValue: app), snapshot: snapshot, base: UInt64(bitPattern: base), bases: bases,
      keepsReceipts: !work[2].isNull,
      until: WallTime(milliseconds: until), slices: JobQueue(session).slices(replies[2], of: id, partition))
    session.owned.audiences[partition, default: [:]][id] = part
    session.owned.audienceMessages[partition, default: []].insert(id)
    return part
  }

  /// Places of jobs that joined their streams later.
  private func bases(of snapshot: Snapshot, _ id: MessageID, _ partition: Int) async throws(StoreError)
    -> [Int: UInt64]
  {
    let firsts = snapshot.jobs.filter { $0.wave != nil }.map(\.range.lowerBound)
    guard !firsts.isEmpty else { return [:] }
    let command = RedisCommand(words: ["HMGET", keys.work(partition, id)] + firsts.map { "b\($0)" })
    let found = try await ask(command, partition: partition).array ?? []
    var bases: [Int: UInt64] = [:]
    for (first, reply) in zip(firsts, found) { bases[first] = reply.integer.map { UInt64(bitPattern: $0) } }
    return bases
  }

  /// Ends a part of which nobody can tell who is in it; repeatable.
  func abandon(_ lease: Lease, _ id: MessageID, reason: String, corrupt: Bool) async throws(StoreError) {
    let partition = lease.partition
    let counter = CounterName(provider: nil, outcome: .failed, reason: reason)
    let reply = try await ask(
      Scripts.abandonAudience,
      keys: [
        keys.lease(partition), keys.work(partition, id), keys.starts(partition), keys.ends(partition),
        keys.finished(partition), keys.segments(partition), keys.kept(partition, id.hour), keys.corrupt(partition),
        keys.snapshot(partition, id), keys.codes(partition, id), keys.deliveries(partition, id),
        keys.slices(partition, id), keys.tallies(partition),
      ],
      [
        .bytes(id.raw), .number(id.hour), .number(settings.retentionSeconds), .bytes(counter.field),
        corrupt ? "1" : "0",
      ], under: lease)
    ended(id, reply, partition)
  }

  /// A script's answer that is how a part ended, if it did.
  func ended(_ id: MessageID, _ reply: RedisReply, _ partition: Int) {
    guard let ending = reply.bytes else { return }
    partEnded(id, partition)
    MessageSpread(session).tellHome([(id, ending)], from: partition)
  }

  /// Its jobs that were claimed still have to leave their streams.
  func partEnded(_ id: MessageID, _ partition: Int) {
    session.owned.audiences[partition]?[id] = nil
    forgetAudience(id, partition)
  }

  /// Nothing is left to do for an audience whose part has ended and whose jobs are finished.
  func forgetAudience(_ id: MessageID, _ partition: Int) {
    guard session.owned.audienceMessages[partition]?.contains(id) == true,
      session.owned.audiences[partition]?[id] == nil,
      session.owned.claimed[partition]?.values.contains(id) != true
    else { return }
    session.owned.audienceMessages[partition]!.remove(id)
  }
}
