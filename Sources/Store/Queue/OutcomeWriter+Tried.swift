package import Domain
import RedisClient

/// A delivery that was tried and has no outcome yet: an answer has made its credential wait. It stays in its worker's memory, so this
/// is only for those who ask how it stands: a worker that takes the delivery over does not read it.
package struct TriedDelivery: Sendable {
  package var delivery: DeliveryID
  /// Key of the slice in which it was requested last.
  package var slice: UUIDBytes?
  package var attempts: AttemptLog
  /// When its message ends: what is kept of it does then, too.
  package var endsAt: WallTime

  /// `attempts`: all of the delivery, flushed ones among them.
  package init(_ delivery: DeliveryID, slice: UUIDBytes?, attempts: AttemptLog, endsAt: WallTime) {
    self.delivery = delivery
    self.slice = slice
    self.attempts = attempts
    self.endsAt = endsAt
  }
}

/// What is stored of it.
struct TriedRecord {
  var slice: UUIDBytes?
  var attempts: AttemptLog

  init(_ tried: TriedDelivery) { (slice, attempts) = (tried.slice, tried.attempts) }

  var packed: [UInt8] {
    var packer = Packer()
    packer.byte(slice == nil ? 0 : 1)
    if let slice { packer.uuid(slice) }
    packer.append(attempts.packed)
    return packer.bytes
  }

  init(packed: [UInt8]) throws(Corrupt) {
    var reader = Unpacker(packed)
    slice = try reader.byte() == 1 ? try reader.uuid() : nil
    attempts = try AttemptLog(&reader)
  }
}

extension OutcomeWriter {
  /// Milliseconds that attempts stay readable behind the last one.
  private static let triedMilliseconds: Int64 = 86_400_000

  /// Keeps the attempts of these until they have records.
  package func keep(_ tried: [TriedDelivery], now: WallTime) async throws(StoreError) {
    var commands: [RedisCommand] = []
    for (key, some) in Dictionary(grouping: tried, by: { keys.tried($0.delivery.partition, $0.delivery.message) }) {
      let life = min(Self.triedMilliseconds, (some.map(\.endsAt).max() ?? now) - now)
      guard life > 0 else { continue }
      var command = RedisCommand("HSET", key)
      for one in some {
        command.append(one.delivery.index)
        command.append(TriedRecord(one).packed)
      }
      commands.append(command)
      commands.append(RedisCommand("PEXPIRE", key, String(life)))
    }
    _ = try await ask(commands)
  }

  /// By index, of those among `indexes` that were tried and are not known to have ended.
  func tried(_ id: MessageID, _ partition: Int, _ indexes: [Int]) async throws(StoreError) -> [Int: TriedRecord] {
    guard !indexes.isEmpty else { return [:] }
    var command = RedisCommand("HMGET", keys.tried(partition, id))
    for index in indexes { command.append(index) }
    var found: [Int: TriedRecord] = [:]
    for (index, reply) in zip(indexes, try await ask(command, partition: partition).array ?? []) {
      found[index] = reply.bytes.flatMap { try? TriedRecord(packed: $0) }
    }
    return found
  }
}
