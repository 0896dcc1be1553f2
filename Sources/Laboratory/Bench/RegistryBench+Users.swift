import Domain
import Glibc
import Loop
import RedisClient
import Store

/// What users with many devices cost: `limits.devices_per_user` allows up to 10,000, and each message to a user reads all of
/// theirs.
extension RegistryBench {
  struct User: Sendable {
    var devices: Int
    /// Milliseconds of one more device, and of reading all; middle of several.
    var change = 0.0
    var read = 0.0
    /// Of one reading.
    var readOwn = 0.0
    var readRedis = 0.0
    /// The longest command of Redis in all of it.
    var slowest: Int64 = 0
  }

  /// Besides a usual one: the default bound, and what an operator may set.
  static let userSizes = [3, 500, 2_000, 10_000]
  private static let appOfUsers = AppID(rawValue: "bench-users")
  private static let repeats = 15

  func users(_ store: Store, _ server: Redis, _ loop: EventLoop, _ redis: pid_t, _ result: inout Result) async throws {
    var population = BenchPopulation(provider: provider)
    for size in Self.userSizes {
      let name = "user-\(size)"
      var devices = (0..<size).map { population.device($0) }
      for index in devices.indices {
        devices[index].id = DeviceID(rawValue: "\(name)-\(index)")
        devices[index].user = name
      }
      for start in stride(from: 0, to: size, by: Self.batch) {
        for entry in try await store.devices.put(
          Array(devices[start..<min(size, start + Self.batch)]), app: Self.appOfUsers)
        {
          guard case .stored = entry else { throw Failure(reason: "a user's device was refused: \(entry)") }
        }
      }
      _ = try await server.call(RedisCommand("SLOWLOG", "RESET"))
      var user = User(devices: size)
      var times: [Double] = []
      for device in devices.prefix(Self.repeats) {
        // It goes and comes back, as its owner signs out and in.
        var away = device
        away.user = nil
        _ = try await store.devices.put([away], app: Self.appOfUsers)
        let began = loop.now
        _ = try await store.devices.put([device], app: Self.appOfUsers)
        times.append(Double(loop.now.nanoseconds - began.nanoseconds) / 1e6)
      }
      user.change = Self.middle(times)
      times = []
      let (own, others) = (ProcessTimes.ownMicroseconds, ProcessTimes.microseconds(of: redis))
      for _ in 0..<Self.repeats {
        let began = loop.now
        let found = try await store.users.devices(ofUser: name, app: Self.appOfUsers)
        guard found.count == size else { throw Failure(reason: "\(name) has \(found.count) devices") }
        times.append(Double(loop.now.nanoseconds - began.nanoseconds) / 1e6)
      }
      user.read = Self.middle(times)
      user.readOwn = Double(ProcessTimes.ownMicroseconds - own) / Double(Self.repeats)
      user.readRedis = Double(ProcessTimes.microseconds(of: redis) - others) / Double(Self.repeats)
      try await noteSlow("a user of \(size) devices", server, &result)
      user.slowest = result.slow.last?.longest ?? 0
      result.users.append(user)
    }
  }

  private static func middle(_ times: [Double]) -> Double { times.sorted()[times.count / 2] }
}
