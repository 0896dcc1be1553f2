package import Domain
package import Loop
package import RedisClient

package enum StoreError: Error, Hashable, Sendable {
  /// Redis is away, loading, full or slow: nothing is known to have been done. Worth a retry after `retryAfter` seconds.
  case unavailable(String, retryAfter: Int)
  /// Another owner holds the partition: stop writing for it.
  case leaseLost(partition: Int)
  /// The store cannot be used as it is; the text names the fix.
  case unusable(String)
}

package struct StoreSettings: Sendable {
  /// Fixed when a store is created, checked at `open`.
  package var partitions = 16
  package var leaseMilliseconds: Int64 = 10_000
  package var retentionSeconds: Int64 = 7 * 86_400
  /// Bound of the finished records of the whole store.
  package var retentionBytes: Int64 = 4 << 30
  package var idempotencySeconds: Int64 = 86_400
  package var targetsPerJob = 500
  /// Accepts stop at this share of Redis' `maxmemory`.
  package var memoryShare = 0.85
  /// Prefix of every key, for several stores in one Redis.
  package var prefix = "ff"
  package init() {}
}

/// Everything Fanfare keeps (design D4–D10): the only module that knows key names and scripts. Belongs to one loop; API
/// and workers on different loops have one each.
package final class Store {
  package let settings: StoreSettings

  /// Connects in the background and again whenever the connection is lost.
  package init(loop: EventLoop, redis: RedisEndpoint, settings: StoreSettings) {
    preconditionFailure("not built yet")
  }
  /// Waits for the connection (at most `timeout`), creates or checks the layout: version, partition count, `noeviction`.
  package func open(timeout: Int64 = 5_000) async throws(StoreError) { preconditionFailure("not built yet") }
  package func close() {}
  /// False while Redis is away.
  package var isAvailable: Bool { preconditionFailure("not built yet") }

  /// The partition of a device.
  package func partition(of device: DeviceID, in app: AppID) -> Int { preconditionFailure("not built yet") }
  /// The id of a token that is registered under none: UUIDv5 of app, provider, environment and token.
  package static func derivedID(of address: Address, in app: AppID) -> DeviceID { preconditionFailure("not built yet") }
}
