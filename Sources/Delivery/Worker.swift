package import Domain
package import HTTP2
import HTTPClient
package import Loop
package import Store
import TLS
package import Telemetry

/// What a worker needs to know; see each policy for its vendor's values.
package struct WorkerSettings: Sendable {
  package var lane = LaneSettings()
  package var retry: [ProviderName: RetrySettings] = [:]
  package var http2 = HTTP2Settings()
  package var connectionsPerCredential = 2
  /// PEM file of authorities for providers; nil: the system's.
  package var caFile: String?
  package init() {}
}

package struct LaneSettings: Sendable {
  /// Requests at work per token.
  package var concurrency = 1
  /// Milliseconds that a direct send in backoff holds later ones.
  package var orderHold: Int64 = 60_000
  package init() {}
}

/// Milliseconds throughout.
package struct RetrySettings: Sendable {
  /// First wait per cause, a floor that jitter never undercuts.
  package var floors: [Retry.Cause: Int64] = [:]
  package var base: Int64 = 1_000
  package var maximum: Int64 = 3_600_000
  package var attempts = 10
  package init() {}
}

/// One loop's share of the sending: leases partitions, claims jobs, keeps lanes, sends, judges, flushes.
package final class Worker {
  package init(
    loop: EventLoop, store: Store, accounts: [CredentialID: any ProviderAccount], settings: WorkerSettings,
    metrics: Metrics, log: Log, decode: @escaping ([UInt8]) throws -> Message
  ) { preconditionFailure("not built yet") }

  /// Works until `stop`; returns when drained: nothing at work, everything flushed, leases released.
  package func run() async {}
  /// Stops claiming; what is at work finishes or goes back within `grace` milliseconds.
  package func stop(grace: Int64) {}
}
