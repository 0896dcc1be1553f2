import COpenSSL

/// The elliptic curve P-256, for the agreement on a secret (ECDH). Points are uncompressed.
package enum P256 {
  /// Bytes of an uncompressed point: 0x04, x, y.
  package static let pointLength = 65
  /// Bytes of a private number, and of each coordinate; big-endian.
  package static let scalarLength = 32

  /// True for an uncompressed point that lies on the curve.
  package static func isPoint(_ bytes: [UInt8]) -> Bool {
    bytes.count == pointLength && fanfare_p256_is_point(bytes) == 1
  }

  /// The public point of a private number; nil if that is not from 1 to the curve's order - 1.
  package static func publicPoint(of scalar: [UInt8]) -> [UInt8]? { product(scalar, nil) }

  /// The secret of whoever has `scalar` and whoever has the private number of `point`: 32 bytes, to be hashed before use.
  /// Nil if either is none.
  package static func agree(_ scalar: [UInt8], with point: [UInt8]) -> [UInt8]? {
    guard point.count == pointLength else { return nil }
    return product(scalar, point).map { Array($0[1...scalarLength]) }
  }

  private static func product(_ scalar: [UInt8], _ point: [UInt8]?) -> [UInt8]? {
    guard scalar.count == scalarLength else { return nil }
    var isMade = false
    let product = [UInt8](unsafeUninitializedCapacity: pointLength) { product, count in
      isMade = fanfare_p256_multiply(scalar, point, product.baseAddress) == 1
      count = isMade ? pointLength : 0
    }
    return isMade ? product : nil
  }
}
