import Domain
import RedisClient

/// Whose words.
struct WordPlace: Hashable {
  var partition: Int
  var app: AppID
}

/// The words of records, as this process has learned them. Forgotten with the connection: a Redis that lost its last
/// writes may give their numbers to other texts.
struct WordShelf {
  var books: [WordPlace: StringTable] = [:]
  var candidates: [AppID: WordCandidates] = [:]
  /// One more with each connection.
  private(set) var edition = 0

  mutating func clear() {
    let next = edition + 1
    self = WordShelf()
    edition = next
  }
}

/// Texts that get numbers, which are on their way.
struct Lesson {
  fileprivate var place: WordPlace
  fileprivate var texts: [String]
  fileprivate var numbers: RedisPipeline
  /// Of the shelf that it is for.
  fileprivate var edition: Int
}

/// The strings that device records of a partition share, and their numbers. What this process has learned stands in the
/// session, until the connection is lost; used on its loop.
struct StringTables: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// As far as this process has learned them; good until the next await.
  func words(_ partition: Int, _ app: AppID) -> StringTable {
    session.registry.shelf.books[WordPlace(partition: partition, app: app)] ?? StringTable()
  }

  /// Has numbers given to texts that have come up often enough.
  func learnWords(_ writes: [DeviceWrite], _ chosen: [Int], _ place: WordPlace) async throws(StoreError) {
    if let lesson = lesson(of: writes, chosen, place) { try await learn(lesson) }
  }

  /// Asks for numbers of such texts; nil: there are none.
  func lesson(of writes: [DeviceWrite], _ chosen: [Int], _ place: WordPlace) -> Lesson? {
    var wanted = Set<ExactText>()
    let book = session.registry.shelf.books[place] ?? StringTable()
    guard book.count < StringTable.limit else { return nil }
    var candidates = session.registry.shelf.candidates.removeValue(forKey: place.app) ?? WordCandidates()
    for at in chosen {
      writes[at].forEachRepeatingText { text in
        guard book.number(text) == nil, text.utf8.count <= StringTable.longest, candidates.met(text) else { return }
        wanted.insert(ExactText(text))
      }
    }
    session.registry.shelf.candidates[place.app] = candidates
    guard !wanted.isEmpty else { return nil }
    let texts = wanted.map(\.text)
    var rest = texts[...]
    let numbers = redis.begin(Scripts.intern) {
      guard !rest.isEmpty else { return nil }
      let some = rest.prefix(Self.textsPerScript)
      rest = rest.dropFirst(Self.textsPerScript)
      return ScriptRun(
        keys: [keys.words(place.partition, place.app)],
        [.number(Int64(StringTable.limit))] + some.map { .text($0) })
    }
    return Lesson(place: place, texts: texts, numbers: numbers, edition: session.registry.shelf.edition)
  }

  func learn(_ lesson: Lesson) async throws(StoreError) {
    let replies = try await replies(lesson.numbers, partition: lesson.place.partition)
    guard lesson.edition == session.registry.shelf.edition else { return }
    for (text, number) in zip(lesson.texts, replies.flatMap { $0.array ?? [] }) {
      if let number = number.integer, number >= 0 {
        session.registry.shelf.books[lesson.place, default: StringTable()].learn(text, Int(number))
      }
    }
  }

  private static let textsPerScript = 100

  func loadWords(_ place: WordPlace) async throws(StoreError) {
    let reply = try await ask(
      RedisCommand("HGETALL", keys.words(place.partition, place.app)), partition: place.partition)
    var book = StringTable()
    for (text, number) in pairs(reply.array ?? []) {
      if let number = StoredNumber.read(number) {
        book.learn(String(decoding: text, as: UTF8.self), number)
      }
    }
    session.registry.shelf.books[place] = book
  }
}
