import API
import CommandFrame
import Configuration
import Domain
import Gateway
import JSON
import Store

/// What `fanfare status` shows, for people and for programs.
struct StatusView: Sendable {
  private let status: GatewayStatus
  private let limits: StatusLimits
  /// Of the configuration. A running server goes on with the one before.
  private let faults: [ConfigurationFault]

  init(_ store: Store, _ access: StoreAccess, now: WallTime) async throws(StoreError) {
    faults = access.faults?.faults ?? []
    status = try await GatewayStatus(
      store, known: access.credentials, replicas: access.replicas, faults: faults.map(\.text), now: now)
    limits = try await StatusLimits(store, access.limits)
  }

  /// Somebody has to act.
  var needsOperator: Bool { status.needsOperator }

  // MARK: For people

  func show() {
    if !faults.isEmpty {
      Terminal.print("configuration")
      for fault in faults { Terminal.print("  \(fault.text)") }
      Terminal.print("  a running server keeps its previous configuration; `fanfare check` tests the file")
    }
    if let whole = status.whole { show(whole.owners) }
    showCredentials()
    let oldest = status.oldest.map { ", the oldest \(age($0)) old" } ?? ""
    Terminal.print("queue")
    Terminal.print(
      "  \(counted(status.jobs, "job"))\(oldest), "
        + "\(counted(status.whole?.retries ?? 0, "retry")), \(status.whole?.quarantined ?? 0) that could not be read")
    limits.show()
    if let whole = status.whole { show(whole.redis, losses: whole.losses) }
  }

  private func show(_ owners: Owners) {
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
  }

  private func showCredentials() {
    Terminal.print("credentials")
    var table = Table(
      "credential", "state", "connections", "at work", "limit", "jobs", "oldest", "reason", state: "state")
    for credential in status.credentials {
      let expiry = credential.facts?.expiryWarning(now: status.now)?.text
      let reasons = [credential.condition?.text ?? credential.reason, expiry].compactMap { $0 }
      table.row(
        credential.id.rawValue, credential.state, String(credential.connections), String(credential.atWork),
        String(credential.limit), String(credential.jobs), credential.oldest.map(age) ?? "",
        reasons.joined(separator: "; "))
    }
    if !table.isEmpty { table.show() }
    for credential in status.credentials {
      guard let brake = credential.brake else { continue }
      Terminal.print(
        "  prune brake of \(credential.id.rawValue) on since \(brake.since.rfc3339): \(brake.dead) of \(brake.seen) "
          + "tokens dead, \(credential.held) prunes wait; see fanfare devices prunes review")
    }
    let waiting = status.whole?.owners.waitingPrunes ?? [:]
    for (id, count) in waiting.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      Terminal.print("  \(counted(count, "prune")) of \(id.rawValue) waiting; see fanfare devices prunes review")
    }
  }

  private func show(_ redis: RedisStatus, losses: [String]) {
    Terminal.print("redis")
    let share = redis.maximumMemory > 0 ? " of \(redis.maximumMemory >> 20) MiB" : ", no maxmemory"
    Terminal.print(
      "  version \(redis.version), \(redis.role), \(redis.usedMemory >> 20) MiB\(share), \(redis.policy), "
        + "append-only \(redis.appendOnly ? "on" : "off"), \(counted(redis.connectedReplicas, "replica"))")
    Terminal.print("  \(redis.promise)")
    for loss in losses { Terminal.print("  data may be lost: \(loss)") }
  }

  private func age(_ time: WallTime) -> String {
    let seconds = max(0, status.now - time) / 1_000
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

  /// What `GET /v1/status` tells to whoever runs the gateway, and the limits.
  var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    status.write(to: &writer)
    limits.write(to: &writer)
    writer.endObject()
    return writer.bytes
  }
}
