import CLaboratory
import Glibc
import Processes
import Sandbox

/// What a fault may do beside breaking the stack.
struct ChaosHands {
  /// Hands rules to the vendors' stand-ins.
  let rules: (String) throws -> Void
  /// How often they have really played a fault, over all vendors.
  let played: (FaultKind) throws -> Int
  /// Messages that begin from now on count as accepted when a replica has them, or when they are stored.
  let insist: (Bool) throws -> Void
  /// Messages on their way that count as accepted when they are stored.
  let unconfirmed: () throws -> Int
  /// Deliveries that were accepted until now.
  let sent: () -> Int
  /// Those of them that have not ended yet.
  let open: () -> Int
  let failed: () -> Bool
}

/// Everything that is broken, one thing at a time. Each is over, and mended, when it returns.
enum ChaosFault: String, CaseIterable {
  case killWorker = "kill -9 of a worker"
  case stopWorker = "SIGSTOP of a worker for longer than its lease"
  case drainWorker = "SIGTERM of a worker"
  case killAPI = "kill -9 of the API"
  case restartRedis = "kill -9 of Redis"
  case pauseRedis = "a Redis that does not answer"
  case fullDisk = "a full disk below Redis"
  case stall = "a provider that stalls"
  case reset = "streams reset"
  case goaway = "a storm of GOAWAY"
  case oneStream = "SETTINGS of one stream"
  case certificate = "a certificate that has ended"
  case busy = "429 and 503"
  case slowConsumer = "a provider that takes its time"
  case clockJump = "a worker's clock that jumps"
  case failover = "a failover to a replica without the last writes"

  /// How many workers may have lost what they knew of answers: all of them lose their leases with a Redis that is away.
  func losers(of workers: Int) -> Int {
    switch self {
    case .killWorker, .stopWorker: 1
    case .restartRedis, .pauseRedis, .fullDisk, .failover: workers
    default: 0
    }
  }

  /// Throws what ends the run; returns what was not as promised, be it that the fault itself did not come about.
  func play(_ stack: ChaosStack, _ random: inout ChaosRandom, _ hands: ChaosHands) throws -> String? {
    let worker = random.below(stack.workers.count)
    switch self {
    case .killWorker: try stack.killWorker(worker)
    case .stopWorker:
      stack.workers[worker].child.signal(SIGSTOP)
      pause(ChaosStack.lease * 5 / 4 + random.below(ChaosStack.lease / 2))
      stack.workers[worker].child.signal(SIGCONT)
    case .drainWorker:
      if try !stack.drainWorker(worker) { return "it did not end with 0 within its time" }
    case .killAPI: try stack.killAPI()
    case .restartRedis:
      stack.redis.destroy()
      pause(random.below(800))
      try stack.redis.startAgain()
    case .pauseRedis:
      stack.redis.signal(SIGSTOP)
      pause(300 + random.below(1_500))
      stack.redis.signal(SIGCONT)
    case .fullDisk: if try !fillDisk(stack) { return "Redis took no notice of it" }
    case .failover:
      let trouble = try failOver(stack, &random, hands)
      try hands.rules("[]")
      // The operator has mended the credential, and says so.
      for worker in stack.workers { worker.child.signal(SIGHUP) }
      try hands.insist(false)
      return trouble
    case .clockJump:
      var isSeen = true
      for seconds in [15, -15, 0] {
        stack.moveClock(seconds)
        pause(seconds == 0 ? 100 : 1_200)
        if seconds != 0, !stack.clockIsMoved(by: seconds) { isSeen = false }
      }
      if !isSeen { return "the worker took no notice of it" }
    default:
      let before = try hands.played(kind)
      try hands.rules(script)
      pause(500 + random.below(600))
      let deadline = Clock.milliseconds + Self.patience
      while try hands.played(kind) == before, Clock.milliseconds < deadline { pause(20) }
      let isPlayed = try hands.played(kind) > before
      try hands.rules(self == .oneStream ? Self.manyStreams : "[]")
      if self == .oneStream {
        pause(300)
        try hands.rules("[]")
      }
      if !isPlayed { return "the vendors' stand-ins never met a request to play it on" }
    }
    return nil
  }

  /// Milliseconds until a fault has to have come about.
  private static let patience = 15_000

