import Domain

/// Who is at the other end of a connection, and how many connections each address has. Values only.
struct AddressBook {
  private let limit: Int
  private let trustedProxies: [AddressRange]
  private var connections: [NetworkAddress: Int] = [:]

  init(limit: Int, trustedProxies: [AddressRange]) { (self.limit, self.trustedProxies) = (limit, trustedProxies) }

  /// Many clients are behind this address: it has no bounds of its own. A proxy on this machine need not be configured to
  /// be spared.
  func isShared(_ address: NetworkAddress) -> Bool { address.isLoopback || isTrusted(address) }

  private func isTrusted(_ address: NetworkAddress) -> Bool {
    !trustedProxies.isEmpty && trustedProxies.contains { $0.contains(address) }
  }

  func mayConnect(_ address: NetworkAddress) -> Bool {
    connections[address.owner, default: 0] < limit || isShared(address)
  }

  mutating func opened(_ address: NetworkAddress) { connections.add(1, to: address.owner) }
  mutating func closed(_ address: NetworkAddress) { connections.add(-1, to: address.owner) }

  /// Who sent a request: the peer, or whom a trusted proxy names. The last address of `X-Forwarded-For` that is no trusted
  /// proxy counts: what stands before it is the client's own word. Where a proxy names none, or what is no address, it
  /// answers for its clients itself.
  func client(peer: NetworkAddress, _ headers: [Header]) -> NetworkAddress {
    guard isTrusted(peer) else { return peer }
    for header in headers.reversed() where header.name == "x-forwarded-for" {
      for entry in header.value.split(separator: ",").reversed() {
        guard let address = NetworkAddress(Self.trimmed(entry)) else { return peer }
        if !isTrusted(address) { return address }
      }
    }
    return peer
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }
}
