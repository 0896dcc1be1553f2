package import Domain

/// What a vendor lets one account send, shared by all workers.
package struct Quota: Hashable, Sendable {
  /// Requests; 0: no quota.
  package var perMinute = 0
  /// Milliseconds in which bulk grows to the whole quota; 0: it begins with that.
  package var rampUp: Int64 = 0

  /// What the vendors ask for: FCM per project; OneSignal per app in its paid plans; APNs names none.
  package static let vendors: [ProviderName: Quota] = [
    .fcm: Quota(perMinute: 600_000, rampUp: 60_000), .oneSignal: Quota(perMinute: 360_000),
  ]

  mutating func read(_ section: Section) {
    var section = section
    perMinute = section.integer("per_minute", in: 0...Self.most) ?? perMinute
    rampUp = section.duration("ramp_up", in: 0...3_600_000) ?? rampUp
    section.close()
  }
  private static let most = 100_000_000
}

extension Configuration {
  static func readQuotas(
    _ section: Section, _ providers: [ProviderName], into quotas: inout [ProviderName: Quota]
  ) {
    var section = section
    for provider in providers.sorted(by: { $0.rawValue < $1.rawValue }) {
      var own = quotas[provider] ?? Quota()
      own.read(section.section(provider.rawValue))
      if own.perMinute > 0 || quotas[provider] != nil { quotas[provider] = own }
    }
    section.close()
  }
}
