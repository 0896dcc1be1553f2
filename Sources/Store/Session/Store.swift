package import Domain
package import Loop
package import RedisClient
import TLS

package enum StoreError: Error, Hashable, Sendable {
  /// Redis is away, loading, full or slow: nothing is known to have been done. Worth a retry after `retryAfter`
  /// seconds.
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
  /// How long replicas may take to confirm a message.
  package var replicaMilliseconds: Int64 = 1_000
  package var retentionSeconds: Int64 = 7 * 86_400
  /// Bound of the finished records of the whole store.
  package var retentionBytes: Int64 = 4 << 30
  package var idempotencySeconds: Int64 = 86_400
  package var targetsPerJob = 500
  /// A user with more is a placeholder such as `guest`, not a person. At most 10,000.
  package var devicesPerUser = 500
  /// How Redis is, is asked this often.
  package var probeMilliseconds: Int64 = 1_000
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
  let loop: EventLoop
  let redis: Redis
  let keys: Keys
  let endpoint: RedisEndpoint
  let probe: HealthProbe
  let receipts: ReplicaReceipts
  let acceptQueue: AcceptQueue
  /// This store over the connection of messages that replicas must confirm, once there was one.
  var confirming: Store?
  private var subscriber: RedisSubscriber?
  /// By partition: what ties the lease that was granted last to the history that granted it.
  var fences: [Int: LeaseFence] = [:]
  /// Called with Redis' words when Redis has lost writes that it had confirmed to an owner here.
  package var onHistoryEnd: (String) -> Void = { _ in }
  /// Called when Redis may have: its data has another history than before. Each renewal of a lease tells.
  package var onOtherHistory: () -> Void = {}
  /// By partition: whose message a claimed job is, until a flush finishes it or the lease is gone.
  var claimed: [Int: [JobID: MessageID]] = [:]
  /// By partition: inline messages that were claimed.
  var inlineMessages: [Int: InlineMessageBook] = [:]
  /// Made at the first start of the store, the same for all its processes: cursors are known by it. Known when it is
  /// open.
  package internal(set) var cursorSecret: [UInt8] = []
  /// By partition: audience parts at work, until they end or the lease is gone.
  var audiences: [Int: [MessageID: AudienceShard]] = [:]
  /// … and which messages are audiences, until their part has ended and their jobs are finished. Deliveries reach the
  /// owner only through doors that enter theirs here, so one that is missing is a direct send, or has nothing left to
  /// do.
  var audienceMessages: [Int: Set<MessageID>] = [:]
  /// By partition and hour: when the finished records of that hour end, as Redis told it last.
  var segmentEnds: [Int: [Int64: WallTime]] = [:]
  /// By partition: how many of the messages that an error brake looks after were looked at in this round.
  var brakesLooked: [Int: Int] = [:]
  /// By partition: messages whose retries a flush at work puts out of turn, and how many flushes.
  var parking: [Int: [MessageID: Int]] = [:]
  var leaseWatch = LeaseWatch()
  var snapshots = SnapshotCache()
  var keyCache = KeyCache()
  var shelf = WordShelf()
  var tagListing: TagListing?
  var untold = Untold()
  // Tests have fewer tags and devices.
  var tagListingLimit = TagListing.longest
  var devicesPerStep = Store.usualStep
  /// Script runs of one search for a timeline.
  var timelineSteps = 500
  var randomWords = RandomWords()

  /// Connects in the background and again whenever the connection is lost.
  package init(loop: EventLoop, redis endpoint: RedisEndpoint, settings: StoreSettings) {
    precondition((1...Int(UInt16.max)).contains(settings.partitions), "1 to 65,535 partitions")
    precondition(settings.targetsPerJob > 0 && settings.leaseMilliseconds > 0)
    self.loop = loop
    self.settings = settings
    self.endpoint = endpoint
    keys = Keys(prefix: settings.prefix, partitions: settings.partitions)
    redis = Redis(loop: loop, endpoint: endpoint, scripts: Scripts.all)
    probe = HealthProbe(loop: loop, redis: redis, settings: settings)
    receipts = ReplicaReceipts(redis: redis)
    acceptQueue = AcceptQueue(redis: redis, loop: loop, keys: keys, settings: settings)
    redis.onChange = { [weak self] isReady in
      self?.forgetRead()
      self?.probe.connectionChanged(isReady: isReady)
    }
    probe.onOtherHistory = { [weak self] in
      self?.forgetRead()
      self?.onOtherHistory()
    }
  }

  package func close() {
    probe.stop()
    onHistoryEnd = { _ in }
    onOtherHistory = {}
    confirming?.close()
    subscriber?.close()
    subscriber = nil
    redis.close()
  }

  /// False while Redis is away.
  package var isAvailable: Bool { redis.isReady }

  /// How Redis is, not older than a second.
  package var condition: StoreCondition { probe.condition }

  /// Called on the loop when another kind of condition begins.
  package func onCondition(_ changed: @escaping (StoreCondition) -> Void) { probe.onChange = changed }

  /// Has Redis say that it is there, unless it has only just said something. Ask before work that somebody waits for: a
  /// Redis that does not answer, as one that is stopped, is found within `soundMilliseconds`, and whoever asks while
  /// that is known is refused at once.
  package func makeSure() async throws(StoreError) {
    if !condition.takesQuestions { try checkCondition() }
    guard loop.now - redis.heardAt > Self.freshMilliseconds else { return }
    do throws(RedisFault) {
      _ = try await redis.call(RedisCommand("PING"), timeout: Self.soundMilliseconds)
    } catch {
      switch error {
      case .timedOut:
        probe.silent(for: Self.soundMilliseconds)
        try checkCondition()
      // It answers, if only to say that it is busy: what is asked next is told so.
      case .refused: return
      default: break
      }
      throw StoreError(error, 0)
    }
  }
  /// An answer so young shows that Redis is there.
  private static let freshMilliseconds: Int64 = 20
  /// With the accuracy of timeouts and the rest of a request less than a second.
  private static let soundMilliseconds: Int64 = 750

  /// Nothing is asked of a Redis that would refuse it or not answer: what is refused here waits nowhere.
  func checkCondition() throws(StoreError) {
    let condition = condition
    guard !condition.takesWrites else { return }
    throw .unavailable(condition.detail, retryAfter: condition.retryAfter)
  }

  /// The partition of a device.
  package func partition(of device: DeviceID, in app: AppID) -> Int { keys.partition((app.rawValue, device.rawValue)) }

  /// The id of a token that is registered under none: UUIDv5 of app, provider, environment and token.
  package static func derivedID(of address: Address, in app: AppID) -> DeviceID {
    let name = [app.rawValue, address.provider.rawValue, address.environment.rawValue, address.token]
    return DeviceID(
      rawValue: UUIDBytes.v5(namespace: tokenNamespace, name: Array(name.joined(separator: "\0").utf8)).description)
  }

  /// The id of what an installation registers. It tells nothing of the installation, whose id nobody can guess.
  package static func derivedID(of device: Device, in app: AppID, of installation: InstallationID) -> DeviceID {
    let name = [app.rawValue, installation.text, installation.slot(of: device)]
    return DeviceID(
      rawValue: UUIDBytes.v5(namespace: installationNamespace, name: Array(name.joined(separator: "\0").utf8))
        .description)
  }

  /// Part of the stored layout, as the next.
  private static let installationNamespace = UUIDBytes(high: 0x6661_6e66_6172_6540, low: 0x8069_6e73_7461_6c31)
  private static let tokenNamespace = UUIDBytes(high: 0x6661_6e66_6172_6540, low: 0x8074_6f6b_656e_7331)

  /// What was claimed under a lease that is gone is of no use.
  func forget(_ partition: Int) {
    claimed[partition] = nil
    inlineMessages[partition] = nil
    audiences[partition] = nil
    audienceMessages[partition] = nil
    segmentEnds[partition] = nil
    brakesLooked[partition] = nil
  }

  /// A Redis that was connected anew may be another one, or may have lost its last writes: what was read of it may be
  /// untrue.
  private func forgetRead() {
    shelf.clear()
    snapshots = SnapshotCache()
  }

  // MARK: Doorbells

  /// Called on the loop when a stream got its first job, a message was controlled, or (`.reconnected`) rings may have
  /// been lost.
  package func onWakeup(_ ring: @escaping (Wakeup) -> Void) {
    subscriber?.close()
    subscriber = RedisSubscriber(loop: loop, endpoint: endpoint, channels: [keys.wakeup]) { event in
      switch event {
      case .reconnected: ring(.reconnected)
      case .message(_, let payload): if let wakeup = Wakeup(payload: payload) { ring(wakeup) }
      }
    }
  }
}

extension Wakeup {
  init?(payload: [UInt8]) {
    let words = String(decoding: payload, as: UTF8.self).split(separator: " ", maxSplits: 2)
    switch words.first {
    case "w":
      guard words.count == 3, let partition = StoredNumber.partition(words[1]),
        let stream = StreamID(partition: partition, name: String(words[2]))
      else { return nil }
      self = .work(stream)
    case "s":
      guard words.count == 2, let partition = StoredNumber.partition(words[1]) else { return nil }
      self = .start(partition)
    case "c":
      let parts = words.last?.split(separator: " ") ?? []
      guard words.count == 3, parts.count == 2, let partition = StoredNumber.partition(words[1]),
        let id = MessageID(String(parts[0])),
        let control = Control(packed: parts[1])
      else { return nil }
      self = .controlled(id, partition: partition, control)
    case "l":
      guard words.count == 2, let partition = StoredNumber.partition(words[1]) else { return nil }
      self = .released(partition)
    case "b": self = .braked
    default: return nil
    }
  }
}
