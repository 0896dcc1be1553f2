extension [UInt8] {
  /// The decimal digits of a number that is not negative.
  package mutating func appendDigits(of number: Int) {
    if number > 9 { appendDigits(of: number / 10) }
    append(UInt8(ascii: "0") + UInt8(number % 10))
  }
}
