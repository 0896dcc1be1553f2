import Domain

/// A number with its noun: `1 device`, `2 devices`, `10,001 devices`.
package func counted(_ number: some BinaryInteger, _ noun: String) -> String {
  let plural = noun.hasSuffix("ry") ? "\(noun.dropLast())ies" : "\(noun)s"
  return "\(grouped(number)) \(number == 1 ? noun : plural)"
}

/// With spaces behind it, up to `width` characters.
package func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}
