package import Domain
import RedisClient

/// A job as it stands in its stream.
private struct StoredJob {
  var entry: String
  var id: JobID
  var message: MessageID
  var first: Int
  var targets: [PackedTarget]
  func sequence(of index: Int) -> UInt64 { id.sequence &+ UInt64(index) &- UInt64(first) }
}

extension Store {
  /// The streams of a partition that hold jobs, with their lengths.
  package func readyStreams(_ lease: Lease) async throws(StoreError) -> [(stream: StreamID, length: Int)] {
    try await streams(of: lease.partition)
  }

  func streams(of partition: Int) async throws(StoreError) -> [(stream: StreamID, length: Int)] {
    let names = (try await ask(RedisCommand("SMEMBERS", keys.ready(partition))).array ?? []).compactMap(\.text)
    let lengths = try await ask(names.map { RedisCommand("XLEN", keys.stream(partition, $0)) })
    return zip(names, lengths).compactMap { name, length in
      guard let stream = StreamID(partition: partition, name: name), let length = length.integer, length > 0 else {
        return nil
      }
      return (stream, Int(length))
    }
  }

  /// Jobs behind `after` in order, at most `jobs`; jobs stay in the stream until a flush finishes them, so a new owner
  /// starts again from nil. Jobs with nothing left to do are taken out on the way.
  package func claim(_ lease: Lease, _ stream: StreamID, after: JobID?, jobs: Int) async throws(StoreError)
    -> [ClaimedJob]
  {
    precondition(jobs > 0 && stream.partition == lease.partition, "a claim of another partition's stream")
    var after = after
    while true {
      let found =
        try await ask(
          Scripts.claim,
          keys: [
            keys.lease(lease.partition), keys.stream(lease.partition, stream.name), keys.waiting(lease.partition),
          ],
          [
            .text(lease.owner), .text(after.map { "(\($0.sequence)-1" } ?? "-"), .number(Int64(jobs)),
            .text(stream.name),
          ], partition: lease.partition
        ).array ?? []
      guard !found.isEmpty else { return [] }
      let (claims, last) = try await open(found, lease, stream)
      if !claims.isEmpty || found.count < jobs { return claims }
      guard let last else { return [] }
      after = JobID(stream: stream, sequence: last)
    }
  }

  private func open(_ found: [RedisReply], _ lease: Lease, _ stream: StreamID) async throws(StoreError)
    -> (claims: [ClaimedJob], last: UInt64?)
  {
    var stored: [StoredJob] = []
    var last: UInt64?
    var empty: [String] = []
    var odd: [RedisReply] = []
    for entry in found {
      guard let name = entry.array?.first?.text else { continue }
      last = UInt64(name.prefix { $0 != "-" }) ?? last
      if let job = Self.read(entry, stream) {
        stored.append(job)
      } else {
        empty.append(name)
        odd.append(entry)
      }
    }
    let partition = lease.partition
    var commands: [RedisCommand] = []
    for job in stored {
      commands.append(RedisCommand("HGET", keys.work(partition, job.message), "n"))
      commands.append(RedisCommand("HGETALL", keys.slices(partition, job.message)))
      var records = RedisCommand("HMGET", keys.deliveries(partition, job.message))
      for target in job.targets { records.append(target.index) }
      commands.append(records)
    }
    let replies = try await ask(commands, partition: partition)
    var claims: [ClaimedJob] = []
    for (place, job) in stored.enumerated() {
      guard let count = replies[place * 3].integer, case .array(let records) = replies[place * 3 + 2] else {
        empty.append(job.entry)
        continue
      }
      guard job.targets.allSatisfy({ $0.index < count }) else {
        empty.append(job.entry)
        odd.append(found.first { $0.array?.first?.text == job.entry } ?? .null)
        continue
      }
      let slices = slices(replies[place * 3 + 1], of: job.message, partition)
      let targets = zip(job.targets, records).filter { $1.isNull }.map { target, _ in
        ClaimedTarget(
          delivery: DeliveryID(message: job.message, partition: partition, index: target.index), device: target.device,
          registered: target.address == nil, credential: stream.credential, sequence: job.sequence(of: target.index),
          address: target.address, gone: nil,
          attempts: [], slice: slices[target.index])
      }
      if targets.isEmpty {
        empty.append(job.entry)
      } else {
        claims.append(ClaimedJob(id: job.id, message: job.message, targets: targets))
      }
    }
    for message in Set(odd.compactMap(Self.message)) { try await condemnLost(of: message, lease, stream) }
    if !empty.isEmpty { try await drop(empty, odd: odd.count, lease, stream) }
    var all = claims.flatMap(\.targets)
    try await readAddresses(&all, lease)
    var place = 0
    for index in claims.indices {
      let count = claims[index].targets.count
      claims[index].targets = Array(all[place..<place + count])
      place += count
      claimed[partition, default: [:]][claims[index].id] = claims[index].message
    }
    return (claims, last)
  }

