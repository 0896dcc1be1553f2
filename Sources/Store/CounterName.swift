import Domain

/// The field of a counter of final deliveries.
struct CounterName {
  var provider: ProviderName?
  var outcome: Outcome
  var reason: String?
  var platform: String?

  private static let separator: UInt8 = 1

  var field: [UInt8] {
    var bytes = [UInt8(ascii: "k")]
    bytes += (provider?.rawValue ?? "").utf8.filter { $0 != Self.separator }
    bytes.append(Self.separator)
    bytes += outcome.rawValue.utf8
    bytes.append(Self.separator)
    bytes += (reason ?? "").utf8.filter { $0 != Self.separator }
    if let platform {
      bytes.append(Self.separator)
      bytes += platform.utf8.filter { $0 != Self.separator }
    }
    return bytes
  }

  init(provider: ProviderName?, outcome: Outcome, reason: String?, platform: String? = nil) {
    self.platform = platform
    self.provider = provider
    self.outcome = outcome
    self.reason = reason
  }

  init?(field: [UInt8]) {
    guard field.first == UInt8(ascii: "k") else { return nil }
    let parts = field.dropFirst().split(separator: Self.separator, maxSplits: 3, omittingEmptySubsequences: false)
    guard (3...4).contains(parts.count), let outcome = Outcome(rawValue: String(decoding: parts[1], as: UTF8.self))
    else {
      return nil
    }
    self.outcome = outcome
    provider = parts[0].isEmpty ? nil : ProviderName(rawValue: String(decoding: parts[0], as: UTF8.self))
    platform = parts.count == 4 && !parts[3].isEmpty ? String(decoding: parts[3], as: UTF8.self) : nil
    reason = parts[2].isEmpty ? nil : String(decoding: parts[2], as: UTF8.self)
  }
}
