import Domain
import Intake
import Loop
import Store

/// Whether apps may have more devices, where they have a limit of them. An app's devices are counted at most once a
/// second; what other processes register meanwhile may pass the limit. Belongs to the loop.
final class DeviceStock {
  private struct Level {
    var count: Int
    var readAt: Instant
  }

  private let loop: EventLoop
  private let store: Store
  private let configuration: AdoptedConfiguration
  private var levels: [AppID: Level] = [:]
  /// Milliseconds.
  private static let freshness: Int64 = 1_000

  init(loop: EventLoop, store: Store, configuration: AdoptedConfiguration) {
    (self.loop, self.store, self.configuration) = (loop, store, configuration)
  }

  func limit(_ app: AppID) -> Int? { configuration.apps[app]?.limits.devices }

  /// Those of the devices, by their places, for which there is no room. What is registered already needs none.
  func refused(of devices: [Device], _ app: AppID) async throws(Problem) -> Set<Int> {
    guard let limit = limit(app), !devices.isEmpty else { return [] }
    do throws(StoreError) {
      let count = try await count(app)
      guard count + devices.count > limit else { return [] }
      let known = try await areKnown(devices, app)
      var room = max(0, limit - count)
      var refused: Set<Int> = []
      for place in devices.indices where !known[place] {
        if room > 0 { room -= 1 } else { refused.insert(place) }
      }
      return refused
    } catch {
      throw Problem(error)
    }
  }

  func registered(_ results: [PutResult], _ app: AppID) {
    guard levels[app] != nil else { return }
    levels[app]?.count += results.count { if case .stored(_, .created) = $0 { true } else { false } }
  }

  static func problem(_ limit: Int) -> Problem {
    Problem(
      .deviceLimit,
      "The app has reached its limit of \(limit) devices (limits.apps.devices), including those deleted within the "
        + "retention time: nothing was registered. Existing devices can still register")
  }

  private func count(_ app: AppID) async throws(StoreError) -> Int {
    let now = loop.now
    if let level = levels[app], now - level.readAt < Self.freshness { return level.count }
    let count = try await store.devices.count(app: app)
    levels[app] = Level(count: count, readAt: now)
    return count
  }

  /// By their id, or where they have none by their token.
  private func areKnown(_ devices: [Device], _ app: AppID) async throws(StoreError) -> [Bool] {
    let byID = try await store.devices.devices(devices.map(\.id), app: app)
    let nameless = devices.indices.filter { devices[$0].id.rawValue.isEmpty }
    let owners = try await store.tokens.owners(of: nameless.map { devices[$0].address }, app: app)
    var known = byID.map { $0 != nil }
    for (place, owner) in zip(nameless, owners) { known[place] = owner != nil }
    return known
  }
}
