import CommandFrame
import Domain
import GatewayClient
import Glibc
import Loop
import Processes
import RedisClient
import Store

/// Stores with registered devices, made once and kept as Redis' own dumps: each run starts with a copy. Use on the main
/// thread.
final class Populations {
  private let folder = ScratchFolder()
  private var made: [String: String] = [:]
  /// Where dumps stay for other runs, and are looked for.
  private let kept: String?

  /// `kept` is on the file system of temporary files, as dumps are linked.
  init(kept: String? = nil) { self.kept = kept }

  private static let batch = Client.usualBatch
  private static let savingMilliseconds: Int64 = 600_000
  static let app = AppID(rawValue: "bench")

  /// A Redis that begins in `folder` has what is in `dump`.
  static func link(_ dump: String, into folder: ScratchFolder) throws(BenchFailure) {
    guard Glibc.link(dump, folder.file("dump.rdb")) == 0 else {
      throw BenchFailure(reason: "devices cannot be linked from \(dump); is it there, on the file system of TMPDIR?")
    }
  }

  /// The dump of a store with so many devices.
  func dump(_ scenario: DispatchScenario, count: Int) throws -> String? {
    guard scenario.listed == nil, count > 0 else { return nil }
    return try dump(scenario.providers.map { ($0, scenario.devices($0, of: count)) })
  }

  /// `isEven`: as many devices in each of 24 zones.
  func dump(_ shares: [(provider: ProviderName, count: Int)], isEven: Bool = false) throws -> String {
    let name = (isEven ? "even-" : "") + shares.map { "\($0.provider.rawValue)-\($0.count)" }.joined(separator: "-")
    if let file = made[name] { return file }
    let keptFile = kept.map { "\($0)/\(name).rdb" }
    if let keptFile, access(keptFile, R_OK) == 0 {
      made[name] = keptFile
      return keptFile
    }
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
          for entry in try await store.devices.put(devices, app: Self.app) {
            guard case .stored(_, .created) = entry else {
              throw BenchFailure(reason: "a device was not new: \(entry)")
            }
          }
          bar.draw(start, of: share.count)
        }
      }
      bar.end(name)
      // Ten million devices take it longer than a connection waits otherwise.
      var settings = RedisSettings()
      settings.stallMilliseconds = Self.savingMilliseconds
      let server = Redis(loop: loop, endpoint: endpoint, settings: settings)
      defer { server.close() }
      while !server.isReady { await loop.sleep(milliseconds: 1) }
      _ = try await server.call(RedisCommand("SAVE"), timeout: Self.savingMilliseconds)
    }
    var file = "\(place)/dump.rdb"
    if let keptFile {
      guard rename(file, keptFile) == 0 else {
        throw BenchFailure(
          reason: "devices cannot be kept as \(keptFile); is its folder there, on the file system of TMPDIR?")
      }
      file = keptFile
    }
    made[name] = file
    return file
  }
}