  private static func read(_ entry: RedisReply, _ stream: StreamID) -> StoredJob? {
    guard let parts = entry.array, parts.count == 2, let name = parts[0].text,
      let sequence = UInt64(name.prefix { $0 != "-" }), let fields = parts[1].array, fields.count == 8,
      let message = fields[1].bytes.flatMap({ MessageID(raw: $0) }), let first = fields[3].integer,
      let indexes = fields[5].bytes, let targets = fields[7].bytes.flatMap({ try? PackedTarget.readAll($0) }),
      !targets.isEmpty, targets[0].index == Int(first), targets.map(\.index) == Part.indexes(indexes)
    else { return nil }
    return StoredJob(
      entry: name, id: JobID(stream: stream, sequence: sequence), message: message, first: Int(first),
      targets: targets)
  }

  /// Whose an entry is, even if the rest of it cannot be read.
  private static func message(of entry: RedisReply) -> MessageID? {
    guard let fields = entry.array?.last?.array, fields.count > 1 else { return nil }
    return fields[1].bytes.flatMap { MessageID(raw: $0) }
  }

  /// The indexes that readable jobs of a message in this stream carry.
  static func carried(_ entries: RedisReply, of message: MessageID, _ stream: StreamID) -> Set<Int> {
    let jobs = (entries.array ?? []).compactMap { read($0, stream) }.filter { $0.message == message }
    return Set(jobs.flatMap { $0.targets.map(\.index) })
  }

  private func drop(_ entries: [String], odd: Int, _ lease: Lease, _ stream: StreamID) async throws(StoreError) {
    let partition = lease.partition
    _ = try await ask(
      Scripts.dropJobs,
      keys: [
        keys.lease(partition), keys.stream(partition, stream.name), keys.ready(partition), keys.odd(partition),
      ], [.text(lease.owner), .text(stream.name), .number(Int64(odd))] + entries.map { .text($0) },
      partition: partition)
  }

  /// The slice of each member by its index.
  func slices(_ reply: RedisReply, of message: MessageID, _ partition: Int) -> [Int: StoredSlice] {
    var slices: [Int: StoredSlice] = [:]
    for (name, value) in pairs(reply.array ?? []) {
      guard let number = Int(String(decoding: name, as: UTF8.self)),
        let slice = try? StoredSlice(message: message, partition: partition, number: number, packed: value)
      else { continue }
      for member in slice.members { slices[member] = slice }
    }
    return slices
  }

  // MARK: Retries

  /// Retries due by `now` in order, at most `limit`; they stay in the set until a flush ends or moves them.
  package func dueRetries(_ lease: Lease, now: WallTime, limit: Int) async throws(StoreError) -> [ClaimedTarget] {
    let command = RedisCommand(
      "ZRANGEBYSCORE", keys.retry(lease.partition), "-inf", String(now.milliseconds), "LIMIT", "0", String(limit))
    let members = (try await ask(command).array ?? []).compactMap(\.bytes)
    return try await retries(members, lease).map(\.target)
  }

  /// All that wait for a retry, for the holds of a new owner (design D6), at most `limit`, earliest first.
  package func waitingRetries(_ lease: Lease, limit: Int) async throws(StoreError) -> [(
    target: ClaimedTarget, due: WallTime
  )] {
    guard limit > 0 else { return [] }
    let command = RedisCommand("ZRANGE", keys.retry(lease.partition), "0", String(limit - 1))
    let members = (try await ask(command).array ?? []).compactMap(\.bytes)
    return try await retries(members, lease)
  }

  /// When the next retry of the partition is due.
  package func nextRetry(_ lease: Lease) async throws(StoreError) -> WallTime? {
    let reply = try await ask(RedisCommand("ZRANGE", keys.retry(lease.partition), "0", "0", "WITHSCORES"))
    guard let score = reply.array?.last?.text.flatMap({ Double($0) }), score.isFinite else { return nil }
    return WallTime(milliseconds: Int64(score))
  }

