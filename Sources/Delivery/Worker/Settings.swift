package import Domain
package import HTTP2

/// What a worker needs to know; see each policy for its vendor's values. Times are milliseconds throughout.
package struct WorkerSettings: Sendable {
  package var lane = LaneSettings()
  /// Of every provider: what it declares, or what the operator has put in its place.
  package var retry: [ProviderName: RetryRules] = [:]
  package var breaker = BreakerSettings()
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
  package var quotas: [ProviderName: Quota] = [:]
  /// PEM file of authorities for providers; nil: the system's.
  package var caFile: String?
  /// A request over HTTP/1.1 without an answer after this long has an unknown outcome (OneSignal advises at least 60
  /// s).
  package var http1Timeout: Int64 = 60_000
  /// A request for an access token.
  package var authorizationTimeout: Int64 = 15_000
  /// Messages kept decoded and rendered although no delivery of theirs is in memory.
  package var idleMessages = 256
  /// Expired deliveries, passed order barriers and lost wakeups are looked for this often.
  package var sweepInterval: Int64 = 1_000
  package init() {}
}

package struct LaneSettings: Sendable {
  /// Requests at work per token. Ordered direct sends go one after the other whatever this says.
  package var concurrency = 1
  /// A direct send that failed holds later ones until this long after its first attempt.
  package var orderHold: Int64 = 60_000
  package init() {}
}

package struct BreakerSettings: Sendable {
  /// A blocked credential is tried with one delivery this often.
  package var probeInterval: Int64 = 30_000
  /// After so many deliveries whose first request got a 5xx or no answer, without any other answer between them, only
  /// probes go.
  package var failuresInARow = 50
  /// The first of these probes wait so long each, or for the retry policy's base if that is less; the later ones twice
  /// as long each time, up to `probeInterval`.
  package var firstPause: Int64 = 250
  package var quickProbes = 8
  /// A probe without an answer for so long lets another one try; those behind it wait twice as long each time, up to
  /// `probeInterval`. At most so many are at work at once.
  package var probePatience: Int64 = 1_000
  package var probesAtOnce = 16
  /// The longest wait of a credential that runs into its quota again and again.
  package var maximumWait: Int64 = 900_000
  /// However long a provider asks to wait, one delivery tries after this.
  package var longestPause: Int64 = 3_600_000
  /// So many failures in a row are told of as a condition of the credential, though it sends on.
  package var failuresToTell = 5
  /// The same of refusals of messages for one reason.
  package var refusalsToTell = 20
  /// So few failures, or refused messages, are told of where no push was taken for so long.
  package var failuresOfAllToTell = 2
  package var recently: Int64 = 120_000
  package init() {}
}

package struct PoolSettings: Sendable {
  package var reconnectBase: Int64 = 250
  package var reconnectMaximum: Int64 = 30_000
  /// Connections that end with their first request, in a row and without an answer on any other, before the next one
  /// waits; and the longest of these waits, where the peer can be reached.
  package var replacedAtOnce = 4
  package var refusedMaximum: Int64 = 1_000
  /// Connections for suspects at a time, beside those of all others.
  package var asideMaximum = 4
  /// The first request of a connection keeps the others waiting for so long, and then another connection is opened: so
  /// often they open at most where nothing is answered. At most so many wait for such an answer: as many as open until
  /// the first has timed out.
  package var provePatience: Int64 = 500
  package var stuckMaximum = 60
  /// The same of connections for suspects.
  package var asideStuckMaximum = 16
  /// Over HTTP/1.1, where a request has a connection of its own: without an answer for so long it takes up no place,
  /// and at most so many are at work beside those that do.
  package var latePatience: Int64 = 250
  package var lateMaximum = 120
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
  /// Streams that hold jobs at work are looked at again this often: no wakeup comes for further jobs.
  package var pollInterval: Int64 = 25
  /// Due retries taken from one partition at a time.
  package var retriesAtOnce = 500
  /// Deliveries whose order barrier is kept in memory while they wait in the retry set, per credential. With more, the
  /// credential claims nothing new.
  package var barriers = 100_000
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
