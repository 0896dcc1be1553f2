/// Finds the word that was probably meant.
package enum Suggestion {
  /// Longer words get no suggestion: they are no slip of the hand, and comparing them costs time.
  private static let longestWord = 40
  /// Candidates that are compared; a search costs no more, however many there are.
  package static let mostCandidates = 1_000

  /// The nearest of `candidates`, if near enough to be a slip: a third of its letters, three at most, or cut off. Case and
  /// underscores count for nothing, so that `collapseKey` finds `collapse_key`.
  package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
    let word = plain(word)
    guard !word.isEmpty, word.count <= longestWord else { return nil }
    var best: (word: String, distance: Int)?
    for candidate in candidates.prefix(mostCandidates) {
      let other = plain(candidate)
      // Half of it at least: `push` is no slip for `push_to_talk`.
      let isCutOff = word.count > 2 && word.count * 2 >= other.count && other.starts(with: word)
      let allowed = max(1, min(3, other.count / 3))
      // Words are at least as far apart as their lengths.
      guard isCutOff || abs(word.count - other.count) <= allowed else { continue }
      let distance = isCutOff ? 1 : distance(word, other)
      if distance <= allowed, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.word
  }

  private static func plain(_ word: String) -> [UInt8] {
    word.utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }
      .map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }

  /// Insertions, deletions, replacements and swaps of neighbours between two words.
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var before: [Int] = []
    var last = Array(0...right.count)
    for row in 0..<left.count {
      var next = [row + 1]
      next.reserveCapacity(right.count + 1)
      for column in 0..<right.count {
        let replaced = last[column] + (left[row] == right[column] ? 0 : 1)
        var least = min(replaced, last[column + 1] + 1, next[column] + 1)
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          least = min(least, before[column - 1] + 1)
        }
        next.append(least)
      }
      before = last
      last = next
    }
    return last[right.count]
  }
}
