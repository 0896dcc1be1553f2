/// Whole numbers in texts that somebody else wrote: a client, a peer, a file, the store. They are read with their range, so that
/// nothing that is done with them afterwards overflows.
package enum Whole {
  /// Nil if it is no whole number, or lies outside of `range`.
  package static func read<Number: FixedWidthInteger>(
    _ text: some StringProtocol, in range: ClosedRange<Number>, radix: Int = 10
  ) -> Number? {
    guard let number = Number(text, radix: radix), range.contains(number) else { return nil }
    return number
  }
}
