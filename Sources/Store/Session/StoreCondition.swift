import Domain
import Loop
import RedisClient

/// How Redis is, as far as one store knows. Seen by its `HealthProbe`.
package enum StoreCondition: Hashable, Sendable {
  case ready
  /// It answers, and takes its time: all goes on, and who sends too much is refused by the limits of its own requests.
  case slow(milliseconds: Int64)
  /// No connection; why, as far as known.
  case away(String?)
  /// Connected, and nothing comes back.
  case stalled(milliseconds: Int64)
  /// Reading its data after a start.
  case loading
  /// A replica: a failover has taken its place from it.
  case readOnly
  case full(String)
  /// A script runs for longer than a script may; not one of this program.
  case busy
  /// It cannot write its snapshot or log, mostly because the disk is full.
  case diskFault(String)
  /// Refused for another reason, in Redis' words.
  case refused(String)

  /// Stable: readiness and metrics tell it.
  package var word: String {
    switch self {
    case .ready: "store_ready"
    case .slow: "store_slow"
    case .away: "store_unavailable"
    case .stalled: "store_stalled"
    case .loading: "store_loading"
    case .readOnly: "store_read_only"
    case .full: "store_full"
    case .busy: "store_busy"
    case .diskFault: "store_disk_fault"
    case .refused: "store_refused"
    }
  }
  /// All words of `word`: for metrics, which show each of them as 0 or 1.
  package static let words = [
    "store_ready", "store_slow", "store_unavailable", "store_stalled", "store_loading", "store_read_only", "store_full",
    "store_busy", "store_disk_fault", "store_refused",
  ]

  /// Something can be accepted.
  package var takesWrites: Bool {
    switch self {
    case .ready, .slow: true
    default: false
    }
  }

  /// Something can be asked.
  package var takesQuestions: Bool {
    switch self {
    case .away, .stalled, .loading: false
    case .ready, .slow, .readOnly, .full, .busy, .diskFault, .refused: true
    }
  }

  /// For operators: what it is, and what mends it.
  package var detail: String {
    switch self {
    case .ready: "Redis accepts writes"
    case .slow(let milliseconds): "Redis took \(milliseconds) ms to answer: check its CPU, disk and SLOWLOG"
    case .away(let reason):
      "Redis cannot be reached\(reason.map { " (\($0))" } ?? ""); the gateway reconnects automatically"
    case .stalled(let milliseconds): "Redis has not answered for \(milliseconds) ms: check its CPU, disk and SLOWLOG"
    case .loading: "Redis is loading its data after a start; no message is accepted until it has finished"
    case .readOnly:
      "Redis is a read-only replica: point redis.url at the primary; the gateway reconnects every second until then"
    case .full(let text): "\(text): no message is accepted until its memory use shrinks or maxmemory is raised"
    case .busy: "Redis is busy with another client's script that does not end: end it with SCRIPT KILL"
    case .diskFault(let text): "Redis cannot write to its disk: make room there (\(text))"
    case .refused(let text): "Redis refuses writes: \(text)"
    }
  }

  /// Seconds after which a client may try again.
  package var retryAfter: Int {
    switch self {
    case .ready, .slow, .away: 1
    case .stalled, .busy, .readOnly, .refused: 2
    case .loading, .diskFault: 5
    case .full: 10
    }
  }

  init(_ refusal: RedisRefusal) {
    switch refusal.code {
    case .loading: self = .loading
    case .readOnly: self = .readOnly
    case .outOfMemory: self = .full("Redis has no memory left")
    case .busy: self = .busy
    case .misconfigured: self = .diskFault(refusal.text)
    default: self = .refused(refusal.text)
    }
  }
}

/// Asks Redis regularly how it is: a script that writes nothing and is refused for the same reasons as one that writes,
/// and the figures of its memory and replicas. Belongs to its store.
final class HealthProbe {
  private let interval: Int64
  /// No answer for so long is told as stalled.
  private static let stalledAfter: Int64 = 1_000
  /// An answer that took longer is told as slow.
  private static let slowAfter: Int64 = 250

  private let loop: EventLoop
  private let redis: Redis
  private let memoryShare: Double
  private var timer: Timer?
  /// The script that waits for its answer.
  private var asked: Instant?
  private var seen = StoreCondition.ready
  private var told = StoreCondition.ready
  private(set) var memory = MemoryWatch()
  /// Replicas that follow, when last asked.
  private(set) var replicas = 0
  /// Redis' name for the history of its data, when last asked: another one after a failover or a restart.
  private var history: String?
  var onOtherHistory: () -> Void = {}
  /// Milliseconds by which this machine's clock is ahead of Redis'.
  private(set) var clockOffset: Int64?
  private(set) var skew: ClockSkew?
  var onChange: (StoreCondition) -> Void = { _ in }
  var onSkew: (ClockSkew?) -> Void = { _ in }

  init(loop: EventLoop, redis: Redis, settings: StoreSettings) {
    self.loop = loop
    self.redis = redis
    memoryShare = settings.memoryShare
    interval = settings.probeMilliseconds
    beat()
  }

