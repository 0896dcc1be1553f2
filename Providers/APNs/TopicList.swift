/// The content of a topic extension: a sequence of texts, each with a sequence of what it is for behind it.
enum TopicList {
  private static let sequence: UInt8 = 0x30
  /// UTF8String, PrintableString, IA5String.
  private static let texts: Set<UInt8> = [0x0c, 0x13, 0x16]

  /// Empty for anything else: such a certificate has the topic of its subject only.
  static func read(_ der: [UInt8]) -> [(topic: String, kinds: [String])] {
    guard let outer = elements(of: der[...]).first else { return [] }
    if texts.contains(outer.tag) { return [(String(decoding: outer.content, as: UTF8.self), [])] }
    guard outer.tag == sequence else { return [] }
    var found: [(topic: String, kinds: [String])] = []
    for element in elements(of: outer.content) {
      if texts.contains(element.tag) {
        found.append((String(decoding: element.content, as: UTF8.self), []))
      } else if element.tag == sequence, !found.isEmpty {
        found[found.count - 1].kinds = elements(of: element.content).filter { texts.contains($0.tag) }
          .map { String(decoding: $0.content, as: UTF8.self) }
      }
    }
    return found
  }

  /// What stands one after the other; ends at the first that is cut off.
  private static func elements(of der: ArraySlice<UInt8>) -> [(tag: UInt8, content: ArraySlice<UInt8>)] {
    var found: [(UInt8, ArraySlice<UInt8>)] = []
    var rest = der
    while let tag = rest.popFirst(), let first = rest.popFirst() {
      var length = Int(first)
      if first >= 0x80 {
        let digits = Int(first & 0x7f)
        guard (1...3).contains(digits), rest.count >= digits else { return found }
        length = rest.prefix(digits).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(digits)
      }
      guard length <= rest.count else { return found }
      found.append((tag, rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return found
  }
}
