import Domain
import JSON
import Testing

/// Compares JSON without regard to order. `expected` must be met in full; `actual` may have more only at the pointers in
/// `extras` (and below them).
func expectJSON(
  _ actual: [UInt8], _ expected: String, extras: Set<String> = [], sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let found = differences(
    try JSON.parse(Array(expected.utf8)), try JSON.parse(actual), at: "", extras: extras)
  #expect(
    found.isEmpty, "\(found.joined(separator: "; ")) in \(String(decoding: actual, as: UTF8.self))",
    sourceLocation: sourceLocation)
}

private func differences(_ expected: JSONValue, _ actual: JSONValue, at pointer: String, extras: Set<String>)
  -> [String]
{
  guard case .object(let wanted) = expected, case .object(let members) = actual else {
    return expected == actual || isSameNumber(expected, actual) ? [] : ["\(pointer) differs"]
  }
  var found: [String] = []
  for member in wanted {
    let inner = "\(pointer)/\(member.key.pointerStep)"
    guard let value = members[member.key] else {
      found.append("\(inner) is missing")
      continue
    }
    found += differences(member.value, value, at: inner, extras: extras)
  }
  for member in members where wanted[member.key] == nil {
    let inner = "\(pointer)/\(member.key.pointerStep)"
    if !extras.contains(inner) { found.append("\(inner) is too much") }
  }
  return found
}

/// `1` and `1.0` are one number.
private func isSameNumber(_ left: JSONValue, _ right: JSONValue) -> Bool {
  switch (left, right) {
  case (.integer(let whole), .double(let number)), (.double(let number), .integer(let whole)): Double(whole) == number
  default: false
  }
}
