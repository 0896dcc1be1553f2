import COpenSSL

/// Random bytes fit for keys and secrets.
package enum SecureRandom {
  package static func bytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      precondition(RAND_bytes(buffer.baseAddress, Int32(count)) == 1, "the system gives no random bytes")
      filled = count
    }
  }

  package static func word() -> UInt64 {
    var word: UInt64 = 0
    withUnsafeMutableBytes(of: &word) { raw in
      let bytes = raw.bindMemory(to: UInt8.self)
      precondition(RAND_bytes(bytes.baseAddress, 8) == 1, "the system gives no random bytes")
    }
    return word
  }
}
