/// What a benchmark tells, by the name it has in JSON.
enum Metric: String, CaseIterable, Sendable {
  case rate = "notifications_per_second"
  case gateway = "gateway_us"
  case redis = "redis_us"
  case together = "gateway_and_redis_us"
  case responder = "responder_us"
  case h2load = "h2load_us"
  case ratio = "gateway_to_h2load"
  case redisRatio = "redis_to_h2load"
  case instructions = "instructions"
  case cost = "cost_to_baseline"
  case clean = "rate_to_clean"
  case memory = "gateway_mib"
  case queued = "redis_queued_bytes"
  case proof = "redis_proof_bytes"
  case slow = "redis_commands_over_1ms"
  case slowest = "redis_slowest_us"
  case accepts = "accepted_per_second"
  case acceptCPU = "api_us"
  case median = "p50_ms"
  case late = "p99_ms"
  case worst = "max_ms"
  case taken = "p50_accepted_ms"
  case takenLate = "p99_accepted_ms"
  case scheduled = "redis_scheduled_bytes"
  case held = "redis_held_bytes"
  case idle = "idle_cpu_percent"
  case creating = "create_seconds"
  case moving = "move_seconds"
  case createCPU = "create_us"
  case moveCPU = "move_us"
  case moveRatio = "move_to_create"

  var title: String {
    switch self {
    case .rate: "notifications/s"
    case .gateway: "CPU µs each: gateway"
    case .redis: "CPU µs each: Redis"
    case .together: "CPU µs each: gateway and Redis"
    case .responder: "CPU µs each: responder"
    case .h2load: "CPU µs each: h2load, same run"
    case .ratio: "gateway ÷ h2load"
    case .redisRatio: "Redis ÷ h2load"
    case .instructions: "instructions in user space each"
    case .cost: "CPU ÷ CPU of what it is compared with"
    case .clean: "rate ÷ rate without it"
    case .memory: "gateway memory at its peak, MiB"
    case .queued: "Redis bytes of the message while it is sent"
    case .proof: "Redis bytes of its proof"
    case .slow: "Redis commands over 1 ms"
    case .slowest: "longest Redis command, µs"
    case .accepts: "accepted/s"
    case .acceptCPU: "CPU µs each: API"
    case .median: "middle, ms"
    case .late: "99 of 100, ms"
    case .worst: "longest, ms"
    case .taken: "of that until it was accepted, middle, ms"
    case .takenLate: "until it was accepted, 99 of 100, ms"
    case .scheduled: "Redis bytes of an audience that is scheduled"
    case .held: "Redis bytes of an audience that is held"
    case .idle: "idle CPU, % of a core"
    case .creating: "seconds for devices under chosen ids"
    case .moving: "seconds for their tokens under other ids"
    case .createCPU: "CPU µs each of the former: gateway and Redis"
    case .moveCPU: "CPU µs each of the latter: gateway and Redis"
    case .moveRatio: "CPU of the latter ÷ of the former"
    }
  }

  var lessIsBetter: Bool {
    switch self {
    case .rate, .clean, .accepts: false
    default: true
    }
  }

  /// Comparable between machines, or nearly so.
  var isRatio: Bool {
    switch self {
    case .ratio, .redisRatio, .instructions, .cost, .clean, .moveRatio: true
    default: false
    }
  }
}

/// What one run measured.
struct Reading: Sendable {
  var values: [Metric: Double] = [:]
  /// What has gone wrong, if anything: a figure without it counts.
  var faults: [String] = []
  subscript(metric: Metric) -> Double? {
    get { values[metric] }
    set { values[metric] = newValue }
  }

  /// Urgent sends, from the client's request to the provider's door: nanoseconds by token; milliseconds until accepted.
  mutating func latency(_ sent: [String: Int64], _ taken: [Double], _ came: [String: Int64]) {
    let times = sent.compactMap { token, time in came[token].map { Double($0 - time) / 1e6 } }.sorted()
    guard let worst = times.last else { return }
    self[.median] = times[times.count / 2]
    self[.late] = times[times.count * 99 / 100]
    self[.worst] = worst
    let taken = taken.sorted()
    if !taken.isEmpty {
      self[.taken] = taken[taken.count / 2]
      self[.takenLate] = taken[taken.count * 99 / 100]
    }
    if times.count < sent.count { faults.append("\(sent.count - times.count) urgent sends did not arrive") }
  }
}

/// Several runs of one scenario.
struct Spread: Sendable {
  var median: Double
  var low: Double
  var high: Double

  /// Nil of nothing.
  init?(_ values: [Double]) {
    let sorted = values.sorted()
    guard let low = sorted.first, let high = sorted.last else { return nil }
    self.low = low
    self.high = high
    let middle = sorted.count / 2
    median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }

  static func of(_ readings: [Reading]) -> [Metric: Spread] {
    var spreads: [Metric: Spread] = [:]
    for metric in Metric.allCases { spreads[metric] = Spread(readings.compactMap { $0[metric] }) }
    return spreads
  }
}