  /// What a replica has confirmed must survive, whatever the workers have claimed, sent and written down since the replica
  /// ceased to follow. A suspended credential leaves thousands of claimed deliveries in their memory meanwhile.
  private func failOver(_ stack: ChaosStack, _ random: inout ChaosRandom, _ hands: ChaosHands) throws -> String? {
    func wait(_ condition: () throws -> Bool) rethrows -> Bool {
      let deadline = Clock.milliseconds + Self.longPatience
      while try !condition() {
        if Clock.milliseconds >= deadline || hands.failed() { return false }
        pause(20)
      }
      return true
    }
    try hands.insist(true)
    guard try wait({ try hands.unconfirmed() == 0 }), try wait({ try stack.replicaFollows() }) else {
      return "the replica did not follow"
    }
    let before = try hands.played(.reply)
    try hands.rules(#"[{"provider":"apns","status":403,"reason":"InvalidProviderToken"}]"#)
    let sent = hands.sent()
    guard try wait({ try hands.played(.reply) > before }) else { return "the credential was not suspended" }
    guard wait({ hands.open() >= Self.claimed && hands.sent() >= sent + Self.confirmed }) else {
      return "\(hands.sent() - sent) deliveries were accepted meanwhile, and \(hands.open()) are open"
    }
    try stack.replica?.promote()
    pause(200 + random.below(600))
    try stack.failOver()
    pause(300 + random.below(600))
    return nil
  }

  /// Deliveries that have not ended at the failover, and how many of them were accepted while the credential was suspended.
  private static let claimed = 2_000
  private static let confirmed = 500
  private static let longPatience = 60_000

  /// Redis ends itself when its log cannot grow and every write has to be on disk before its answer. Whether it did.
  private func fillDisk(_ stack: ChaosStack) throws -> Bool {
    let isLimited = fanfare_limit_file_size(stack.redis.id, 0) == 0
    let deadline = Clock.milliseconds + Self.patience
    while isLimited, stack.redis.isRunning, Clock.milliseconds < deadline { pause(5) }
    let hasEnded = !stack.redis.isRunning
    pause(200)
    stack.redis.destroy()
    try stack.redis.startAgain()
    return hasEnded
  }

  /// What the stand-ins count while they play it.
  private var kind: FaultKind {
    switch self {
    case .stall: .stall
    case .reset: .reset
    case .goaway: .goaway
    case .oneStream: .streams
    case .certificate: .certificate
    case .busy: .reply
    case .slowConsumer: .delay
    default: preconditionFailure("no fault of a vendor")
    }
  }

  private func pause(_ milliseconds: Int) { usleep(UInt32(milliseconds) * 1_000) }

  /// The rules of a fault that the vendors' stand-ins play.
  private var script: String {
    func both(_ rest: String) -> String {
      "[\(["apns", "fcm"].map { "{\"provider\":\"\($0)\",\(rest)}" }.joined(separator: ","))]"
    }
    switch self {
    case .stall: return both(#""action":"stall","delay_ms":1200,"times":2"#)
    case .reset:
      return #"""
        [{"provider":"apns","action":"reset","code":2,"when":"after","share":0.3,"times":80,"times_per_token":1},
         {"provider":"fcm","action":"reset","code":2,"when":"after","share":0.3,"times":40,"times_per_token":1},
         {"provider":"apns","action":"reset","code":7,"share":0.3,"times":80},
         {"provider":"onesignal","action":"close","times":1}]
        """#
    case .goaway: return both(#""action":"goaway","after":20,"times":12,"share":0.05"#)
    case .oneStream: return both(#""action":"settings","streams":1,"times":4"#)
    case .certificate:
      return #"""
        [{"provider":"apns","action":"certificate","certificate":"expired","times":3},
         {"provider":"apns","action":"goaway","times":4},
         {"provider":"fcm","action":"certificate","certificate":"other_host","times":2},
         {"provider":"fcm","action":"goaway","times":2}]
        """#
    case .busy:
      return #"""
        [{"provider":"apns","status":429,"reason":"TooManyRequests","share":0.2,"times":100,"times_per_token":1},
         {"provider":"fcm","status":429,"reason":"QUOTA_EXCEEDED","retry_after":1,"times":2},
         {"provider":"apns","status":503,"reason":"ServiceUnavailable","share":0.2,"times":100},
         {"provider":"fcm","status":503,"reason":"UNAVAILABLE","retry_after":1,"share":0.2,"times":50}]
        """#
    case .slowConsumer: return both(#""delay_ms":400,"when":"after""#)
    default: return "[]"
    }
  }

  private static let manyStreams = """
    [{"provider":"apns","action":"settings","streams":\(ChaosStack.streams),"times":8},
     {"provider":"fcm","action":"settings","streams":\(ChaosStack.streams),"times":8}]
    """
}

/// SplitMix64: the same seed, the same run of faults.
struct ChaosRandom {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func below(_ bound: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return Int((z ^ z >> 31) % UInt64(max(1, bound)))
  }

  /// All kinds, in an order of its own.
  mutating func round() -> [ChaosFault] {
    var left = ChaosFault.allCases
    return (0..<left.count).map { _ in left.remove(at: below(left.count)) }
  }
}
