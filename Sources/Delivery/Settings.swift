package import Domain
package import HTTP2

/// What a worker needs to know; see each policy for its vendor's values. Times are milliseconds throughout.
package struct WorkerSettings: Sendable {
  package var lane = LaneSettings()
  /// Replaces the vendor's values (`RetrySettings.vendor`) of a provider.
  package var retry: [ProviderName: RetrySettings] = [:]
  package var gate = GateSettings()
  package var brake = PruneBrakeSettings()
  package var concurrency = ConcurrencySettings()
  package var bulkWindow = BulkWindowSettings()
  package var pool = PoolSettings()
  package var claim = ClaimSettings()
  package var flush = FlushSettings()
  package var slice = SliceSettings()
  package var http2 = HTTP2Settings()
  package var connectionsPerCredential = 2
  /// Deliveries a second of an app; without an entry as fast as it goes.
  package var rates: [AppID: Int] = [:]
  /// Requests that a vendor's account may make; without an entry as many as go.
  package var quotas: [ProviderName: QuotaSettings] = [:]
  /// PEM file of authorities for providers; nil: the system's.
  package var caFile: String?
  /// A request over HTTP/1.1 without an answer after this long has an unknown outcome (OneSignal advises at least 60 s).
  package var http1Timeout: Int64 = 60_000
  /// A request for an access token.
  package var authorizationTimeout: Int64 = 15_000
  /// Messages kept decoded and rendered although no delivery of theirs is in memory.
  package var idleMessages = 256
  /// Expired deliveries, passed holds and lost doorbells are looked for this often.
  package var sweepInterval: Int64 = 1_000
  package init() {}
}

package struct QuotaSettings: Hashable, Sendable {
  /// 0: no quota, and no ramp.
  package var perMinute: Int
  /// Milliseconds in which bulk grows to the whole quota; 0: it begins with that.
  package var ramp: Int64
  package init(perMinute: Int, ramp: Int64) {
    self.perMinute = perMinute
    self.ramp = ramp
  }
  /// A minute's quota in 61 seconds, so that what is granted ahead stays within it.
  var perSecond: Double { Double(perMinute) / 61 }
}

package struct LaneSettings: Sendable {
  /// Requests at work per token. Ordered direct sends go one after the other whatever this says.
  package var concurrency = 1
  /// A direct send that failed holds later ones until this long after its first attempt.
  package var orderHold: Int64 = 60_000
  package init() {}
}

/// How long a delivery waits before it goes again.
package struct RetrySettings: Sendable {
  /// First wait per cause, a floor that jitter never undercuts.
  package var floors: [Retry.Cause: Int64] = [:]
  package var base: Int64 = 1_000
  package var maximum: Int64 = 3_600_000
  /// Attempts that count: those answered by a wait of the connection or the credential do not.
  package var attempts = 10
  /// After an unknown outcome: go again at once, with the same id, this often before waiting.
  package var resendsAtOnce = 0
  package init() {}

  /// The vendors' values: `protocols/apns.md` section 10, `fcm.md` section 5, `onesignal.md` section 7.
  package static func vendor(_ provider: ProviderName) -> RetrySettings {
    var settings = RetrySettings()
    switch provider {
    case .apns:
      settings.floors = [
        .serverFault: 900_000, .tokenBusy: 30_000, .quota: 60_000, .closing: 0, .authorizationTooNew: 60_000,
      ]
      settings.maximum = 14_400_000
      settings.resendsAtOnce = 1
    case .fcm:
      settings.floors = [
        .serverFault: 10_000, .tokenBusy: 60_000, .quota: 60_000, .unknownOutcome: 10_000,
        .authorizationTooNew: 60_000,
      ]
      settings.base = 10_000
    case .oneSignal:
      // Its API answers within 100 s at most: after that no first request can still be at work beside a second.
      settings.floors = [.serverFault: 2_000, .quota: 2_000, .unknownOutcome: 100_000]
      settings.base = 2_000
      settings.maximum = 600_000
    default:
      settings.floors = [.serverFault: 10_000, .tokenBusy: 30_000, .quota: 60_000]
    }
    return settings
  }
}

package struct GateSettings: Sendable {
  /// A blocked credential is tried with one delivery this often.
  package var probeInterval: Int64 = 30_000
  /// After so many 5xx or lost answers without any other between them only probes go, at first after the retry policy's base, then
  /// twice as long each time, up to `probeInterval`.
  package var failuresInARow = 50
  /// The longest wait of a credential that runs into its quota again and again.
  package var maximumWait: Int64 = 900_000
  package init() {}
}

package struct PoolSettings: Sendable {
  package var reconnectBase: Int64 = 250
  package var reconnectMaximum: Int64 = 30_000
  /// Failed connects in a row before the credential is shown as blocked.
  package var failuresToReport = 3
  package init() {}
}

package struct ClaimSettings: Sendable {
  /// Deliveries of one credential in memory, waiting or at work.
  package var room = 8_000
  /// Jobs asked for at a time; a job has 1…500 targets.
  package var jobsAtOnce = 64
  /// Members of an audience asked for at a time.
  package var membersAtOnce = 1_000
  /// Audiences looked for at a time that are due to start in a partition.
  package var startsAtOnce = 8
  /// Streams that hold jobs at work are looked at again this often: their doorbell does not ring for further jobs.
  package var pollInterval: Int64 = 25
  /// Due retries taken from one partition at a time.
  package var retriesAtOnce = 500
  /// Deliveries whose hold is kept in memory while they wait in the retry set, per credential. With more, the
  /// credential claims nothing new.
  package var holds = 100_000
  package init() {}
}

package struct FlushSettings: Sendable {
  /// Outcomes gathered before a flush goes out, and how long they are gathered.
  package var outcomes = 256
  package var interval: Int64 = 5
  /// Outcomes of a loop that no flush has confirmed: with so many, no stream opens.
  package var unflushed = 2_000
  /// Pause before a flush that got no reply is repeated.
  package var repeatAfter: Int64 = 200
  package init() {}
}

package struct SliceSettings: Sendable {
  /// Members are gathered this long before a slice that is not full closes.
  package var gather: Int64 = 5
  /// How long a stored slice waits for members that have not been claimed again before it goes without them.
  package var reunion: Int64 = 5_000
  package init() {}
}
