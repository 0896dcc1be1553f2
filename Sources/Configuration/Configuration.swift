package import Domain

/// The configuration file, checked as a whole. Made by `load` only.
package struct Configuration: Sendable {
  package var redis = Redis()
  package var listen = Listen()
  /// Shards of the store; fixed when a store is created.
  package var partitions = 16
  package var retention = Retention()
  package var audit = Audit()
  package var console = Console()
  package var lanes = Lanes()
  /// Of every provider, what its vendor asks for unless the file says otherwise.
  package var retry: [ProviderName: RetryRules] = [:]
  package var quotas: [ProviderName: Quota] = [:]
  package var http2 = HTTP2()
  package var workers = Workers()
  package var pruneBrake = PruneBrake()
  package var durability = Durability()
  /// Where a process tells how it is, beside its API if it has one; nil: nowhere else.
  package var monitor: Monitor?
  package var limits = Limits()
  /// Of apps that say nothing else, and of all keys.
  package var tenantLimits = TenantLimits()
  /// PEM file of the authorities by which providers are verified; nil: the system's.
  package var caFile: String?
  package var logLevel = LogLevel.info
  package var apps: [AppEntry] = []
  /// True: what is only warned of otherwise (`Setup.risks`) ends the start.
  package var isStrict = false
  /// Paths of files with keys that belong to other users than this process' and root.
  package var filesOfOthers: [String] = []

  /// The lowest level that is logged; the raw values are the words of `log_level`.
  package enum LogLevel: String, Sendable, CaseIterable { case debug, info, warning, error }

  /// Where the store is. All times in milliseconds, all sizes in bytes, throughout.
  package struct Redis: Hashable, Sendable {
    /// A unix socket of at most 107 bytes of path, or TCP. `tls`: the scheme was `rediss`.
    package enum Place: Hashable, Sendable {
      case unix(path: String)
      case tcp(host: String, port: Int, tls: Bool)
    }
    package var place = Place.tcp(host: "127.0.0.1", port: 6379, tls: false)
    package var username: String?
    package var password: String?
    package var database = 0
    package var caFile: String?
    package var prefix = "ff"
    /// How long a start waits for it.
    package var startTimeout: Int64 = 60_000
  }

  /// How workers share the partitions, and how they end.
  package struct Workers: Hashable, Sendable {
    /// How long a partition belongs to a worker that is not heard of.
    package var lease: Int64 = 10_000
    /// How long requests at work have to finish when a process ends.
    package var drain: Int64 = 10_000
    /// A blocked credential is tried with one delivery so often.
    package var probe: Int64 = 30_000
  }

  /// From which share of dead tokens prunes wait for the operator.
  package struct PruneBrake: Hashable, Sendable {
    /// Up to this share it never goes on.
    package var normalPercent = 20
    /// Up to so many times a credential's learned share it never goes on.
    package var factor = 5
    /// Verdicts before it may go on.
    package var sample = 20
  }

  /// What has to have a message before it counts as accepted, beside Redis itself.
  package struct Durability: Hashable, Sendable {
    /// Of apps and messages that say nothing else.
    package var replicas = 0
    package var timeout: Int64 = 1_000
  }

  /// The HTTP listener for `/metrics` and health alone.
  package struct Monitor: Hashable, Sendable {
    package var address = "127.0.0.1"
    package var port = 9464
    /// The listener's default: 127.0.0.1, port 9464. Port 0 takes any free one.
    package init() {}
  }

  /// Where the API listens. HTTPS needs both a certificate and a key; the reader refuses one alone.
  package struct Listen: Hashable, Sendable {
    package var address = "127.0.0.1"
    /// 0: any free one.
    package var port = 8080
    package var certificateFile: String?
    package var keyFile: String?
    package var certificate: [UInt8]?
    package var key: [UInt8]?
    package var operations = OperationsAccess.open
    /// Whose `X-Forwarded-For` says where a request comes from.
    package var trustedProxies: [AddressRange] = []

    /// Both hold from the start of a process on, but for the certificate: another one is taken at once. Whether there is
    /// one at all is no such change.
    package func isSamePlace(as other: Listen) -> Bool {
      var (one, two) = (self, other)
      guard (one.certificate == nil) == (two.certificate == nil) else { return false }
      (one.certificateFile, one.keyFile, one.certificate, one.key) = (nil, nil, nil, nil)
      (two.certificateFile, two.keyFile, two.certificate, two.key) = (nil, nil, nil, nil)
      return one == two
    }
  }

  /// Who may read `/metrics` and the details of `/readyz` at the API; the raw values are the words of
  /// `listen.operations`.
  package enum OperationsAccess: String, Sendable, CaseIterable {
    case open
    /// Whoever has a key with scope `read`.
    case key
    /// Nobody: they are at the address of `monitor`.
    case monitor
  }

  /// How long ended messages and pruned devices are kept, and how much memory they may take: 1 minute to 365 days, 1
  /// MiB to 64 TiB.
  package struct Retention: Hashable, Sendable {
    package var time: Int64 = 7 * 86_400_000
    package var bytes: Int64 = 4 << 30
  }

  /// How long entries of an app's audit are kept, 1 minute to 10 years, and how many: of sends, and of each other trail.
  package struct Audit: Hashable, Sendable {
    package var time: Int64 = 90 * 86_400_000
    package var acts = 100_000
    package var sends = 500_000
    /// Whether the log has the sends too.
    package var logSends = false
  }

  /// The pages below `/console`. Sessions end `idle` after their last request (1 minute to 24 hours), and `life` after they
  /// began (5 minutes to 30 days).
  package struct Console: Hashable, Sendable {
    package var isServed = true
    /// Shown on each page; empty: nothing is.
    package var environment = ""
    package var colour = Colour.grey
    package var idle: Int64 = 1_800_000
    package var life: Int64 = 43_200_000

    /// Behind the environment's name.
    package enum Colour: String, Hashable, Sendable, CaseIterable { case grey, blue, green, amber, red, violet }
  }

  /// The order of a token's deliveries. `concurrency`: requests at work per token, 1 to 100. `orderHold`: how long a
  /// direct send that failed holds later ones back, counted from its first attempt.
  package struct Lanes: Hashable, Sendable {
    package var concurrency = 1
    package var orderHold: Int64 = 60_000
  }

  /// Connections to providers: 1 to 64 per credential. The timeouts are those of `HTTP2Settings`.
  package struct HTTP2: Hashable, Sendable {
    package var connections = 2
    package var connectTimeout: Int64 = 10_000
    package var answerTimeout: Int64 = 30_000
    package var pingAfter: Int64 = 60_000
    package var pingTimeout: Int64 = 3_000
  }

  /// What one request, app or user may have. `docs/limits.md` says what a caller gets beyond each of them.
  package struct Limits: Hashable, Sendable {
    /// Bytes of a request's body, where none of the next two holds.
    package var body = 1 << 20
    /// Of a message. Ten thousand tokens of the usual length fit. Follows `body` where only that is given.
    package var messageBody = 4 << 20
    /// Of an NDJSON call. As many lines as it takes fit, each of two kilobytes.
    package var bulkBody = 20 << 20
    package var targets = 10_000
    package var urgentTargets = 500
    package var connections = 10_000
    package var connectionsPerAddress = 1_000
    /// Unknown keys that an address may show before it must wait.
    package var failedKeys = 60
    /// Of bodies and answers; nil: a quarter of the memory that the process may use.
    package var bytesInFlight: Int?
    /// Of these bytes, for one key and for one address.
    package var keyShare = 0.25
    package var addressShare = 0.25
    /// The largest body that any request may have.
    package var largestBody: Int { max(body, messageBody, bulkBody) }
    /// Of an app.
    package var drafts = 200
    /// Bytes of the message of a draft.
    package var draftBody = 256 << 10
    package var devicesPerUser = 500
  }
}

/// An app as configured: its routes and rules, and its credentials with the contents of their key files, not yet opened.
package struct AppEntry: Sendable {
  package var app: App
  package var credentials: [Credential]
  /// The place of each credential in the file, in the order of `credentials`: for faults found on opening one.
  package var places: [String]
  /// By which its identity tokens are verified, each with its place in the file; not yet opened.
  package var identityKeys: [(key: IdentityKey, place: String)] = []
}
