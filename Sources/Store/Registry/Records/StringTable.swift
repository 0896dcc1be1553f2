import Domain

/// Texts that repeat over the devices of an app, numbered in one partition: records name them by number. A number never
/// changes its meaning while the store lives, so what a process has learned stays true as long as its connection does.
struct StringTable {
  private(set) var texts: [String?] = []
  private var numbers: [ExactText: Int] = [:]

  /// Two bytes hold a word's number up to here.
  static let limit = 8_000
  /// Longer texts, in bytes, are written out.
  static let longest = 128

  /// One more than the highest number.
  var count: Int { texts.count }
  func number(_ text: String) -> Int? { numbers[ExactText(text)] }
  func text(_ number: Int) -> String? { texts.indices.contains(number) ? texts[number] : nil }

  mutating func learn(_ text: String, _ number: Int) {
    guard (0..<Self.limit).contains(number) else { return }
    while texts.count <= number { texts.append(nil) }
    texts[number] = text
    numbers[ExactText(text)] = number
  }
}

/// Which texts are worth a word: those that a process has met often. Counts are forgotten when there are too many of
/// them, so that texts of single devices crowd out nobody.
struct WordCandidates {
  private var counts: [ExactText: Int] = [:]
  static let occurrences = 16
  private static let limit = 20_000

  /// True when the text has come up often enough.
  mutating func met(_ text: String) -> Bool {
    let key = ExactText(text)
    let count = Self.more(&counts[key, default: 0])
    if counts.count > Self.limit {
      // Its room is kept: an import fills it again and again.
      counts.removeAll(keepingCapacity: true)
      counts[key] = count
    }
    return count >= Self.occurrences
  }

  private static func more(_ count: inout Int) -> Int {
    count += 1
    return count
  }
}

extension Packer {
  /// Nil: 0; a word: its number × 2 + 1; any other text: its length × 2 + 2, and itself.
  mutating func word(_ text: String?, _ words: StringTable) {
    guard let text else { return byte(0) }
    if let word = words.number(text) { return number(word << 1 | 1) }
    number((text.utf8.count + 1) << 1)
    append(text.utf8)
  }
}

extension Unpacker {
  mutating func optionalWord(_ words: StringTable) throws(Corrupt) -> String? {
    let head = try int()
    guard head > 0 else { return nil }
    guard head & 1 == 1 else { return try text(of: (head >> 1) - 1) }
    guard let text = words.text(head >> 1) else { throw Corrupt() }
    return text
  }
  mutating func word(_ words: StringTable) throws(Corrupt) -> String {
    guard let text = try optionalWord(words) else { throw Corrupt() }
    return text
  }
}
