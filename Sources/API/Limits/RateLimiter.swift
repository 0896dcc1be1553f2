import Domain
import Loop
import Store
import Telemetry

/// The allowances of the keys that are at work in this process. Belongs to the loop.
final class RateLimiter {
  private let store: Store
  private let configuration: AdoptedConfiguration
  private let meters: LimitMeters
  private var byKey: [Owner: Allowance] = [:]
  private var byApp: [AppID: (buckets: [LimitBucket?], gate: CountGate?)] = [:]
  /// Of the key that was asked for last, which is almost always the next one's.
  private var last: (owner: Owner, allowance: Allowance)?

  /// The scopes of a key may change, and with them which limits hold for it.
  private struct Owner: Hashable {
    let key: String
    let onlyRegisters: Bool
  }

  /// Keys at a time; beyond that all begin anew, and what they had leased lapses.
  private static let capacity = 10_000

  init(store: Store, configuration: AdoptedConfiguration, meters: LimitMeters) {
    (self.store, self.configuration, self.meters) = (store, configuration, meters)
  }

  func allowance(of key: APIKey) -> Allowance {
    let owner = Owner(key: key.id, onlyRegisters: key.onlyRegisters)
    if let last, last.owner == owner { return last.allowance }
    let allowance = byKey[owner] ?? open(key, owner)
    last = (owner, allowance)
    return allowance
  }

  /// Limits may have changed. What was leased by the old ones lapses.
  func adopt() {
    byKey = [:]
    byApp = [:]
    last = nil
  }

  private func open(_ key: APIKey, _ owner: Owner) -> Allowance {
    let limits = configuration.apps[key.app]?.limits ?? TenantLimits()
    if byKey.count >= Self.capacity { byKey = [:] }
    let own = buckets(
      limits.limits(ofKeyThatOnlyRegisters: owner.onlyRegisters), key.app, key: key.id, owner.onlyRegisters)
    let shared =
      byApp[key.app]
      ?? (
        buckets(limits.app, key.app, key: nil, false), limits.countsOfApp.map { CountGate($0, key: nil, app: key.app) }
      )
    byApp[key.app] = shared
    let gate = limits.countsOfKey.map { CountGate($0, key: key.id, app: key.app) }
    let allowance = Allowance(
      own: own, shared: shared.buckets, gates: [gate, shared.gate].compactMap { $0 }, meters: meters)
    byKey[owner] = allowance
    return allowance
  }

  private func buckets(_ limits: RateLimits, _ app: AppID, key: String?, _ isRegister: Bool) -> [LimitBucket?] {
    LimitedUse.allCases.map { use in
      limits[use].map {
        LimitBucket(
          $0, use, key: key, app: app, isOfRegisterKey: isRegister, store: store, meters: meters)
      }
    }
  }
}