  private func retries(_ members: [[UInt8]], _ lease: Lease) async throws(StoreError) -> [(
    target: ClaimedTarget, due: WallTime
  )] {
    let partition = lease.partition
    var asked: [(member: [UInt8], delivery: DeliveryID)] = []
    var odd: [[UInt8]] = []
    var corrupt: [MessageID: [Int]] = [:]
    for member in members {
      guard member.count == 20, let id = MessageID(raw: Array(member.prefix(16))) else {
        odd.append(member)
        continue
      }
      asked.append((member, DeliveryID(message: id, partition: partition, index: from32(member[16...]))))
    }
    let replies = try await ask(
      asked.flatMap { entry in
        [
          RedisCommand(
            "HGET", keys.deliveries(partition, entry.delivery.message), String(entry.delivery.index)),
          RedisCommand("HGETALL", keys.slices(partition, entry.delivery.message)),
        ]
      }, partition: partition)
    var found: [(target: ClaimedTarget, due: WallTime)] = []
    for (place, entry) in asked.enumerated() {
      guard let packed = replies[place * 2].bytes else {
        odd.append(entry.member)
        continue
      }
      guard let record = try? DeliveryRecord(packed: packed),
        case .retrying(let due, _, let sequence, let credential, let target) = record.state,
        target.index == entry.delivery.index
      else {
        if packed.first == DeliveryRecord.finalMark {
          odd.append(entry.member)
        } else {
          corrupt[entry.delivery.message, default: []].append(entry.delivery.index)
        }
        continue
      }
      let slice = slices(replies[place * 2 + 1], of: entry.delivery.message, partition)[entry.delivery.index]
      let claimed = ClaimedTarget(
        delivery: entry.delivery, device: target.device, registered: target.address == nil, credential: credential,
        sequence: sequence,
        address: target.address, gone: nil, attempts: record.attempts, slice: slice)
      found.append((claimed, due))
    }
    for (message, indexes) in corrupt { try await condemnWaiting(of: message, indexes, lease) }
    if !odd.isEmpty {
      _ = try await ask(
        Scripts.dropRetries, keys: [keys.lease(partition), keys.retry(partition), keys.odd(partition)],
        [.text(lease.owner)] + odd.map { .bytes($0) }, partition: partition)
    }
    var targets = found.map(\.target)
    try await readAddresses(&targets, lease)
    return zip(targets, found).map { ($0, $1.due) }
  }

  // MARK: What targets need

  /// Addresses of registered devices as they stand now.
  private func readAddresses(_ targets: inout [ClaimedTarget], _ lease: Lease) async throws(StoreError) {
    let places = targets.indices.filter { targets[$0].address == nil }
    guard !places.isEmpty else { return }
    let apps = try await apps(of: Set(places.map { targets[$0].delivery.message }))
    var byApp: [AppID: [Int]] = [:]
    for place in places {
      guard let app = apps[targets[place].delivery.message] else {
        targets[place].gone = Self.deletedReason
        continue
      }
      byApp[app, default: []].append(place)
    }
    for (app, places) in byApp {
      let devices = try await devices(places.map { targets[$0].device }, app: app)
      for (place, stored) in zip(places, devices) {
        if let stored, stored.tombstone == nil, stored.device.enabled {
          targets[place].address = stored.device.address
        } else {
          targets[place].gone =
            stored.map { $0.tombstone?.reason ?? Self.disabledReason } ?? Self.deletedReason
        }
      }
    }
  }
  private static let deletedReason = "device_deleted"
  private static let disabledReason = "device_disabled"

  private func apps(of messages: Set<MessageID>) async throws(StoreError) -> [MessageID: AppID] {
    let ids = Array(messages)
    let replies = try await ask(ids.map { RedisCommand("HGET", keys.message($0), "app") })
    var apps: [MessageID: AppID] = [:]
    for (id, reply) in zip(ids, replies) { apps[id] = reply.text.map { AppID(rawValue: $0) } }
    return apps
  }

  /// The message of claimed jobs; nil when it has ended.
  package func message(_ id: MessageID) async throws(StoreError) -> StoredMessage? {
    let fields = try await ask(RedisCommand("HMGET", keys.message(id), "app", "b", "can")).array ?? []
    guard fields.count == 3, let app = fields[0].text, let body = fields[1].bytes else { return nil }
    return StoredMessage(
      id: id, app: AppID(rawValue: app), body: body, acceptedAt: id.acceptedAt, startedAt: id.acceptedAt,
      cancelled: !fields[2].isNull)
  }

  /// Stores the members of a new slice; when it returns, its first attempt may be made. A revision above 0 replaces.
  package func storeSlice(_ lease: Lease, _ slice: StoredSlice) async throws(StoreError) {
    let partition = lease.partition
    _ = try await ask(
      Scripts.storeSlice,
      keys: [keys.lease(partition), keys.slices(partition, slice.message), keys.work(partition, slice.message)],
      [.text(lease.owner), .number(Int64(slice.number)), .bytes(slice.packed)], partition: partition)
  }

  /// The members of a stored slice whose deliveries have no outcome yet.
  package func unfinishedMembers(of slice: StoredSlice) async throws(StoreError) -> Set<Int> {
    guard !slice.members.isEmpty else { return [] }
    let command = RedisCommand(
      words: ["HMGET", keys.deliveries(slice.partition, slice.message)] + slice.members.map { String($0) })
    let records = try await ask(command, partition: slice.partition).array ?? []
    return Set(zip(slice.members, records).filter { $1.bytes?.first != DeliveryRecord.finalMark }.map(\.0))
  }
}

extension StoredSlice {
  var packed: [UInt8] {
    var packer = Packer()
    packer.number(revision)
    packer.number(members.count)
    for member in members { packer.number(member) }
    return packer.bytes
  }
  init(message: MessageID, partition: Int, number: Int, packed: [UInt8]) throws(Corrupt) {
    var reader = Unpacker(packed)
    let revision = try reader.int()
    var members: [Int] = []
    for _ in 0..<(try reader.int()) { members.append(try reader.int()) }
    guard reader.isAtEnd else { throw Corrupt() }
    self.init(message: message, partition: partition, number: number, revision: revision, members: members)
  }
}
