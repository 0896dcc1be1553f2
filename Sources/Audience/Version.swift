/// The version of an app as its maker wrote it: `2.1`, `v2.1.0-beta.2`, `2.1 (451)`. `==` compares the texts; `order`
/// holds 2.1 and 2.1.0 to be the same.
package struct Version: Hashable, Sendable {
  /// Where one version stands against another.
  package enum Order: Hashable, Sendable { case before, same, after }

  package let text: String
  /// Takes any text; `isComparable` says whether it stands in an order.
  package init(_ text: String) { self.text = text }

  /// False if it does not begin with a number: such a version stands in no order.
  package var isComparable: Bool { parts != nil }

  /// Numbers part by part, missing ones are 0; what is marked with `-` or letters behind the numbers comes before the
  /// version itself, as in Semantic Versioning; what follows a `+` or a space does not count.
  package func order(to other: Version) -> Order? {
    guard let own = parts, let theirs = other.parts else { return nil }
    for index in 0..<max(own.numbers.count, theirs.numbers.count) {
      let left = index < own.numbers.count ? own.numbers[index] : []
      let right = index < theirs.numbers.count ? theirs.numbers[index] : []
      let order = Self.order(number: left, right)
      if order != .same { return order }
    }
    switch (own.stage.isEmpty, theirs.stage.isEmpty) {
    case (true, true): return .same
    case (true, false): return .after
    case (false, true): return .before
    case (false, false): return Self.order(stage: own.stage, theirs.stage)
    }
  }

  private struct Parts {
    /// Digits without leading zeros, so that no number is too large.
    var numbers: [[UInt8]] = []
    /// `beta`, `2` of `-beta.2`.
    var stage: [[UInt8]] = []
  }

  private var parts: Parts? {
    var rest = text.utf8[...]
    if rest.first == UInt8(ascii: "v") || rest.first == UInt8(ascii: "V") { rest = rest.dropFirst() }
    var parts = Parts()
    while let first = rest.first, Self.isDigit(first) {
      parts.numbers.append(Array(rest.prefix(while: Self.isDigit).drop { $0 == UInt8(ascii: "0") }))
      rest = rest.drop(while: Self.isDigit)
      guard rest.first == UInt8(ascii: "."), let next = rest.dropFirst().first, Self.isDigit(next) else { break }
      rest = rest.dropFirst()
    }
    guard !parts.numbers.isEmpty else { return nil }
    let stage = rest.prefix { $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: " ") }
    parts.stage = stage.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
      .split(separator: UInt8(ascii: ".")).map(Array.init)
    return parts
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private static func order(number left: [UInt8], _ right: [UInt8]) -> Order {
    if left.count != right.count { return left.count < right.count ? .before : .after }
    return order(bytes: left, right)
  }

  private static func order(bytes left: [UInt8], _ right: [UInt8]) -> Order {
    if left == right { return .same }
    return left.lexicographicallyPrecedes(right) ? .before : .after
  }

  private static func order(stage left: [[UInt8]], _ right: [[UInt8]]) -> Order {
    for (mine, other) in zip(left, right) {
      let order: Order =
        switch (mine.allSatisfy(isDigit), other.allSatisfy(isDigit)) {
        case (true, true):
          order(
            number: Array(mine.drop { $0 == UInt8(ascii: "0") }), Array(other.drop { $0 == UInt8(ascii: "0") }))
        case (true, false): .before
        case (false, true): .after
        case (false, false): order(bytes: mine, other)
        }
      if order != .same { return order }
    }
    if left.count == right.count { return .same }
    return left.count < right.count ? .before : .after
  }
}
