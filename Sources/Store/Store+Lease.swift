import Domain
import Loop
import RedisClient
import TLS

extension Lease {
  /// What scripts compare for equality.
  var owner: String { "\(epoch)-\(String(nonce, radix: 16))" }
}

extension Store {
  /// Takes or renews the lease; nil: another owner holds it.
  /// `worker`: the serial of who asks, shown to operators.
  package func lease(_ partition: Int, renewing: Lease? = nil, worker: UInt64 = 0) async throws(StoreError) -> Lease? {
    let nonce = renewing?.nonce ?? SecureRandom.word()
    let asked = loop.now
    let reply = try await ask(
      Scripts.lease, keys: [keys.lease(partition)],
      [
        .text(renewing?.owner ?? ""), .text(String(nonce, radix: 16)), .number(settings.leaseMilliseconds),
        .text(String(worker, radix: 16)),
      ], partition: partition)
    // What was claimed under another lease is no longer of use.
    if renewing == nil || reply.isNull { forget(partition) }
    guard let epoch = reply.integer else { return nil }
    return Lease(
      partition: partition, epoch: epoch, nonce: nonce, deadline: asked + settings.leaseMilliseconds * 3 / 4)
  }

  package func release(_ lease: Lease) async throws(StoreError) {
    _ = try await ask(
      Scripts.release, keys: [keys.lease(lease.partition)],
      [.text(lease.owner), .text(keys.bell), .number(Int64(lease.partition))], partition: lease.partition)
    forget(lease.partition)
  }
}
