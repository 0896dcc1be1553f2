/// Plausible BCP 47 tags: a language of 2–3 letters (or 4–8), then subtags of 1–8 letters and digits. Whether they are
/// registered is not asked.
package enum LanguageTag {
  /// At most 35 bytes, with dashes: `pt-BR`, not `pt_BR`.
  package static func isPlausible(_ tag: String) -> Bool {
    let parts = tag.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard tag.utf8.count <= 35, let language = parts.first else { return false }
    guard (2...8).contains(language.count), language.allSatisfy({ $0.isASCIILetter }) else { return false }
    return parts.dropFirst().allSatisfy { part in
      (1...8).contains(part.count) && part.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit }
    }
  }

  /// What is wrong with the form of the tag of a device or text, for a sentence that begins with it. A language has a code
  /// of 2–3 letters: longer ones are possible, but none is registered. Nil: it has the form of a tag.
  package static func fault(in tag: String) -> String? {
    guard !hasForm(tag) else { return nil }
    let dashed = String(decoding: tag.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self)
    let meant = KnownLanguages.withCode(dashed)
    guard hasForm(meant) else { return "is not a language tag (BCP 47) such as `de` or `pt-BR`" }
    return "is not a language tag (BCP 47); did you mean `\(meant)`?"
  }

  private static func hasForm(_ tag: String) -> Bool {
    isPlausible(tag) && tag.utf8.prefix { $0 != UInt8(ascii: "-") }.count <= 3
  }
}
