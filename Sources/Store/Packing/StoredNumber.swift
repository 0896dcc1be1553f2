import Domain

/// A number as hashes have it: digits.
enum StoredNumber {
  /// No counter and no time is as large. What is damaged is taken for this, so that no sum of stored numbers overflows.
  static let bound: Int64 = 1 << 48

  static func read(_ digits: [UInt8]) -> Int? { read(String(decoding: digits, as: UTF8.self)).map { Int($0) } }
  /// A number of a partition.
  static func partition(_ text: some StringProtocol) -> Int? { Whole.read(text, in: 0...Int(UInt16.max)) }
  /// A place in a part of a message: of a delivery, or of a slice.
  static func index(_ digits: [UInt8]) -> Int? {
    Whole.read(String(decoding: digits, as: UTF8.self), in: 0...Int(UInt32.max))
  }
  static func read(_ digits: String) -> Int64? { Int64(digits).map { min(max($0, -bound), bound) } }
}
