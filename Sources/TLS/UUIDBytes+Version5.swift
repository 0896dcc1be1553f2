import COpenSSL
package import Domain

extension UUIDBytes {
  /// RFC 9562 version 5 (SHA-1) of `name` in `namespace`.
  package static func v5(namespace: UUIDBytes, name: [UInt8]) -> UUIDBytes {
    withUnsafeTemporaryAllocation(byteCount: 16 + name.count, alignment: 8) { input in
      input.storeBytes(of: namespace.high.bigEndian, as: UInt64.self)
      input.storeBytes(of: namespace.low.bigEndian, toByteOffset: 8, as: UInt64.self)
      name.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: input[16...]).copyMemory(from: $0) }
      return hashed(UnsafeRawBufferPointer(input))
    }
  }

  /// The same of a name of 24 bytes, as three numbers: no memory is asked for.
  package static func v5(namespace: UUIDBytes, name: (UInt64, UInt64, UInt64)) -> UUIDBytes {
    let input = (
      namespace.high.bigEndian, namespace.low.bigEndian, name.0.bigEndian, name.1.bigEndian, name.2.bigEndian
    )
    return withUnsafeBytes(of: input) { hashed($0) }
  }

  private static func hashed(_ input: UnsafeRawBufferPointer) -> UUIDBytes {
    // The digest takes 20 bytes, of which the first 16 count.
    var digest: (UInt64, UInt64, UInt64) = (0, 0, 0)
    withUnsafeMutableBytes(of: &digest) { fanfare_sha1(input.baseAddress, input.count, $0.baseAddress) }
    return UUIDBytes(
      high: UInt64(bigEndian: digest.0) & ~0xF000 | 0x5000, low: UInt64(bigEndian: digest.1) & ~(3 << 62) | 2 << 62)
  }
}
