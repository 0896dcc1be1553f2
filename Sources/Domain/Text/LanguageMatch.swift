/// Choosing among languages for a device (BCP 47 lookup): `de-AT` takes `de-AT`, else `de`, else nothing.
package enum LanguageMatch {
  /// The indexes of those that fit the tag, best first.
  package static func matches(for tag: String, among languages: [String]) -> [Int] {
    let names = languages.map(canonical)
    return ranges(of: canonical(tag)).compactMap { range in names.firstIndex(of: range) }
  }

  /// The tag and its shorter forms. Chinese is written in two ways: a tag that names a region and no script is taken for
  /// the script of that region.
  private static func ranges(of tag: String) -> [String] {
    var parts = tag.split(separator: "-").map(String.init)
    var ranges: [String] = []
    while !parts.isEmpty {
      ranges.append(parts.joined(separator: "-"))
      parts.removeLast()
      // A single letter introduces what followed it.
      if parts.last?.utf8.count == 1, parts.count > 1 { parts.removeLast() }
    }
    if let script = script(of: tag), let last = ranges.popLast() { ranges += ["zh-\(script)", last] }
    return ranges
  }

  private static func script(of tag: String) -> String? {
    let parts = tag.split(separator: "-")
    guard parts.first == "zh", !parts.contains("hant"), !parts.contains("hans") else { return nil }
    return parts.contains { $0 == "tw" || $0 == "hk" || $0 == "mo" } ? "hant" : "hans"
  }

  private static func canonical(_ tag: String) -> String {
    String(decoding: tag.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self).lowercased()
  }
}
