import COpenSSL

/// Bytes that the shim allocated, taken into an array.
func taking(_ make: (UnsafeMutablePointer<Int>) -> UnsafeMutablePointer<UInt8>?) -> [UInt8] {
  var count = 0
  guard let bytes = make(&count) else { preconditionFailure("OpenSSL gives no memory") }
  defer { fanfare_free(bytes) }
  return Array(UnsafeBufferPointer(start: bytes, count: count))
}

/// The reason of the oldest error on this thread, or `fallback`; leaves the queue empty.
func errorText(_ fallback: String) -> String {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
    fanfare_error_text(text.baseAddress, text.count)
    let reason = String(cString: text.baseAddress!)
    return reason.isEmpty ? fallback : reason
  }
}

/// As `taking`, for bytes that may not be there.
func takingIfAny(_ make: (UnsafeMutablePointer<Int>) -> UnsafeMutablePointer<UInt8>?) -> [UInt8]? {
  var count = 0
  guard let bytes = make(&count) else { return nil }
  defer { fanfare_free(bytes) }
  return Array(UnsafeBufferPointer(start: bytes, count: count))
}
