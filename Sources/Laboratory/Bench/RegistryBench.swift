import Audience
import CLaboratory
import CommandFrame
import Domain
import GatewayClient
import Glibc
import JSON
import Loop
import Processes
import RedisClient
import Store

/// What a registry of many devices costs: importing, Redis memory, counting, tag changes, reading all (design: figures to
/// hold). One process on core 0 with a private Redis on another; no HTTP.
struct RegistryBench {
  var devices = 200_000
  var provider = ProviderName.apns
  /// A dump of devices that are registered already, as the dispatch benchmark keeps them: nothing is imported or checked.
  var registered: String?
  /// Nothing else is measured.
  var importsOnly = false

  struct Result: Sendable {
    var importSeconds = 0.0
    /// CPU microseconds per device.
    var importOwn = 0.0
    var importRedis = 0.0
    var repeatSeconds = 0.0
    /// Redis memory per device.
    var bytes = 0.0
    /// Name, milliseconds, members.
    var counts: [(name: String, milliseconds: Double, members: Int)] = []
    /// Milliseconds, one after the other: middle, 99th of 100, worst.
    var tagChange = (middle: 0.0, late: 0.0, worst: 0.0)
    var exportSeconds = 0.0
    var exported = 0
    /// Checking every set against the records.
    var reindexSeconds = 0.0
    /// Milliseconds for a page of 100 tags: the first one, and the middle of those behind it.
    var tagPages = (first: 0.0, behind: 0.0)
    var users: [User] = []
    var moves = Moves()
    /// Commands of Redis that took longer than a millisecond, and the longest in microseconds, by what was measured.
    var slow: [(step: String, commands: Int, longest: Int64)] = []
    var slowCommands: Int { slow.reduce(0) { $0 + $1.commands } }
    var slowest: Int64 { slow.map(\.longest).max() ?? 0 }
    var memory: Int64 = 0
    /// Devices a second of one core that does all of the import's work.
    var importRate: Double { 1e6 / max(0.001, importOwn + importRedis) }
  }

  struct Failure: Error { let reason: String }

  private static let app = AppID(rawValue: "bench")
  /// As the command line sends them.
  static let batch = Client.usualBatch

  /// On the main thread.
  func run() throws -> Result {
    // Where other processes keep both cores busy, the system puts the two on one.
    if Machine.cores > 1 { _ = fanfare_pin(Int32(BenchStage.workerCore)) }
    let folder = ScratchFolder()
    if let registered { try Populations.link(registered, into: folder) }
    let redis = try PrivateRedis(in: folder.path, core: Machine.cores > 1 ? 1 : 0)
    defer { redis.stop() }
    let id = redis.child.id
    let endpoint = RedisEndpoint(.unix(path: redis.socket))
    return try Blocking.run { [self] loop in
      let server = Redis(loop: loop, endpoint: endpoint)
      defer { server.close() }
      // Until it has loaded what is registered.
      while !server.isReady { await loop.sleep(milliseconds: 1) }
      var settings = StoreSettings()
      settings.devicesPerUser = Self.userSizes.max() ?? settings.devicesPerUser
      let store = Store(loop: loop, redis: endpoint, settings: settings)
      defer { store.close() }
      try await store.open()
      _ = try await server.call(RedisCommand("CONFIG", "SET", "slowlog-log-slower-than", "1000"))
      _ = try await server.call(RedisCommand("CONFIG", "SET", "slowlog-max-len", "100000"))
      var result = Result()
      if registered == nil {
        try await importAll(store, server, loop, id, &result)
        try await noteSlow("import", server, &result)
        try await moves(store, loop, id, &result)
        try await noteSlow("moves", server, &result)
      }
      if importsOnly { return result }
      try await count(store, loop, &result)
      try await noteSlow("counts", server, &result)
      try await changeTags(store, loop, &result)
      try await noteSlow("tag changes", server, &result)
      try await listTags(store, loop, &result)
      try await noteSlow("pages of tags", server, &result)
      try await export(store, loop, &result)
      try await noteSlow("export", server, &result)
      if registered == nil {
        try await reindex(store, loop, &result)
        try await noteSlow("reindex", server, &result)
        try await users(store, server, loop, id, &result)
      }
      result.memory = ProcessTimes.peakMemory(of: getpid())
      return result
    }
  }

  func noteSlow(_ step: String, _ server: Redis, _ result: inout Result) async throws {
    let slow = try await server.call(RedisCommand("SLOWLOG", "GET", "100000")).array ?? []
    let durations = slow.compactMap(Self.duration)
    result.slow.append((step, durations.count, durations.max() ?? 0))
    _ = try await server.call(RedisCommand("SLOWLOG", "RESET"))
  }

  /// Of a command of the gateway's; to read and to forget a long log of them takes Redis its time as well.
  private static func duration(_ entry: RedisReply) -> Int64? {
    guard let entry = entry.array, entry.count > 3, let name = entry[3].array?.first?.text else { return nil }
    return ["slowlog", "config", "info"].contains(name.lowercased()) ? nil : entry[2].integer
  }

