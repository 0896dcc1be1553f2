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

  /// Jobs, retries and records that could not be read, of all partitions.
  package func status() async throws(StoreError) -> QueueStatus {
    var status = QueueStatus(jobs: [:], retries: 0, oldest: nil, quarantined: 0)
    for partition in 0..<settings.partitions {
      let streams = try await streams(of: partition)
      for (stream, length) in streams { status.jobs[stream] = length }
      let replies = try await ask(
        [RedisCommand("ZCARD", keys.retry(partition)), RedisCommand("GET", keys.corrupt(partition))]
          + streams.map { RedisCommand("XRANGE", keys.stream(partition, $0.stream.name), "-", "+", "COUNT", "1") })
      status.retries += Int(replies[0].integer ?? 0)
      status.quarantined += Int(replies[1].integer ?? 0)
      for (stream, reply) in zip(streams, replies.dropFirst(2)) {
        guard let fields = reply.array?.first?.array?.last?.array, fields.count > 1,
          let id = fields[1].bytes.flatMap({ MessageID(raw: Array($0.prefix(16))) })
        else { continue }
        status.oldestByStream[stream.stream] = id.acceptedAt
        status.oldest = min(status.oldest ?? id.acceptedAt, id.acceptedAt)
      }
    }
    return status
  }
}
