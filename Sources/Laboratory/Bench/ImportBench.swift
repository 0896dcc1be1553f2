import Domain

/// An import of ten times as many devices as the other scenarios have: what a device costs, and whether one of its scripts
/// holds Redis for longer than a millisecond.
struct ImportBench: Sendable {
  var devices: Int

  static let name = "import"
  static let figures: [Metric: Double] = [.slow: 0]
  var about: String { "\(devices) devices with ten tags each are registered, in batches as an import sends them" }

  /// On the main thread.
  func run() throws -> Reading {
    var bench = RegistryBench()
    (bench.devices, bench.importsOnly) = (devices, true)
    let result = try bench.run()
    var reading = Reading()
    reading[.gateway] = result.importOwn
    reading[.redis] = result.importRedis
    reading[.slow] = Double(result.slowCommands)
    reading[.slowest] = Double(result.slowest)
    return reading
  }
}
