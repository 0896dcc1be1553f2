package import Domain
import RedisClient

extension Store {
  /// The devices with these numbers, in order; nil where there is none, or one that got its number after `bornBefore`.
  package func devices(
    numbers: [Int], partition: Int, app: AppID, bornBefore: WallTime?
  ) async throws(StoreError) -> [StoredDevice?] {
    let replies = try await ask(
      numbers.map { RedisCommand("HGET", keys.record(partition, app, $0), String($0 % 32)) }, partition: partition)
    return replies.map { reply in
      guard let record = reply.bytes.flatMap({ try? DeviceRecord(packed: $0) }) else { return nil }
      if let bornBefore, record.bornAt > bornBefore { return nil }
      return record.stored
    }
  }
}
