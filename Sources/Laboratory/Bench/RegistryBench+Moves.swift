import Domain
import Glibc
import Loop
import RedisClient
import Store

/// What it costs that tokens come under new ids, beside what creating the same devices costs: an app that begins to choose
/// ids, or chooses others, imports all of its devices once more.
extension RegistryBench {
  /// Of one app's devices, all under chosen ids.
  struct Moves: Sendable {
    var created = Cost()
    var moved = Cost()

    struct Cost: Sendable {
      var seconds = 0.0
      /// CPU microseconds per device.
      var own = 0.0
      var redis = 0.0
    }
  }

  /// Fewer if the benchmark has fewer.
  static let movedDevices = 50_000
  private static let appOfMoves = AppID(rawValue: "bench-moves")

  func moves(_ store: Store, _ loop: EventLoop, _ redis: pid_t, _ result: inout Result) async throws {
    let count = min(devices, Self.movedDevices)
    result.moves.created = try await put(count, "old", store, loop, redis) { registration in
      registration == .created
    }
    result.moves.moved = try await put(count, "new", store, loop, redis) { registration in
      if case .moved = registration { true } else { false }
    }
  }

  private func put(
    _ count: Int, _ prefix: String, _ store: Store, _ loop: EventLoop, _ redis: pid_t,
    _ isRight: (Registration) -> Bool
  ) async throws -> Moves.Cost {
    var cost = Moves.Cost()
    var population = BenchPopulation(provider: provider)
    let others = ProcessTimes.microseconds(of: redis)
    for start in stride(from: 0, to: count, by: Self.batch) {
      let batch = (start..<min(count, start + Self.batch)).map { number in
        var device = population.device(number)
        device.id = DeviceID(rawValue: "\(prefix)-\(number)")
        return device
      }
      let (before, began) = (ProcessTimes.ownMicroseconds, loop.now)
      let entries = try await store.devices.put(batch, app: Self.appOfMoves)
      cost.seconds += Double(loop.now.nanoseconds - began.nanoseconds) / 1e9
      cost.own += Double(ProcessTimes.ownMicroseconds - before)
      for entry in entries {
        guard case .stored(_, let registration) = entry, isRight(registration) else {
          throw Failure(reason: "a device was registered as \(entry)")
        }
      }
    }
    cost.own /= Double(count)
    cost.redis = Double(ProcessTimes.microseconds(of: redis) - others) / Double(count)
    return cost
  }
}
