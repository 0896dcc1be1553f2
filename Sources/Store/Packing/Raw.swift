import Domain

extension MessageID {
  /// The 16 bytes, in the order of time.
  var raw: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16)
    appendRaw(to: &bytes)
    return bytes
  }
  func appendRaw(to bytes: inout [UInt8]) {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { bytes.append(contentsOf: $0) }
  }

  init?(raw: [UInt8]) {
    guard raw.count == 16 else { return nil }
    let high = raw[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let low = raw[8...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    // The only initialiser takes the parts of `high`.
    self.init(
      acceptedAt: WallTime(milliseconds: Int64(high >> 16)), partition: Int(high & 0xffff), random: low)
  }

  /// Hours since 1970: names the segment that keeps it when it is finished.
  var hour: Int64 { acceptedAt.seconds / 3600 }
}

/// Big-endian, as scripts unpack them.
func raw32(_ value: Int) -> [UInt8] {
  let word = UInt32(value)
  return [UInt8(word >> 24), UInt8(word >> 16 & 255), UInt8(word >> 8 & 255), UInt8(word & 255)]
}
extension [UInt8] {
  mutating func append16(_ value: Int) {
    append(UInt8(value >> 8 & 255))
    append(UInt8(value & 255))
  }
  mutating func append32(_ value: Int) {
    append16(value >> 16)
    append16(value)
  }
}
func from32(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
