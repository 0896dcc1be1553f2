import COpenSSL

/// Random bytes fit for keys and secrets.
package enum SecureRandom {
  /// Traps where the system gives none: a secret made without randomness would be worse.
  package static func bytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      precondition(RAND_bytes(buffer.baseAddress, Int32(count)) == 1, "the system gives no random bytes")
      filled = count
    }
  }

  /// All 64 bits are random. One call costs as much as 50 of `RandomWords`.
  package static func word() -> UInt64 {
    var word: UInt64 = 0
    withUnsafeMutableBytes(of: &word) { fill($0) }
    return word
  }

  fileprivate static func fill(_ raw: UnsafeMutableRawBufferPointer) {
    let bytes = raw.bindMemory(to: UInt8.self)
    precondition(RAND_bytes(bytes.baseAddress, Int32(bytes.count)) == 1, "the system gives no random bytes")
  }
}

/// Random words as `SecureRandom.word` gives them, asked for many at a time: one alone costs as much as fifty.
package struct RandomWords {
  private var words: [UInt64] = []
  /// Asks for nothing yet.
  package init() {}

  /// Asks OpenSSL for 64 words at a time.
  package mutating func next() -> UInt64 {
    if let word = words.popLast() { return word }
    words = [UInt64](repeating: 0, count: 64)
    words.withUnsafeMutableBytes { SecureRandom.fill($0) }
    return words.removeLast()
  }
}
