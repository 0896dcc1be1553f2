import CommandFrame
import Configuration
import Domain
import Gateway
import JSON
import Store

/// What `fanfare status` shows, for people and for programs.
struct StatusView: Sendable {
  private let owners: Owners
  private let redis: RedisStatus
  private let queue: QueueStatus
  private let brakes: [CredentialID: Braked]
  private let held: [CredentialID: Int]
  private let limits: StatusLimits
  private let credentials: [Credential]
  private let now: WallTime
  /// What Redis may lose of what was accepted.
  private let losses: [String]
  /// Of the configuration. A running server goes on with the one before.
  private let faults: [ConfigurationFault]

  /// One credential over all workers.
  private struct Credential: Sendable {
    var id: CredentialID
    var state = "idle"
    var reason: String?
    var condition: CredentialCondition?
    var connections = 0
    var atWork = 0
    var limit = 0
    var jobs = 0
    var oldest: WallTime?
  }

  init(_ store: Store, _ access: StoreAccess, now: WallTime) async throws(StoreError) {
    self.now = now
    faults = access.faults?.faults ?? []
    owners = try await store.workers.owners()
    redis = try await store.session.redisStatus()
    losses = redis.losses + [redis.shortage(ofReplicas: access.replicas)].compactMap { $0 }
    queue = try await store.queue.status()
    brakes = try await store.pruneBrakes.all()
    limits = try await StatusLimits(store, access.limits)
    let conditions = try await store.conditions.all()
    var known = Dictionary(uniqueKeysWithValues: access.credentials.map { ($0, Credential(id: $0)) })
    for sending in owners.workers.flatMap(\.sendings) {
      var credential = known[sending.credential] ?? Credential(id: sending.credential)
      if Self.rank(sending.state) >= Self.rank(credential.state) {
        credential.state = sending.state
        credential.reason = sending.reason
      }
      credential.connections += sending.connections
      credential.atWork += sending.atWork
      credential.limit += sending.limit
      known[sending.credential] = credential
    }
    for (id, condition) in conditions {
      var credential = known[id] ?? Credential(id: id)
      (credential.state, credential.reason) = (condition.state.rawValue, condition.reason)
      credential.condition = condition
      known[id] = credential
    }
    for (stream, jobs) in queue.jobs {
      known[stream.credential, default: Credential(id: stream.credential)].jobs += jobs
    }
    for (stream, oldest) in queue.oldestByStream {
      let before = known[stream.credential]?.oldest
      known[stream.credential]?.oldest = min(before ?? oldest, oldest)
    }
    self.credentials = known.values.sorted { $0.id.rawValue < $1.id.rawValue }
    held = try await store.pruneBrakes.held(of: self.credentials.map(\.id)).filter { $0.value > 0 }
  }

  private static func rank(_ state: String) -> Int {
    ["idle", "open", "waiting", "probing", "failing", "unreachable", "blocked"].firstIndex(of: state) ?? 0
  }

  /// Somebody has to act.
  var needsOperator: Bool {
    !owners.unowned.isEmpty || !brakes.isEmpty || !faults.isEmpty
      || credentials.contains { $0.condition?.needsOperator == true }
      || queue.quarantined > 0
  }

  // MARK: For people

