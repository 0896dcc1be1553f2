import Domain

/// Bytes of bodies and answers that a server may hold at a time: altogether, and the share of one key and of one address.
package struct ByteLimits: Sendable, Hashable {
  package var total: Int
  /// Requests without a key have one share together.
  package var perKey: Int
  package var perAddress: Int
  package init(total: Int, perKey: Int, perAddress: Int) {
    (self.total, self.perKey, self.perAddress) = (total, perKey, perAddress)
  }
  static let none = ByteLimits(total: .max, perKey: .max, perAddress: .max)
}

/// Which bound of a `ByteBudget` stands against more.
package enum ByteShare: Hashable, Sendable { case total, key, address }

/// The bytes that requests at work hold. Values only.
struct ByteBudget {
  /// What one request holds, and on whose account. Give it back with `release`.
  struct Hold {
    let key: String
    /// Nil: an address that has no bound.
    let address: NetworkAddress?
    fileprivate(set) var bytes = 0
    init(key: String, address: NetworkAddress?) { (self.key, self.address) = (key, address) }
  }

  /// So few bytes count for the total only: the number of connections bounds them, and almost every request has fewer.
  static let small = 16_384

  let limits: ByteLimits
  private(set) var held = 0
  private var keys: [String: Int] = [:]
  private var addresses: [NetworkAddress: Int] = [:]

  init(_ limits: ByteLimits) { self.limits = limits }

  /// True: nobody's share is in use.
  var isIdle: Bool { held == 0 && keys.isEmpty && addresses.isEmpty }

  /// Lets a request hold `bytes` in all. A bound that stands against it leaves all as it is. Fewer bytes than before are
  /// always granted, and so is what `mustBe`: for an answer to what has been done already.
  mutating func set(_ hold: inout Hold, to bytes: Int, mustBe: Bool = false) -> ByteShare? {
    let more = bytes - hold.bytes
    let shared = Self.shared(bytes) - Self.shared(hold.bytes)
    if more > 0, !mustBe {
      guard more <= limits.total - held else { return .total }
      if shared > 0 {
        guard shared <= limits.perKey - keys[hold.key, default: 0] else { return .key }
        if let address = hold.address, shared > limits.perAddress - addresses[address, default: 0] { return .address }
      }
    }
    held += more
    hold.bytes = bytes
    if shared != 0 {
      keys.add(shared, to: hold.key)
      if let address = hold.address { addresses.add(shared, to: address) }
    }
    return nil
  }

  mutating func release(_ hold: inout Hold) { _ = set(&hold, to: 0) }

  private static func shared(_ bytes: Int) -> Int { bytes > small ? bytes : 0 }
}

extension Dictionary where Value == Int {
  /// What falls to 0 leaves.
  mutating func add(_ number: Int, to key: Key) {
    let sum = self[key, default: 0] + number
    self[key] = sum == 0 ? nil : sum
  }
}
