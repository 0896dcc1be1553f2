/// An IPv4 or IPv6 address. IPv4 is kept as `::ffff:a.b.c.d`, so that both ways to write one address are equal.
package struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
  package let high: UInt64
  package let low: UInt64

  private static let ipv4Prefix: UInt64 = 0xffff_0000_0000

  package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }
  /// `ipv4`: in the order of its text, the first number in the highest byte.
  package init(ipv4: UInt32) { self.init(high: 0, low: Self.ipv4Prefix | UInt64(ipv4)) }

  /// Without port, brackets and zone.
  package init?(_ text: some StringProtocol) {
    if let ipv4 = Self.ipv4(text) {
      self.init(ipv4: ipv4)
      return
    }
    guard let groups = Self.groups(text) else { return nil }
    let words = stride(from: 0, to: 8, by: 4).map { groups[$0..<$0 + 4].reduce(0 as UInt64) { $0 << 16 | UInt64($1) } }
    self.init(high: words[0], low: words[1])
  }

  package var isIPv4: Bool { high == 0 && low >> 32 == Self.ipv4Prefix >> 32 }

  /// The machine itself: 127.0.0.1 and ::1, and no other address of 127.0.0.0/8.
  package var isLoopback: Bool { self == Self(ipv4: 0x7f00_0001) || (high == 0 && low == 1) }

  /// What one owner has at least: an IPv4 address, or an IPv6 network of 64 bits.
  package var owner: NetworkAddress { isIPv4 ? self : Self(high: high, low: 0) }

  /// An IPv6 address in eight groups, none left out.
  package var description: String {
    if isIPv4 { return ipv4Text }
    return [high, low].flatMap { word in [48, 32, 16, 0].map { String(word >> $0 & 0xffff, radix: 16) } }
      .joined(separator: ":")
  }

  /// Letter by letter: each send is entered into the audit with its address.
  private var ipv4Text: String {
    var text: [UInt8] = []
    text.reserveCapacity(15)
    for shift: UInt64 in [24, 16, 8, 0] {
      text.appendDigits(of: Int(low >> shift & 0xff))
      if shift > 0 { text.append(UInt8(ascii: ".")) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func ipv4(_ text: some StringProtocol) -> UInt32? {
    let parts = text.split(separator: ".", maxSplits: 4, omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var address: UInt32 = 0
    for part in parts {
      guard part.utf8.count <= 3, part.utf8.allSatisfy(\.isASCIIDigit),
        let number = Whole.read(part, in: 0...255 as ClosedRange<UInt32>)
      else { return nil }
      address = address << 8 | number
    }
    return address
  }

  /// The eight groups of an IPv6 address, of which `::` stands for any that are missing.
  private static func groups(_ text: some StringProtocol) -> [UInt16]? {
    // The longest form has 45 characters.
    guard text.utf8.count <= 45, text.contains(":") else { return nil }
    let halves = text.split(separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
    guard halves.count <= 2 else { return nil }
    var read: [[UInt16]] = []
    for (place, half) in halves.enumerated() {
      guard let groups = half.isEmpty ? [] : plain(half, mayEndInIPv4: place == halves.count - 1) else { return nil }
      read.append(groups)
    }
    let count = read.reduce(0) { $0 + $1.count }
    guard halves.count == 2 ? count < 8 : count == 8 else { return nil }
    return read[0] + [UInt16](repeating: 0, count: 8 - count) + (halves.count == 2 ? read[1] : [])
  }

  private static func plain(_ text: some StringProtocol, mayEndInIPv4: Bool) -> [UInt16]? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    var groups: [UInt16] = []
    for (place, part) in parts.enumerated() {
      if place == parts.count - 1, mayEndInIPv4, let ipv4 = ipv4(part) {
        groups += [UInt16(ipv4 >> 16), UInt16(ipv4 & 0xffff)]
        continue
      }
      guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ $0.isASCIIDigit || $0.isASCIILetter }),
        let group = Whole.read(part, in: 0...UInt16.max, radix: 16)
      else { return nil }
      groups.append(group)
    }
    return groups
  }
}

/// An address, or a network such as `10.0.0.0/8` or `2001:db8::/32`.
package struct AddressRange: Hashable, Sendable, CustomStringConvertible {
  private let first: NetworkAddress
  /// Of 128.
  private let bits: Int

  /// Nil if it is no address, or has another prefix length than its kind may have.
  package init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = parts.first.flatMap({ NetworkAddress($0) }) else { return nil }
    let longest = address.isIPv4 && !parts[0].contains(":") ? 32 : 128
    var length = longest
    if parts.count == 2 {
      guard let given = Whole.read(parts[1], in: 0...longest) else { return nil }
      length = given
    }
    bits = length + 128 - longest
    first = Self.masked(address, bits)
  }

  package func contains(_ address: NetworkAddress) -> Bool { Self.masked(address, bits) == first }
  /// True if all addresses of the other one are in it.
  package func contains(_ other: AddressRange) -> Bool { other.bits >= bits && contains(other.first) }

  /// Reads as the same range. A single address has no prefix length.
  package var description: String {
    let isIPv4 = first.isIPv4 && bits >= Self.ipv4Bits
    let length = isIPv4 ? bits - Self.ipv4Bits : bits
    return bits == 128 ? first.description : "\(first)/\(length)"
  }
  /// Before an IPv4 address.
  private static let ipv4Bits = 96

  private static func masked(_ address: NetworkAddress, _ bits: Int) -> NetworkAddress {
    // Swift's shifts give 0 beyond the width.
    NetworkAddress(
      high: address.high & ~(UInt64.max >> min(bits, 64)), low: address.low & ~(UInt64.max >> max(0, bits - 64)))
  }
}
