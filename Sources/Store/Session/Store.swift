import Domain
package import Loop
package import RedisClient
import TLS

/// Why the store did not do what it was asked.
package enum StoreError: Error, Hashable, Sendable {
  /// Redis is away, loading, full or slow: nothing is known to have been done. Worth a retry after `retryAfter`
  /// seconds.
  case unavailable(String, retryAfter: Int)
  /// Another owner holds the partition: stop writing for it.
  case leaseLost(partition: Int)
  /// The store cannot be used as it is; the text names the fix.
  case unusable(String)
}

/// How a store is laid out and what it may use. Of these only `partitions` is compared with what others have set.
package struct StoreSettings: Sendable {
  /// Fixed when a store is created, checked at `open`.
  package var partitions = 16
  package var leaseMilliseconds: Int64 = 10_000
  /// How long replicas may take to confirm a message.
  package var replicaMilliseconds: Int64 = 1_000
  package var retentionSeconds: Int64 = 7 * 86_400
  /// Bound of the finished records of the whole store.
  package var retentionBytes: Int64 = 4 << 30
  package var idempotencySeconds: Int64 = 86_400
  /// Entries of an app's audit are kept so long, and so many of each trail: sends, and all else.
  package var auditSeconds: Int64 = 90 * 86_400
  package var auditActs = 100_000
  package var auditSends = 500_000
  /// A session of the console ends so long after its last request, and so long after it began.
  package var consoleIdleMilliseconds: Int64 = 1_800_000
  package var consoleMilliseconds: Int64 = 43_200_000
  package var targetsPerJob = 500
  /// A user with more is a placeholder such as `guest`, not a person. At most 10,000.
  package var devicesPerUser = 500
  /// How Redis is, is asked this often.
  package var probeMilliseconds: Int64 = 1_000
  /// Accepts stop at this share of Redis' `maxmemory`.
  package var memoryShare = 0.85
  /// Where API and workers of one process hand on what was accepted; nil: workers read it from Redis.
  package var recentMessages: RecentMessages?
  /// Prefix of every key, for several stores in one Redis.
  package var prefix = "ff"
  package init() {}
}

/// Everything Fanfare keeps (design D4–D10): the only module that knows key names and scripts. The door to its parts, which
/// share one session. Belongs to one loop; API and workers on different loops have one each. It does nothing by itself
/// but connect.
package final class Store {
  package let session: RedisSession

  // Messages.
  package let acceptance: MessageAcceptance
  package let control: MessageControl
  package let schedule: MessageSchedule
  package let replays: Replays
  package let drafts: Drafts
  package let testLists: TestLists
  package let channels: ChannelOwners
  let spread: MessageSpread

  // The queue, for its workers.
  package let leases: Leases
  package let workers: Workers
  package let queue: JobQueue
  package let outcomes: OutcomeWriter
  package let unsent: UnsentMessages
  package let sweep: PartitionSweep
  package let rates: Rates
  package let limitBuckets: LimitBuckets
  package let scheduledCounts: ScheduledCounts
  package let caps: CapCounts
  package let recipients: RecipientCounts
  package let tallies: Tallies
  /// What the apps did, by hour and minute.
  package let activity: Activity
  package let conditions: CredentialConditions

  // Audiences.
  package let audiences: AudienceSearch
  package let namedAudiences: NamedAudiences
  package let audienceStarts: AudienceStarts
  package let members: AudienceMembers

  // Devices.
  package let devices: DeviceRegistry
  package let records: DeviceRecords
  package let tokens: TokenOwners
  package let users: UserIndex
  package let tags: DeviceTags
  package let export: DeviceExport
  package let prunes: Prunes
  package let pruneBrakes: PruneBrakes
  package let importForecast: ImportForecast
  package let registryCheck: RegistryCheck
  let arrivals: DeviceArrivals
  let intents: ImportIntents
  let numbers: DeviceNumbers

  // What became of messages.
  package let reports: MessageReports
  package let deliveries: DeliveryReports
  package let timelines: Timelines
  package let archive: MessageArchive

  // Who may ask, and who has.
  package let keyring: APIKeyring
  package let consoleSessions: ConsoleSessions
  package let audit: AuditTrail

  /// Connects in the background and again whenever the connection is lost.
  package init(loop: EventLoop, redis endpoint: RedisEndpoint, settings: StoreSettings) {
    session = RedisSession(loop: loop, redis: endpoint, settings: settings)
    acceptance = MessageAcceptance(session)
    control = MessageControl(session)
    schedule = MessageSchedule(session)
    replays = Replays(session)
    drafts = Drafts(session)
    testLists = TestLists(session)
    channels = ChannelOwners(session)
    spread = MessageSpread(session)
    leases = Leases(session)
    workers = Workers(session)
    queue = JobQueue(session)
    outcomes = OutcomeWriter(session)
    unsent = UnsentMessages(session)
    sweep = PartitionSweep(session)
    rates = Rates(session)
    limitBuckets = LimitBuckets(session)
    scheduledCounts = ScheduledCounts(session)
    caps = CapCounts(session)
    recipients = RecipientCounts(session)
    tallies = Tallies(session)
    activity = Activity(session)
    conditions = CredentialConditions(session)
    audiences = AudienceSearch(session)
    namedAudiences = NamedAudiences(session)
    audienceStarts = AudienceStarts(session)
    members = AudienceMembers(session)
    devices = DeviceRegistry(session)
    records = DeviceRecords(session)
    tokens = TokenOwners(session)
    users = UserIndex(session)
    tags = DeviceTags(session)
    export = DeviceExport(session)
    prunes = Prunes(session)
    pruneBrakes = PruneBrakes(session)
    importForecast = ImportForecast(session)
    registryCheck = RegistryCheck(session)
    arrivals = DeviceArrivals(session)
    intents = ImportIntents(session)
    numbers = DeviceNumbers(session)
    reports = MessageReports(session)
    deliveries = DeliveryReports(session)
    timelines = Timelines(session)
    archive = MessageArchive(session)
    keyring = APIKeyring(session)
    consoleSessions = ConsoleSessions(session)
    audit = AuditTrail(session)
  }

  /// What waits for an answer fails. Nothing may be asked afterwards.
  package func close() {
    acceptance.close()
    keyring.close()
    session.close()
  }
}
