import Domain
import RedisClient

/// What cannot be read is not sent and not forgotten: its deliveries end as `failed: corrupt_record`, so that the message
/// completes and its sums hold.
extension Store {
  /// Deliveries of a message that no readable job of the stream carries, as one of its jobs could not be read.
  func condemnLost(of message: MessageID, _ lease: Lease, _ stream: StreamID) async throws(StoreError) {
    let partition = lease.partition
    let work = try await ask(RedisCommand("HMGET", keys.work(partition, message), "s", "n", "t"), partition: partition)
    guard let fields = work.array, fields.count == 3, let base = fields[0].integer, let count = fields[1].integer,
      let list = fields[2].bytes.flatMap({ try? TargetList(packed: $0) })
    else { return }
    // A message's jobs have the places that its part was given.
    let entries = try await ask(
      RedisCommand("XRANGE", keys.stream(partition, stream.name), String(base), String(base + count)),
      partition: partition)
    let carried = Self.carried(entries, of: message, stream)
    let lost = list.entries.indices.filter {
      list.entries[$0].credential == stream.credential && !carried.contains($0)
    }
    try await condemn(message, lost, list, lease, odd: 0, waiting: false)
  }

  /// Deliveries in the retry set whose record cannot be read.
  func condemnWaiting(of message: MessageID, _ indexes: [Int], _ lease: Lease) async throws(StoreError) {
    let partition = lease.partition
    let packed = try await ask(RedisCommand("HGET", keys.work(partition, message), "t"), partition: partition).bytes
    let list = packed.flatMap { try? TargetList(packed: $0) } ?? TargetList()
    try await condemn(message, indexes, list, lease, odd: indexes.count, waiting: true)
  }

  private func condemn(
    _ message: MessageID, _ indexes: [Int], _ list: TargetList, _ lease: Lease, odd: Int, waiting: Bool
  ) async throws(StoreError) {
    guard !indexes.isEmpty else { return }
    let partition = lease.partition
    let here = keys.home(message) == partition
    var arguments: [RedisArgument] = [
      .text(lease.owner), .bytes(message.raw), .number(message.hour), .number(settings.retentionSeconds),
      here ? "1" : "0", .number(Int64(odd)), waiting ? "1" : "0",
    ]
    for index in indexes {
      let provider = list.entries.indices.contains(index) ? list.entries[index].provider : nil
      let record = DeliveryRecord(
        state: .final(.failed, reason: Self.corruptReason, providerID: nil), provider: provider)
      let counter = CounterName(provider: provider, outcome: .failed, reason: Self.corruptReason)
      arguments += [.number(Int64(index)), .bytes(record.head), .bytes(counter.field)]
    }
    let told = try await ask(
      Scripts.condemn,
      keys: [
        keys.lease(partition), keys.finished(partition), keys.retry(partition), keys.segments(partition),
        keys.odd(partition), keys.work(partition, message), keys.deliveries(partition, message),
        keys.slices(partition, message), here ? keys.message(message) : keys.work(partition, message),
        keys.segment(partition, message.hour),
      ], arguments, partition: partition)
    tellHome(endings(told), from: partition)
  }
}
