import COpenSSL

/// AES-128-GCM with a tag of 16 bytes behind the text, and no other data.
package enum AES128GCM {
  /// Bytes that `seal` adds to the text.
  package static let tagLength = 16

  /// `key`: 16 bytes. `nonce`: 12 bytes, never twice with one key.
  package static func seal(_ plain: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8] {
    precondition(key.count == 16 && nonce.count == 12, "a key of 16 bytes and a nonce of 12")
    let size = plain.count + tagLength
    return [UInt8](unsafeUninitializedCapacity: size) { sealed, count in
      let made = fanfare_seal_aes128gcm(key, nonce, plain, plain.count, sealed.baseAddress)
      precondition(made == 1, "AES-128-GCM is not available")
      count = size
    }
  }

  /// Nil if it was sealed by another key or nonce, or was changed.
  package static func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
    guard key.count == 16, nonce.count == 12, sealed.count >= tagLength else { return nil }
    var isOpen = false
    let plain = [UInt8](unsafeUninitializedCapacity: sealed.count) { plain, count in
      isOpen = fanfare_open_aes128gcm(key, nonce, sealed, sealed.count, plain.baseAddress) == 1
      count = isOpen ? sealed.count - tagLength : 0
    }
    return isOpen ? plain : nil
  }
}
