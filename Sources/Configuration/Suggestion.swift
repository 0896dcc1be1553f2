/// What was meant by a misspelt word.
package enum Suggestion {
  /// The candidate nearest to `word`, if it is near enough to be meant: a third of its letters may differ, or it begins
  /// like the word.
  package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
    let letters = Array(word.lowercased().unicodeScalars)
    let allowed = max(1, letters.count / 3)
    let ranked = candidates.map { candidate in
      let other = Array(candidate.lowercased().unicodeScalars)
      let abbreviated = letters.count > 2 && other.starts(with: letters)
      return (name: candidate, distance: abbreviated ? 1 : distance(letters, other))
    }
    let best = ranked.min { ($0.distance, $0.name) < ($1.distance, $1.name) }
    guard let best, best.distance <= allowed else { return nil }
    return best.name
  }

  /// Edits (insert, remove, replace, swap of neighbours) that turn one word into the other.
  private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    var before: [Int] = []
    var row = Array(0...right.count)
    for (place, letter) in left.enumerated() {
      var next = [place + 1]
      for (other, candidate) in right.enumerated() {
        var least = min(row[other] + (letter == candidate ? 0 : 1), row[other + 1] + 1, next[other] + 1)
        if place > 0, other > 0, letter == right[other - 1], left[place - 1] == candidate {
          least = min(least, before[other - 1] + 1)
        }
        next.append(least)
      }
      before = row
      row = next
    }
    return row[right.count]
  }
}
