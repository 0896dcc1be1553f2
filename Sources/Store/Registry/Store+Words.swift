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
  /// Has numbers given to texts that have come up often enough.
  func learnWords(_ records: [DeviceRecord], _ place: WordPlace) async throws(StoreError) {
    var wanted = Set<ExactText>()
    let book = shelf.books[place] ?? WordBook()
    guard book.count < WordBook.limit else { return }
    for record in records {
      for text in record.repeatingTexts where book.number(text) == nil && text.utf8.count <= WordBook.longest {
        if shelf.candidates[place.app, default: WordCandidates()].met(text) { wanted.insert(ExactText(text)) }
      }
    }
    guard !wanted.isEmpty else { return }
    let texts = wanted.map(\.text)
    let numbers =
      try await ask(
        Scripts.intern, keys: [keys.words(place.partition, place.app)],
        [.number(Int64(WordBook.limit))] + texts.map { .text($0) }, partition: place.partition
      ).array ?? []
    for (text, number) in zip(texts, numbers) {
      if let number = number.integer, number >= 0 {
        shelf.books[place, default: WordBook()].learn(text, Int(number))
      }
    }
  }

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
