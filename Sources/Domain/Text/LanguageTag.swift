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

  /// For a sentence that begins with the tag, which must not be plausible. Suggests a dash where an underscore stands.
  package static func fault(_ tag: String) -> String {
    let dashed = String(decoding: tag.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self)
    guard dashed != tag, isPlausible(dashed) else { return "is not a language tag (BCP 47) such as `de` or `pt-BR`" }
    return "is not a language tag (BCP 47); did you mean `\(dashed)`?"
  }
}
