package import Domain
import TLS

/// Fanfare's namespace for version 5 UUIDs; changing it would give every delivery a second identity.
private let namespace = UUIDBytes(high: 0x6f3a_1c52_9b0e_4d7a, low: 0x8e41_f20d_5b96_c7a3)

extension DeliveryID {
  /// The id under which this delivery is requested from its provider, the same over all attempts: APNs' `apns-id`
  /// (design D17). Recomputed wherever it is shown.
  package var requestID: UUIDBytes {
    let place = UInt64(UInt32(truncatingIfNeeded: partition)) << 32 | UInt64(UInt32(truncatingIfNeeded: index))
    return .v5(namespace: namespace, name: (message.high, message.low, place))
  }
}

extension StoredSlice {
  /// The idempotency key of this slice's request (design D17). The members are part of it: under the key of other members
  /// OneSignal would answer with the first result and send nothing.
  package var key: UUIDBytes {
    var name: [UInt8] = []
    name.reserveCapacity(28 + 4 * members.count)
    name.append(message)
    name.append(UInt32(truncatingIfNeeded: partition))
    name.append(UInt32(truncatingIfNeeded: number))
    name.append(UInt32(truncatingIfNeeded: revision))
    for member in members { name.append(UInt32(truncatingIfNeeded: member)) }
    return .v5(namespace: namespace, name: name)
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ message: MessageID) {
    append(message.high)
    append(message.low)
  }
  fileprivate mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    var shift = Number.bitWidth
    while shift > 0 {
      shift -= 8
      append(UInt8(truncatingIfNeeded: number >> Number(shift)))
    }
  }
}