  func show() {
    if !faults.isEmpty {
      Terminal.print("configuration")
      for fault in faults { Terminal.print("  \(fault.text)") }
      Terminal.print("  a running server keeps its previous configuration; `fanfare check` tests the file")
    }
    Terminal.print("workers")
    var workers = Table("worker", "host", "process", "heartbeat", "partitions")
    for worker in owners.workers {
      let owned = owners.partitions(of: worker.serial)
      workers.row(
        String(worker.name.prefix(8)), worker.host, String(worker.process),
        "\(max(0, owners.at - worker.beatAt)) ms ago",
        "\(owned.count): \(Self.ranges(owned))")
    }
    if workers.isEmpty { Terminal.print("  none: nothing is sent; start fanfare serve") } else { workers.show() }
    if !owners.unowned.isEmpty { Terminal.print("  without an owner: \(Self.ranges(owners.unowned))") }

    Terminal.print("credentials")
    var table = Table(
      "credential", "state", "connections", "at work", "limit", "jobs", "oldest", "reason", state: "state")
    for credential in credentials {
      table.row(
        credential.id.rawValue, credential.state, String(credential.connections), String(credential.atWork),
        String(credential.limit), String(credential.jobs), credential.oldest.map(age) ?? "",
        credential.condition?.text ?? credential.reason ?? "")
    }
    if !table.isEmpty { table.show() }
    for (id, brake) in brakes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      Terminal.print(
        "  prune brake of \(id.rawValue) on since \(brake.since.rfc3339): \(brake.dead) of \(brake.seen) tokens dead, "
          + "\(held[id] ?? 0) prunes wait; see fanfare devices prunes review")
    }
    for (id, count) in owners.waitingPrunes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      Terminal.print("  \(counted(count, "prune")) of \(id.rawValue) waiting; see fanfare devices prunes review")
    }
    Terminal.print("queue")
    Terminal.print(
      "  \(counted(queue.jobs.values.reduce(0, +), "job"))\(queue.oldest.map { ", the oldest \(age($0)) old" } ?? ""), "
        + "\(counted(queue.retries, "retry")), \(queue.quarantined) that could not be read")
    limits.show()
    Terminal.print("redis")
    let share = redis.maximumMemory > 0 ? " of \(redis.maximumMemory >> 20) MiB" : ", no maxmemory"
    Terminal.print(
      "  version \(redis.version), \(redis.role), \(redis.usedMemory >> 20) MiB\(share), \(redis.policy), "
        + "append-only \(redis.appendOnly ? "on" : "off"), \(counted(redis.connectedReplicas, "replica"))")
    Terminal.print("  \(redis.promise)")
    for loss in losses { Terminal.print("  data may be lost: \(loss)") }
  }

  private func age(_ time: WallTime) -> String {
    let seconds = max(0, now - time) / 1_000
    return seconds < 120 ? "\(seconds) s" : seconds < 7_200 ? "\(seconds / 60) min" : "\(seconds / 3_600) h"
  }

  /// `0-3 7`
  private static func ranges(_ numbers: [Int]) -> String {
    var ranges: [(from: Int, to: Int)] = []
    for number in numbers {
      if let last = ranges.last, last.to + 1 == number {
        ranges[ranges.count - 1].to = number
      } else {
        ranges.append((number, number))
      }
    }
    return ranges.map { $0.from == $0.to ? "\($0.from)" : "\($0.from)-\($0.to)" }.joined(separator: " ")
  }

  // MARK: For programs

  var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("needs_operator", needsOperator)
    writer.member("configuration_faults", JSONValue.array(faults.map { .string($0.text) }))
    writer.objects("workers", owners.workers) { writer, worker in
      writer.member("worker", worker.name)
      writer.member("host", worker.host)
      writer.member("process", worker.process)
      writer.member("started_at", worker.startedAt.rfc3339)
      writer.member("heartbeat_at", worker.beatAt.rfc3339)
      writer.member("partition_count", owners.partitions(of: worker.serial).count)
    }
    writer.objects("partitions", owners.partitions) { writer, partition in
      writer.member("partition", partition.partition)
      writer.member("worker", partition.worker.map { String($0, radix: 16) })
      writer.member("epoch", partition.epoch)
      writer.member("lease_ends_at", partition.worker == nil ? nil : partition.until.rfc3339)
    }
    writer.key("credentials")
    writer.beginArray()
    for credential in credentials { write(credential, to: &writer) }
    writer.endArray()
    writer.key("queue")
    writer.beginObject()
    writer.member("jobs", queue.jobs.values.reduce(0, +))
    writer.member("retries", queue.retries)
    writer.member("quarantined", queue.quarantined)
    writer.member("oldest_at", queue.oldest?.rfc3339)
    writer.endObject()
    limits.write(to: &writer)
    writer.key("redis")
    writer.beginObject()
    writer.member("version", redis.version)
    writer.member("role", redis.role)
    writer.member("used_memory_bytes", redis.usedMemory)
    writer.member("maximum_memory_bytes", redis.maximumMemory)
    writer.member("policy", redis.policy)
    writer.member("append_only", redis.appendOnly)
    writer.member("append_fsync", redis.appendFsync)
    writer.member("replicas", redis.connectedReplicas)
    writer.member("losses", JSONValue.array(losses.map { .string($0) }))
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }

  private func write(_ credential: Credential, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("credential", credential.id.rawValue)
    writer.member("state", credential.state)
    writer.member("reason", credential.reason)
    writer.member("began_at", credential.condition?.since.rfc3339)
    writer.member("next_try_at", credential.condition?.nextTry?.rfc3339)
    writer.member("not_before_at", credential.condition?.until?.rfc3339)
    writer.member("connections", credential.connections)
    writer.member("at_work", credential.atWork)
    writer.member("limit", credential.limit)
    writer.member("jobs", credential.jobs)
    writer.member("oldest_at", credential.oldest?.rfc3339)
    writer.member("held_prunes", held[credential.id] ?? 0)
    if let brake = brakes[credential.id] {
      writer.key("prune_brake")
      writer.beginObject()
      writer.member("began_at", brake.since.rfc3339)
      writer.member("seen", brake.seen)
      writer.member("dead", brake.dead)
      writer.member("normal_share", JSONValue.double(brake.norm))
      writer.member("normal_share_limit", JSONValue.double(brake.normal))
      writer.endObject()
    }
    writer.endObject()
  }
}
