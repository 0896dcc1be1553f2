import Domain
import RedisClient

/// Whose words.
struct WordPlace: Hashable {
  var partition: Int
  var app: AppID
}

/// The words of records, as this process has learned them. Forgotten with the connection: a Redis that lost its last writes
/// may give their numbers to other texts.
struct WordShelf {
  var books: [WordPlace: WordBook] = [:]
  var candidates: [AppID: WordCandidates] = [:]
}

extension Store {
  /// As far as this process has learned them; good until the next await.
  func words(_ partition: Int, _ app: AppID) -> WordBook {
    shelf.books[WordPlace(partition: partition, app: app)] ?? WordBook()
  }

  /// Has numbers given to texts that have come up often enough.
  func learnWords(_ writes: [DeviceWrite], _ chosen: [Int], _ place: WordPlace) async throws(StoreError) {
    var wanted = Set<ExactText>()
    let book = shelf.books[place] ?? WordBook()
    guard book.count < WordBook.limit else { return }
    var candidates = shelf.candidates.removeValue(forKey: place.app) ?? WordCandidates()
    for at in chosen {
      writes[at].forEachRepeatingText { text in
        guard book.number(text) == nil, text.utf8.count <= WordBook.longest, candidates.met(text) else { return }
        wanted.insert(ExactText(text))
      }
    }
    shelf.candidates[place.app] = candidates
    guard !wanted.isEmpty else { return }
    let texts = wanted.map(\.text)
    let chunks = stride(from: 0, to: texts.count, by: Self.textsPerScript).map {
      texts[$0..<min(texts.count, $0 + Self.textsPerScript)]
    }
    let replies = try await ask(
      Scripts.intern,
      chunks.map { texts in
        (
          keys: [keys.words(place.partition, place.app)],
          arguments: [.number(Int64(WordBook.limit))] + texts.map { .text($0) }
        )
      }, partition: place.partition)
    for (text, number) in zip(texts, replies.flatMap { $0.array ?? [] }) {
      if let number = number.integer, number >= 0 {
        shelf.books[place, default: WordBook()].learn(text, Int(number))
      }
    }
  }

  private static let textsPerScript = 100

  func loadWords(_ place: WordPlace) async throws(StoreError) {
    let reply = try await ask(
      RedisCommand("HGETALL", keys.words(place.partition, place.app)), partition: place.partition)
    var book = WordBook()
    for (text, number) in pairs(reply.array ?? []) {
      if let number = Int(String(decoding: number, as: UTF8.self)) {
        book.learn(String(decoding: text, as: UTF8.self), number)
      }
    }
    shelf.books[place] = book
  }
}
