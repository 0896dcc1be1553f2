import Domain
import RedisClient

/// Workers find each other by heartbeat (design D5). Holds nothing but its session, on whose loop it is used. A worker that
/// does not answer is listed until the time of a lease has passed.
package struct Workers: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Tells that this worker lives; all that do, in an order that is the same for all. Who has not been heard for the time of
  /// a lease is gone. A worker's serial is drawn anew at each start.
  package func beat(_ report: WorkerReport) async throws(StoreError) -> [UInt64] {
    let reply = try await ask(
      Scripts.beat, keys: [keys.workers, keys.workerReports],
      [.number(settings.leaseMilliseconds), .text(report.name), .bytes(report.packed)])
    return (reply.array ?? []).compactMap { $0.text.flatMap { Self.serial($0) } }
  }

  /// A worker's serial as its name has it.
  static func serial(_ name: String) -> UInt64? { Whole.read(name, in: 0...UInt64.max, radix: 16) }

  /// Its share goes to the others at once.
  package func leave(worker serial: UInt64) async throws(StoreError) {
    let name = String(serial, radix: 16)
    _ = try await ask([RedisCommand("ZREM", keys.workers, name), RedisCommand("HDEL", keys.workerReports, name)])
  }
}
