import Domain

/// A push service: whoever serves the endpoints below one host.
struct PushService: Hashable, Sendable {
  /// The services of Chrome, Firefox, Safari and Edge.
  static let usual = ["fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com", windows]
  /// Its endpoints have hosts below this one, by the user's region.
  private static let windows = "notify.windows.com"
  /// Those that are known to speak HTTP/2.
  private static let fast = Set(usual).subtracting([windows])

  /// The host in lower case, with its port unless that is 443.
  let name: String
  /// Where requests go, unless their endpoint names another host of the service.
  let origin: Origin

  /// Nil: no host, or not one that a certificate can name.
  init?(_ text: String) {
    let parts = text.lowercased().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let host = parts.first.map(String.init), Self.isHost(host) else { return nil }
    var port = 443
    if parts.count == 2 {
      guard let given = Whole.read(String(parts[1]), in: 1...65_535) else { return nil }
      port = given
    }
    let origin = Origin(host: host, port: port)
    let isRegional = port == 443 && host.split(separator: ".", maxSplits: 1).last.map(String.init) == Self.windows
    name = isRegional ? Self.windows : origin.authority
    self.origin = origin
  }

  /// Its endpoints have more hosts than one.
  var hasManyHosts: Bool { name == Self.windows }
  var wire: Wire { Self.fast.contains(name) ? .http2(cautiousStart: false) : .http1(connections: 20) }

  /// A DNS name. An address, however it is written, is none: which machine it is, its own network decides.
  static func isHost(_ text: String) -> Bool {
    let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard text.utf8.count <= 253, let last = labels.last, !isNumber(Array(last)) else { return false }
    return labels.allSatisfy { label in
      (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
        && label.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") }
    }
  }

  /// A last label by which resolvers know an IPv4 address: decimal, or hexadecimal behind 0x.
  private static func isNumber(_ label: [UInt8]) -> Bool {
    if label.allSatisfy(\.isASCIIDigit) { return true }
    return label.starts(with: "0x".utf8) && label.dropFirst(2).allSatisfy(\.isHexDigit)
  }
}
