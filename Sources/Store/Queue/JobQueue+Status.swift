package import Domain
import RedisClient

extension JobQueue {
  /// Credentials that some worker has something to send for, now: not what waits for a retry or a time.
  package func credentials() async throws(StoreError) -> Set<CredentialID> {
    var found: Set<CredentialID> = []
    for partition in 0..<settings.partitions {
      for (stream, _) in try await streams(of: partition) { found.insert(stream.credential) }
    }
    return found
  }

  /// Jobs, retries and records that could not be read, of all partitions, a few of them at a time.
  package func status() async throws(StoreError) -> QueueStatus {
    var status = QueueStatus(jobs: [:], retries: 0, oldest: nil, quarantined: 0)
    for first in stride(from: 0, to: settings.partitions, by: Self.partitionsAtOnce) {
      let some = Array(first..<min(settings.partitions, first + Self.partitionsAtOnce))
      try await add(some, to: &status)
    }
    return status
  }
  private static let partitionsAtOnce = 128

  private func add(_ partitions: [Int], to status: inout QueueStatus) async throws(StoreError) {
    let heads = try await ask(
      partitions.flatMap { partition in
        [
          RedisCommand("SMEMBERS", keys.ready(partition)), RedisCommand("ZCARD", keys.retry(partition)),
          RedisCommand("GET", keys.corrupt(partition)),
        ]
      })
    var streams: [StreamID] = []
    for (place, partition) in partitions.enumerated() {
      streams += (heads[place * 3].array ?? []).compactMap(\.text).compactMap {
        StreamID(partition: partition, name: $0)
      }
      status.retries += Int(heads[place * 3 + 1].integer ?? 0)
      status.quarantined += Int(heads[place * 3 + 2].text.flatMap { StoredNumber.read($0) } ?? 0)
    }
    let replies = try await askInTurns(
      streams.flatMap { stream in
        let key = keys.stream(stream.partition, stream.name)
        return [RedisCommand("XLEN", key), RedisCommand("XRANGE", key, "-", "+", "COUNT", "1")]
      })
    for (place, stream) in streams.enumerated() {
      guard let length = replies[place * 2].integer, length > 0 else { continue }
      status.jobs[stream] = Int(length)
      guard let fields = replies[place * 2 + 1].array?.first?.array?.last?.array, fields.count > 1,
        let id = fields[1].bytes.flatMap({ MessageID(raw: Array($0.prefix(16))) })
      else { continue }
      status.oldestByStream[stream] = id.acceptedAt
      status.oldest = min(status.oldest ?? id.acceptedAt, id.acceptedAt)
    }
  }
}
