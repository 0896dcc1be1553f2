/// A number with its noun: `1 device`, `2 devices`, `10,001 devices`.
package func counted(_ number: some BinaryInteger, _ noun: String) -> String {
  let plural = noun.hasSuffix("ry") ? "\(noun.dropLast())ies" : "\(noun)s"
  return "\(grouped(number)) \(number == 1 ? noun : plural)"
}

/// 412003 as 412,003.
package func grouped(_ number: some BinaryInteger) -> String {
  var digits = Array(String(number))
  var place = digits.count - 3
  while place > (number < 0 ? 1 : 0) {
    digits.insert(",", at: place)
    place -= 3
  }
  return String(digits)
}

/// With spaces behind it, up to `width` characters.
package func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}
