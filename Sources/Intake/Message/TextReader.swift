import Domain

/// Reads texts that a person sees, and notices whether one of them has placeholders.
struct TextReader {
  /// False: no text that was read has any. True of a text that only looks like it, too.
  private(set) var hasPlaceholders = false

  /// `text`: nil until now.
  mutating func read(_ name: String, _ fields: Fields, into text: inout String?, _ findings: inout Findings) {
    fields.read(name, .prose, into: &text, &findings)
    if let text { check(text, at: fields.place.member(name), &findings) }
  }

  mutating func check(_ text: String, at place: @autoclosure () -> Place, _ findings: inout Findings) {
    guard PlaceholderRules.mayApply(to: text) else { return }
    hasPlaceholders = true
    do throws(TemplateFault) {
      _ = try TextTemplate(parsing: text)
    } catch {
      findings.refuse(place(), .invalidPlaceholder, error.detail)
    }
  }
}
