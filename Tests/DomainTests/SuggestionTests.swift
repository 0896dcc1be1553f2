import Domain
import Testing

@Suite("What was probably meant")
struct SuggestionTests {
  /// Words without end, counted as they are taken.
  private struct CountedWords: Sequence, IteratorProtocol {
    final class Count { var value = 0 }
    let taken: Count
    func next() -> String? {
      taken.value += 1
      return "word\(taken.value)"
    }
  }

  @Test("a request makes 20 searches, each among 1,000 words at most, however many there are")
  func budget() {
    let taken = CountedWords.Count()
    let budget = SuggestionBudget()
    for _ in 0..<100_000 { _ = budget.nearest(to: "wrod9", among: CountedWords(taken: taken)) }
    #expect(taken.value <= SuggestionBudget.searches * Suggestion.mostCandidates, "\(taken.value)")
    #expect(!budget.spend())
  }

  @Test(
    "words of other lengths are found where they are near",
    arguments: [
      ("titel", "title"), ("collapseKey", "collapse_key"), ("notif", nil), ("plan", "plans"),
      ("notifications", "notification"), ("a", nil), ("subtitles_of", nil), ("xyzzy", nil),
    ])
  func near(_ word: String, _ meant: String?) {
    let found = Suggestion.nearest(to: word, among: ["title", "collapse_key", "notification", "plans", "subtitle"])
    #expect(found == meant)
  }
}
