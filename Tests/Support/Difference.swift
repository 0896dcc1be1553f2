/// How a collection differs from what was expected, in any order, each element as often as it comes; nil: not at all.
/// For two arrays that differ `#expect` looks for the shortest way from one to the other, in a time that grows with the
/// square of their number, and prints them whole. This takes one pass, and names the first few of what is missing and of
/// what should not be there.
///
///     #expect(difference(accepted.map(\.token), from: tokens) == nil)
package func difference<Element: Hashable>(
  _ found: some Sequence<Element>, from expected: some Sequence<Element>
) -> String? {
  var left: [Element: Int] = [:]
  for element in expected { left[element, default: 0] += 1 }
  var surplus = Named<Element>()
  for element in found {
    if let count = left[element], count > 0 { left[element] = count - 1 } else { surplus.add(element) }
  }
  var missing = Named<Element>()
  // In the order in which they were expected.
  for element in expected {
    guard let count = left[element], count > 0 else { continue }
    left[element] = count - 1
    missing.add(element)
  }
  let parts = [("missing", missing), ("not expected", surplus)].compactMap { word, named in
    named.count == 0 ? nil : "\(named.count) \(word): \(named.text)"
  }
  return parts.isEmpty ? nil : parts.joined(separator: "; ")
}

/// Counts elements, and describes the first few of them.
private struct Named<Element> {
  private(set) var count = 0
  private var first: [String] = []
  private static var most: Int { 5 }
  private static var longest: Int { 200 }

  mutating func add(_ element: Element) {
    count += 1
    guard count <= Self.most else { return }
    let text = "\(element)"
    let beginning = text.prefix(Self.longest)
    first.append(beginning.endIndex < text.endIndex ? beginning + "…" : text)
  }

  var text: String { first.joined(separator: ", ") + (count > Self.most ? ", …" : "") }
}
