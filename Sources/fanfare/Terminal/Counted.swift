/// A number with its noun: `1 device`, `2 devices`, `10,001 devices`.
func counted(_ number: some BinaryInteger, _ noun: String) -> String {
  let plural = noun.hasSuffix("ry") ? "\(noun.dropLast())ies" : "\(noun)s"
  return "\(MessagesCommand.grouped(number)) \(number == 1 ? noun : plural)"
}
