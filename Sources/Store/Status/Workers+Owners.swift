package import Domain
import RedisClient

/// Which worker owns a partition.
package struct PartitionOwner: Hashable, Sendable {
  package var partition: Int
  /// Nil: nobody, or a lease that has run out.
  package var worker: UInt64?
  package var epoch: Int64
  /// The end of the lease by Redis' clock.
  package var until: WallTime
}

/// Workers and what they own, by Redis' clock.
package struct Owners: Sendable {
  package var at: WallTime
  /// Those that live, in the order of their names.
  package var workers: [WorkerReport]
  package var partitions: [PartitionOwner]

  /// Prunes that wait in the workers' memory until more is known, by reason, as of their last heartbeats.
  package func waitingPrunes(of credential: CredentialID) -> [String: Int] {
    var reasons: [String: Int] = [:]
    for worker in workers {
      for sending in worker.sendings where sending.credential == credential {
        reasons.merge(sending.waitingPrunes) { $0 + $1 }
      }
    }
    return reasons
  }

  /// How many wait so, of the credentials of which any do.
  package var waitingPrunes: [CredentialID: Int] {
    var counts: [CredentialID: Int] = [:]
    for sending in workers.flatMap(\.sendings) where !sending.waitingPrunes.isEmpty {
      counts[sending.credential, default: 0] += sending.waitingPrunes.values.reduce(0, +)
    }
    return counts
  }

  package var unowned: [Int] { partitions.filter { $0.worker == nil }.map(\.partition) }
  /// Ascending.
  package func partitions(of worker: UInt64) -> [Int] { partitions.filter { $0.worker == worker }.map(\.partition) }
}

extension Workers {
  /// In one pipeline, without a lock. Workers whose last heartbeat is older than `leaseMilliseconds` are left out.
  package func owners() async throws(StoreError) -> Owners {
    let partitions = Array(0..<settings.partitions)
    let replies = try await ask(
      [
        RedisCommand("TIME"), RedisCommand("ZRANGE", keys.workers, "0", "-1", "WITHSCORES"),
        RedisCommand("HGETALL", keys.workerReports),
      ] + partitions.map { RedisCommand("HMGET", keys.lease($0), "o", "u", "e", "w") })
    let time = replies[0].array ?? []
    let now = WallTime(
      milliseconds: (time.first?.integer ?? 0) * 1_000 + (time.count > 1 ? time[1].integer ?? 0 : 0) / 1_000)

    var reports: [[UInt8]: [UInt8]] = [:]
    for (name, packed) in pairs(replies[2].array ?? []) { reports[name] = packed }
    var workers: [WorkerReport] = []
    for (name, score) in pairs(replies[1].array ?? []) {
      guard let serial = Workers.serial(String(decoding: name, as: UTF8.self)),
        let beat = Double(String(decoding: score, as: UTF8.self)).flatMap({ Int64(exactly: $0.rounded()) }),
        now - WallTime(milliseconds: beat) <= settings.leaseMilliseconds
      else { continue }
      // One whose report cannot be read lives all the same.
      var report =
        reports[name].flatMap { try? WorkerReport(serial: serial, packed: $0) }
        ?? WorkerReport(serial: serial, host: "", process: 0, startedAt: WallTime(milliseconds: 0))
      report.boundCounts()
      report.beatAt = WallTime(milliseconds: beat)
      workers.append(report)
    }
    workers.sort { $0.name < $1.name }

    let owners = zip(partitions, replies.dropFirst(3)).map { partition, reply in
      let fields = reply.array ?? []
      func text(_ place: Int) -> String? { fields.indices.contains(place) ? fields[place].text : nil }
      let until = text(1).flatMap { StoredNumber.read($0) } ?? 0
      let isHeld = text(0).map { !$0.isEmpty } == true && until > now.milliseconds
      return PartitionOwner(
        partition: partition, worker: isHeld ? text(3).flatMap { Workers.serial($0) } ?? 0 : nil,
        epoch: text(2).flatMap { StoredNumber.read($0) } ?? 0, until: WallTime(milliseconds: until))
    }
    return Owners(at: now, workers: workers, partitions: owners)
  }
}
