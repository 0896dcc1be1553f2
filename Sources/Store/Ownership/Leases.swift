import Domain
import Loop
import RedisClient
import TLS

extension Lease {
  /// What scripts compare for equality.
  var owner: String { "\(epoch)-\(String(nonce, radix: 16))" }
}

/// Takes and gives back the leases of partitions (design D5). Owns what this process has seen of the leases of others.
/// Belongs to the loop of its session. It watches no deadline: the owner does, before it sends.
package final class Leases: StorePart {
  let session: RedisSession
  private var leaseWatch = LeaseWatch()

  init(_ session: RedisSession) { self.session = session }

  /// Takes or renews the lease; nil: another owner holds it, or has held it until a moment ago: a lease that nobody
  /// gave back is free once this store has seen it unchanged for its whole time. `worker`: the serial of who asks,
  /// shown to operators.
  package func take(_ partition: Int, renewing: Lease? = nil, worker: UInt64 = 0) async throws(StoreError) -> Lease? {
    let nonce = renewing?.nonce ?? SecureRandom.word()
    let asked = loop.now
    let arguments: [RedisArgument] = [
      .text(String(nonce, radix: 16)), .number(settings.leaseMilliseconds), .text(String(worker, radix: 16)),
      .bytes(leaseWatch.ended(partition, now: asked, after: settings.leaseMilliseconds) ?? []),
    ]
    let reply: [RedisReply]
    do throws(StoreError) {
      let keys = [keys.lease(partition)]
      reply =
        if let renewing {
          try await ask(Scripts.lease, keys: keys, arguments, under: renewing).array ?? []
        } else {
          try await ask(Scripts.lease, keys: keys, [""] + arguments, partition: partition).array ?? []
        }
    } catch .leaseLost {
      return nil
    }
    // What was claimed under another lease is no longer of use.
    if renewing == nil { session.forget(partition) }
    guard let epoch = reply.first?.integer else {
      if let stamp = reply.last?.bytes { leaseWatch.saw(stamp, of: partition, now: loop.now) }
      return nil
    }
    leaseWatch.forget(partition)
    let lease = Lease(
      partition: partition, epoch: epoch, nonce: nonce, deadline: asked + settings.leaseMilliseconds * 3 / 4)
    if renewing == nil { session.fences[partition] = LeaseFence(lease) }
    return lease
  }

  /// Looks at the leases of these partitions, which others may hold, so that `take` knows in time which have run out.
  package func watch(of partitions: [Int]) async throws(StoreError) {
    let replies = try await ask(partitions.map { RedisCommand("HMGET", keys.lease($0), "o", "v") })
    let now = loop.now
    for (partition, reply) in zip(partitions, replies) {
      let fields = reply.array ?? []
      guard fields.count == 2, let owner = fields[0].bytes, !owner.isEmpty else {
        leaseWatch.forget(partition)
        continue
      }
      leaseWatch.saw(owner + [UInt8(ascii: " ")] + (fields[1].bytes ?? []), of: partition, now: now)
    }
  }

  /// Gives the lease back and tells the other workers. A lease that another owner has taken meanwhile is left alone.
  package func release(_ lease: Lease) async throws(StoreError) {
    _ = try await ask(
      Scripts.release, keys: [keys.lease(lease.partition)],
      [.text(lease.owner), .text(keys.wakeup), .number(Int64(lease.partition))], partition: lease.partition)
    session.forget(lease.partition)
  }
}
