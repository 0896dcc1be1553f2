import COpenSSL

/// Hashes by OpenSSL. Nothing is kept between two calls; usable from any thread.
package enum Digest {
  /// 32 bytes.
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
      fanfare_sha256(bytes, bytes.count, digest.baseAddress)
      count = 32
    }
  }

  /// RFC 2104 with SHA-256, 32 bytes. `key` may have any length.
  package static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 32) { mac, count in
      let made = fanfare_hmac_sha256(key, key.count, bytes, bytes.count, mac.baseAddress)
      precondition(made == 1, "HMAC-SHA-256 is not available")
      count = 32
    }
  }

  /// Equality whose time does not depend on the content; the lengths are no secret.
  package static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
  }
}
