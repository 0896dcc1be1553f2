import Domain
import Glibc
import Loop
import RedisClient
import Store

/// Stores with registered devices, made once and kept as Redis' own dumps: each run starts with a copy. Use on the main
/// thread.
final class Populations {
  private let folder = ScratchFolder()
  private var made: [String: String] = [:]

  private static let batch = DevicesCommand.defaultBatch
  static let app = AppID(rawValue: "bench")

  /// The dump of a store with so many devices.
  func dump(_ scenario: DispatchScenario, count: Int) throws -> String? {
    guard scenario.listed == nil, count > 0 else { return nil }
    return try dump(scenario.providers.map { ($0, scenario.devices($0, of: count)) })
  }

  /// `isEven`: as many devices in each of 24 zones.
  func dump(_ shares: [(provider: ProviderName, count: Int)], isEven: Bool = false) throws -> String {
    let name = (isEven ? "even-" : "") + shares.map { "\($0.provider.rawValue)-\($0.count)" }.joined(separator: "-")
    if let file = made[name] { return file }
    let place = folder.folder(name)
    // This process has the other core.
    let redis = try PrivateRedis(in: place, core: BenchStage.workerCore)
    defer { redis.stop() }
    let endpoint = RedisEndpoint(.unix(path: redis.socket))
    try Blocking.run { loop in
      let store = Store(loop: loop, redis: endpoint, settings: StoreSettings())
      defer { store.close() }
      try await store.open()
      var bar = ProgressBar("registering")
      for share in shares {
        var population = BenchPopulation(provider: share.provider)
        population.isEven = isEven
        for start in stride(from: 0, to: share.count, by: Self.batch) {
          let devices = (start..<min(share.count, start + Self.batch)).map { population.device($0) }
          for entry in try await store.put(devices, app: Self.app) {
            guard case .stored(_, .created) = entry else {
              throw BenchFailure(reason: "a device was not new: \(entry)")
            }
          }
          bar.draw(start, of: share.count)
        }
      }
      bar.end(name)
      let server = Redis(loop: loop, endpoint: endpoint)
      defer { server.close() }
      while !server.isReady { await loop.sleep(milliseconds: 1) }
      _ = try await server.call(RedisCommand("SAVE"), timeout: 120_000)
    }
    let file = "\(place)/dump.rdb"
    made[name] = file
    return file
  }
}
