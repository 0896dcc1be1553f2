/// Bytes as small hexadecimal digits, two for each.
enum Hex {
  static func text(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
