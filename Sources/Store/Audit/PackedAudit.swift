import Domain

/// Entries of a trail in one value: a version, the words that stand in them, and then entry after entry. Times are told by
/// how long before the whole was written.
enum PackedAudit {
  private static let version: UInt8 = 1

  /// `now`: when it is written.
  static func pack(_ entries: [AuditEntry], at now: WallTime) -> [UInt8] {
    var words = WordTable()
    var body = Packer()
    body.reserve(entries.count * 64)
    for entry in entries { append(entry, at: now, &words, to: &body) }
    var packer = Packer()
    packer.byte(version)
    packer.number(words.all.count)
    for word in words.all { packer.text(word) }
    packer.number(entries.count)
    packer.append(body.bytes)
    return packer.bytes
  }

  private static func append(_ entry: AuditEntry, at now: WallTime, _ words: inout WordTable, to body: inout Packer) {
    body.time(now - entry.at)
    body.time(entry.at - entry.beganAt)
    body.byte(UInt8(AuditEntry.Outcome.allCases.firstIndex(of: entry.outcome) ?? 0))
    body.number(entry.status ?? 0)
    for (slot, word) in entry.words.enumerated() { body.number(words.number(of: word, slot: slot)) }
    for digest in [entry.requestDigest, entry.before, entry.after] {
      body.byte(digest == nil ? 0 : 1)
      if let digest { body.uuid(digest.bytes) }
    }
  }

  /// `now`: when it was written.
  static func entries(_ bytes: [UInt8], at now: WallTime) throws(Corrupt) -> [AuditEntry] {
    var reader = Unpacker(bytes)
    guard try reader.byte() == version else { throw Corrupt() }
    var words: [String] = []
    for _ in 0..<(try reader.int()) { words.append(try reader.text()) }
    var entries: [AuditEntry] = []
    for _ in 0..<(try reader.int()) { entries.append(try entry(&reader, words, at: now)) }
    return entries
  }

  private static func entry(
    _ reader: inout Unpacker, _ words: [String], at now: WallTime
  ) throws(Corrupt) -> AuditEntry {
    let at = now + -(try reader.time())
    let beganAt = at + -(try reader.time())
    let outcome = Int(try reader.byte())
    let status = try reader.int()
    var told: [String?] = []
    for _ in 0..<AuditEntry.wordCount {
      let number = try reader.int()
      guard number <= words.count else { throw Corrupt() }
      told.append(number == 0 ? nil : words[number - 1])
    }
    guard AuditEntry.Outcome.allCases.indices.contains(outcome), let operation = told[0] else { throw Corrupt() }
    var entry = AuditEntry(operation: operation, at: at)
    entry.beganAt = beganAt
    entry.outcome = AuditEntry.Outcome.allCases[outcome]
    entry.status = status == 0 ? nil : status
    entry.words = told
    entry.requestDigest = try digest(&reader)
    entry.before = try digest(&reader)
    entry.after = try digest(&reader)
    return entry
  }

  private static func digest(_ reader: inout Unpacker) throws(Corrupt) -> AuditDigest? {
    try reader.flag() ? AuditDigest(try reader.uuid()) : nil
  }

  /// Numbers of words, from 1. Most words are those of the entry before.
  private struct WordTable {
    private(set) var all: [String] = []
    private var known: [String: Int] = [:]
    private var last = [(word: String, number: Int)](repeating: ("", 0), count: AuditEntry.wordCount)

    mutating func number(of word: String?, slot: Int) -> Int {
      guard let word else { return 0 }
      if last[slot].number > 0, last[slot].word == word { return last[slot].number }
      // What an act has made has an id of its own: to look for it costs more than its bytes.
      let number = slot == AuditEntry.createdSlot ? all.count + 1 : known[word] ?? all.count + 1
      if number > all.count {
        all.append(word)
        if slot != AuditEntry.createdSlot { known[word] = number }
      }
      last[slot] = (word, number)
      return number
    }
  }
}

extension AuditEntry {
  static let wordCount = 9
  /// Where `created` stands among the words.
  fileprivate static let createdSlot = 5
  /// In the order in which they are stored.
  fileprivate var words: [String?] {
    get { [operation, key, user, address, object, created, code, requestID, query] }
    set {
      operation = newValue[0] ?? operation
      (key, user, address, object) = (newValue[1], newValue[2], newValue[3], newValue[4])
      (created, code, requestID, query) = (newValue[5], newValue[6], newValue[7], newValue[8])
    }
  }
}