  private func importAll(
    _ store: Store, _ server: Redis, _ loop: EventLoop, _ redis: pid_t, _ result: inout Result
  ) async throws {
    let empty = try await RedisMemory(of: server).used
    var population = BenchPopulation(provider: provider)
    var bar = ProgressBar("importing")
    // Making devices up is no part of it.
    let others = ProcessTimes.microseconds(of: redis)
    var own: Int64 = 0
    for start in stride(from: 0, to: devices, by: Self.batch) {
      let batch = (start..<min(devices, start + Self.batch)).map { population.device($0) }
      let (before, began) = (ProcessTimes.ownMicroseconds, loop.now)
      for entry in try await store.devices.put(batch, app: Self.app) {
        guard case .stored(_, .created) = entry else { throw Failure(reason: "a device was not new: \(entry)") }
      }
      result.importSeconds += Double(loop.now.nanoseconds - began.nanoseconds) / 1e9
      own += ProcessTimes.ownMicroseconds - before
      if start % (20 * Self.batch) == 0 { bar.draw(start, of: devices) }
    }
    bar.end("\(devices) devices")
    result.importOwn = Double(own) / Double(devices)
    result.importRedis = Double(ProcessTimes.microseconds(of: redis) - others) / Double(devices)
    result.bytes = Double(try await RedisMemory(of: server).used - empty) / Double(devices)
    let again = max(1, devices / 10)
    population = BenchPopulation(provider: provider)
    for start in stride(from: 0, to: again, by: Self.batch) {
      let batch = (start..<min(again, start + Self.batch)).map { population.device($0) }
      let began = loop.now
      _ = try await store.devices.put(batch, app: Self.app)
      result.repeatSeconds += Double(loop.now.nanoseconds - began.nanoseconds) / 1e9
    }
    result.repeatSeconds *= Double(devices) / Double(again)
  }

  private func count(_ store: Store, _ loop: EventLoop, _ result: inout Result) async throws {
    let expressions: [(String, Reach)] = [
      ("everyone", .allDevices), ("plan:pro && (lang:de || lang:fr) && !churned", .allDevices),
      ("city:* && app_version:>=2.3 && seen:<30d && !plan:free", .allDevices),
      ("plan:pro && (lang:de || lang:fr) && !churned", .latestDevicePerUser),
    ]
    for (text, reach) in expressions {
      let selection = AudienceSelection(expression: try AudienceExpression(parsing: text), reach: reach)
      var fastest = Double.infinity
      var members = 0
      for _ in 0..<5 {
        let began = loop.now
        members = try await store.audiences.count(selection, app: Self.app, now: BenchPopulation.now).total
        fastest = min(fastest, Double(loop.now.nanoseconds - began.nanoseconds) / 1e6)
      }
      result.counts.append((reach == .allDevices ? text : text + ", latest device", fastest, members))
    }
  }

  private func changeTags(_ store: Store, _ loop: EventLoop, _ result: inout Result) async throws {
    let some = try await store.export.page(Self.app, after: nil, limit: 2_000, tombstones: false).devices
    var times: [Double] = []
    for stored in some {
      let began = loop.now
      _ = try await store.devices.changeTags(
        of: stored.device.id, TagChange(add: ["seen-offer"], remove: ["plan:pro"]), app: Self.app)
      times.append(Double(loop.now.nanoseconds - began.nanoseconds) / 1e6)
    }
    times.sort()
    guard !times.isEmpty else { return }
    result.tagChange = (times[times.count / 2], times[times.count * 99 / 100], times[times.count - 1])
  }

  private func export(_ store: Store, _ loop: EventLoop, _ result: inout Result) async throws {
    let began = loop.now
    var place: ExportPlace?
    repeat {
      let page = try await store.export.page(Self.app, after: place, limit: 4_096, tombstones: false)
      result.exported += page.devices.count
      place = page.next
    } while place != nil
    result.exportSeconds = Double(loop.now.nanoseconds - began.nanoseconds) / 1e9
  }

  /// As a client lists them, up to a bound.
  private func listTags(_ store: Store, _ loop: EventLoop, _ result: inout Result) async throws {
    var times: [Double] = []
    var cursor: String?
    repeat {
      let began = loop.now
      cursor = try await store.tags.page(Self.app, prefix: "", limit: 100, cursor: cursor).next
      times.append(Double(loop.now.nanoseconds - began.nanoseconds) / 1e6)
    } while cursor != nil && times.count < 5
    result.tagPages.first = times[0]
    times.removeFirst()
    times.sort()
    result.tagPages.behind = times.isEmpty ? 0 : times[times.count / 2]
  }

  private func reindex(_ store: Store, _ loop: EventLoop, _ result: inout Result) async throws {
    var bar = ProgressBar("checking the sets")
    let began = loop.now
    let report = try await store.registryCheck.reindex(Self.app, repair: false) { bar.draw($0.devices, of: devices) }
    result.reindexSeconds = Double(loop.now.nanoseconds - began.nanoseconds) / 1e9
    bar.end("\(report.devices) devices")
    guard report.isClean, report.devices == devices else { throw Failure(reason: "the sets are not true: \(report)") }
  }
}
