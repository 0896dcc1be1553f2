package import Domain
import Loop
import RedisClient

/// One connection to Redis and what goes with it: keys, settings, the probe of its health, and what this process keeps in
/// memory for the parts of the store. Belongs to one loop; API and workers on different loops have one each. While Redis is
/// away, what is asked fails: nothing waits here, and nothing is repeated.
package final class RedisSession: StorePart {
  package let settings: StoreSettings
  let loop: EventLoop
  let redis: Redis
  let keys: Keys
  let endpoint: RedisEndpoint
  let probe: HealthProbe
  private var subscriber: RedisSubscriber?
  /// By partition: what ties the lease that was granted last to the history that granted it.
  var fences: [Int: LeaseFence] = [:]
  /// Called with Redis' words when Redis has lost writes that it had confirmed to an owner here.
  package var onHistoryEnd: (String) -> Void = { _ in }
  /// Called when Redis may have: its data has another history than before. Each renewal of a lease tells.
  package var onOtherHistory: () -> Void = {}
  /// Made at the first start of the store, the same for all its processes: cursors are known by it. Known when it is
  /// open.
  package internal(set) var cursorSecret: [UInt8] = []
  let owned = OwnedPartitions()
  let registry = RegistryMemory()
  var snapshots = SnapshotCache()
  /// Script runs of one search for a timeline.
  var timelineSteps = 500

  /// Connects in the background and again whenever the connection is lost.
  init(loop: EventLoop, redis endpoint: RedisEndpoint, settings: StoreSettings) {
    precondition((1...Int(UInt16.max)).contains(settings.partitions), "1 to 65,535 partitions")
    precondition(settings.targetsPerJob > 0 && settings.leaseMilliseconds > 0)
    self.loop = loop
    self.settings = settings
    self.endpoint = endpoint
    keys = Keys(prefix: settings.prefix, partitions: settings.partitions)
    redis = Redis(loop: loop, endpoint: endpoint, scripts: Scripts.all)
    probe = HealthProbe(loop: loop, redis: redis, settings: settings)
    redis.onChange = { [weak self] isReady in
      self?.forgetRead()
      self?.probe.connectionChanged(isReady: isReady)
    }
    probe.onOtherHistory = { [weak self] in
      self?.forgetRead()
      self?.onOtherHistory()
    }
  }

  var session: RedisSession { self }

  func close() {
    probe.stop()
    onHistoryEnd = { _ in }
    onOtherHistory = {}
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
    let answer = await sounding.value { [self] in
      do throws(RedisFault) {
        return .success(try await redis.call(RedisCommand("PING"), timeout: Self.soundMilliseconds))
      } catch {
        return .failure(error)
      }
    }
    guard case .failure(let fault) = answer else { return }
    switch fault {
    case .timedOut:
      probe.silent(for: Self.soundMilliseconds)
      try checkCondition()
    // It answers, if only to say that it is busy: what is asked next is told so.
    case .refused: return
    default: break
    }
    throw StoreError(fault, 0)
  }
  /// All who ask while Redis is asked whether it is there.
  private let sounding = SharedWork<Result<RedisReply, RedisFault>>()
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

  /// What was claimed under a lease that is gone is of no use.
  func forget(_ partition: Int) { owned.forget(partition) }

  /// A Redis that was connected anew may be another one, or may have lost its last writes: what was read of it may be
  /// untrue.
  private func forgetRead() {
    registry.shelf.clear()
    snapshots = SnapshotCache()
  }

  /// Called on the loop when a stream got its first job, a message was controlled, or (`.reconnected`) wakeups may have
  /// been lost.
  package func onWakeup(_ woken: @escaping (Wakeup) -> Void) {
    subscriber?.close()
    subscriber = RedisSubscriber(loop: loop, endpoint: endpoint, channels: [keys.wakeup]) { event in
      switch event {
      case .reconnected: woken(.reconnected)
      case .message(_, let payload): if let wakeup = Wakeup(payload: payload) { woken(wakeup) }
      }
    }
  }
}
