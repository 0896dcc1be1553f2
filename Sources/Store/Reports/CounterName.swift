import Domain

/// The field of a counter of final deliveries.
struct CounterName {
  var provider: ProviderName?
  var outcome: Outcome
  var reason: String?
  var platform: String?
  /// Of an audience's members.
  var variant: String?

  private static let separator: UInt8 = 1

  var field: [UInt8] {
    var bytes = [UInt8(ascii: "k")]
    bytes += (provider?.rawValue ?? "").utf8.filter { $0 != Self.separator }
    bytes.append(Self.separator)
    bytes += outcome.rawValue.utf8
    bytes.append(Self.separator)
    bytes += (reason ?? "").utf8.filter { $0 != Self.separator }
    guard platform != nil || variant != nil else { return bytes }
    bytes.append(Self.separator)
    bytes += (platform ?? "").utf8.filter { $0 != Self.separator }
    guard let variant else { return bytes }
    bytes.append(Self.separator)
    bytes += variant.utf8
    return bytes
  }

  init(
    provider: ProviderName?, outcome: Outcome, reason: String?, platform: String? = nil, variant: String? = nil
  ) {
    self.platform = platform
    self.variant = variant
    self.provider = provider
    self.outcome = outcome
    self.reason = reason
  }

  init?(field: [UInt8]) {
    guard field.first == UInt8(ascii: "k") else { return nil }
    let parts = field.dropFirst().split(separator: Self.separator, maxSplits: 4, omittingEmptySubsequences: false)
    guard (3...5).contains(parts.count), let outcome = Outcome(rawValue: String(decoding: parts[1], as: UTF8.self))
    else {
      return nil
    }
    self.outcome = outcome
    provider = parts[0].isEmpty ? nil : ProviderName(rawValue: String(decoding: parts[0], as: UTF8.self))
    platform = parts.count > 3 && !parts[3].isEmpty ? String(decoding: parts[3], as: UTF8.self) : nil
    variant = parts.count > 4 ? String(decoding: parts[4], as: UTF8.self) : nil
    reason = parts[2].isEmpty ? nil : String(decoding: parts[2], as: UTF8.self)
  }
}
