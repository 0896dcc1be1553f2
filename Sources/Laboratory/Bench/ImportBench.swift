import Domain

/// An import of ten times as many devices as the other scenarios have: what a device costs, and whether one of its scripts
/// holds Redis for longer than a millisecond. Then what it costs that tokens of others move to new ids.
struct ImportBench: Sendable {
  var devices: Int

  static let name = "import"
  static let figures: [Metric: Double] = [.slow: 0, .moveRatio: 1]
  var about: String {
    "\(devices) devices with ten tags each are registered, in batches as an import sends them; "
      + "then \(min(devices, RegistryBench.movedDevices)) of another app, under chosen ids and once more under others"
  }

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
    let (created, moved) = (result.moves.created, result.moves.moved)
    (reading[.creating], reading[.moving]) = (created.seconds, moved.seconds)
    (reading[.createCPU], reading[.moveCPU]) = (created.own + created.redis, moved.own + moved.redis)
    reading[.moveRatio] = (moved.own + moved.redis) / max(0.001, created.own + created.redis)
    return reading
  }
}