  func stop() {
    if let timer { loop.cancel(timer) }
    timer = nil
    onChange = { _ in }
    onOtherHistory = {}
    onSkew = { _ in }
  }

  var condition: StoreCondition {
    guard redis.isReady else {
      // Left on purpose, to look for the primary.
      if seen == .readOnly, redis.trouble == nil { return seen }
      if let refusal = redis.lastRefusal { return StoreCondition(refusal) }
      return .away(redis.trouble)
    }
    if let asked, loop.now - asked >= Self.stalledAfter { return .stalled(milliseconds: loop.now - asked) }
    if case .ready = seen, memory.share >= memoryShare {
      return .full("Redis is at \(Int(memory.share * 100)) % of its maxmemory")
    }
    return seen
  }

  /// The connection came or went.
  func connectionChanged(isReady: Bool) {
    asked = nil
    if isReady, seen != .readOnly { seen = .ready }
    tell()
  }

  func read(_ info: String) {
    let fields = InfoFields(info)
    memory.read(fields)
    replicas = fields["connected_slaves"].flatMap { StoredNumber.read(Array($0.utf8)) } ?? replicas
    guard let id = fields["master_replid"], id != history else { return }
    let isFirst = history == nil
    history = id
    if !isFirst { onOtherHistory() }
  }

  /// Somebody asked it and got no answer.
  func silent(for milliseconds: Int64) {
    seen = .stalled(milliseconds: milliseconds)
    tell()
  }

  private func beat() {
    timer = loop.after(milliseconds: interval) { [weak self] in
      guard let self else { return }
      if redis.isReady, asked == nil { ask() }
      tell()
      beat()
    }
  }

  private func ask() {
    let began = loop.now
    let wallBegan = loop.wallNow
    asked = began
    redis.send(Scripts.probe, keys: [], []) { [weak self] result in
      guard let self, asked == began else { return }
      asked = nil
      answered(result, after: loop.now - began)
      tell()
    }
    redis.send(RedisCommand("TIME")) { [weak self] result in
      guard let self, case .success(let time) = result else { return }
      compareClocks(time, began, wallBegan)
    }
    redis.send(RedisCommand("INFO", "memory", "replication")) { [weak self] result in
      guard case .success(let reply) = result, let text = reply.text else { return }
      self?.read(text)
    }
  }

  private func compareClocks(_ time: RedisReply, _ began: Instant, _ wallBegan: WallTime) {
    // Half the round trip is unknown, and this machine's own clock may have jumped in it.
    let wallNow = loop.wallNow
    let (wait, span) = (loop.now - began, wallNow - wallBegan)
    guard wait < Self.stalledAfter, span >= 0, span < 2 * Self.stalledAfter,
      let offset = Self.offset(of: time, asked: wallBegan, answered: wallNow)
    else { return }
    clockOffset = offset
    let before = skew
    skew = ClockSkew.told(before, offset: offset)
    if (skew == nil) != (before == nil) { onSkew(skew) }
  }

  /// Milliseconds by which this machine's clock was ahead of Redis' when that answered TIME.
  static func offset(of time: RedisReply, asked: WallTime, answered: WallTime) -> Int64? {
    let halfway = asked + (answered - asked) / 2
    guard let time = time.array, time.count == 2, let seconds = time[0].integer, let microseconds = time[1].integer,
      (0..<1 << 40).contains(seconds), (0..<1_000_000).contains(microseconds)
    else { return nil }
    return halfway - WallTime(milliseconds: seconds * 1_000 + microseconds / 1_000)
  }

  private func answered(_ result: Result<RedisReply, RedisFault>, after milliseconds: Int64) {
    switch result {
    case .success: seen = milliseconds > Self.slowAfter ? .slow(milliseconds: milliseconds) : .ready
    case .failure(.refused(let refusal)):
      seen = StoreCondition(refusal)
      // Names may lead to another machine by now.
      if seen == .readOnly { redis.reconnect() }
    case .failure(.timedOut): seen = .stalled(milliseconds: milliseconds)
    case .failure: break
    }
  }

  /// Each kind of trouble once, not each of its figures.
  private func tell() {
    let now = condition
    guard now.word != told.word else { return }
    told = now
    onChange(now)
  }
}

/// What `INFO memory` last said.
struct MemoryWatch {
  private(set) var share = 0.0
  private(set) var policy: String?

  mutating func read(_ fields: InfoFields) {
    policy = fields["maxmemory_policy"]
    let used = fields["used_memory"].flatMap { Double($0) } ?? 0
    let maximum = fields["maxmemory"].flatMap { Double($0) } ?? 0
    share = maximum > 0 ? used / maximum : 0
  }
}

/// `name:value` lines of INFO.
struct InfoFields {
  private var fields: [Substring: Substring] = [:]
  init(_ text: String) {
    // By bytes: by characters it took most of what an idle gateway needs.
    for line in text.utf8.split(whereSeparator: { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }) {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
      fields[Substring(line[..<colon])] = Substring(line[line.index(after: colon)...])
    }
  }
  subscript(_ name: String) -> String? { fields[Substring(name)].map(String.init) }
}
