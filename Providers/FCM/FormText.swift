/// application/x-www-form-urlencoded, as bodies and query values.
enum FormText {
  private static let digits = Array("0123456789ABCDEF".utf8)
  private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)

  static func encode(_ text: String) -> String {
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      if plain.contains(byte) {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  static func encode(_ fields: [(String, String)]) -> [UInt8] {
    Array(fields.map { "\($0)=\(encode($1))" }.joined(separator: "&").utf8)
  }
}
