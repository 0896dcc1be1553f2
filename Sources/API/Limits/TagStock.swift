import Domain
import Loop
import Store

/// Whether an app may have more different tags, where it has a limit of them. The names are read at most every ten seconds,
/// and at least every minute while new ones come; what other processes add meanwhile may pass the limit. Belongs to the loop.
final class TagStock {
  private struct Book {
    var names: Set<ExactText>
    /// There are more than are listed: each tag is looked up by itself.
    var isPartial: Bool
    var readAt: Instant
  }

  private let loop: EventLoop
  private let store: Store
  private let configuration: AdoptedConfiguration
  private var books: [AppID: Book] = [:]

  /// Milliseconds.
  private static let shortest: Int64 = 10_000
  private static let longest: Int64 = 60_000
  /// Tags of one request that are looked up by themselves; the others of a full app count as new.
  private static let mostLookedUp = 1_000
  private static let mostKept = 20_000

  init(loop: EventLoop, store: Store, configuration: AdoptedConfiguration) {
    (self.loop, self.store, self.configuration) = (loop, store, configuration)
  }

  func limit(_ app: AppID) -> Int? { configuration.apps[app]?.limits.tags }

  /// Those of these lists, by their places, that bring more new tags than there is room for. `isTrial`: nothing of them is
  /// about to be written, so that their new tags stay new.
  func refused(of lists: [[String]], _ app: AppID, isTrial: Bool = false) async throws(Problem) -> Set<Int> {
    guard let limit = limit(app) else { return [] }
    var new = Set(lists.joined().map { ExactText($0) })
    if let book = books[app] { new.subtract(book.names) }
    guard !new.isEmpty else { return [] }
    do throws(StoreError) {
      var book = try await book(app, limit, new.count)
      new.subtract(book.names)
      var room = book.isPartial ? 0 : max(0, limit - book.names.count)
      if new.count > room {
        let some = new.prefix(Self.mostLookedUp).map(\.text)
        let used = try await store.tags.areUsed(some, app: app)
        let others = zip(some, used).filter(\.1).map { ExactText($0.0) }
        book.names.formUnion(others)
        new.subtract(others)
        if !book.isPartial { room = max(0, limit - book.names.count) }
      }
      var refused: Set<Int> = []
      for (place, tags) in lists.enumerated() {
        let own = Set(tags.map { ExactText($0) }).intersection(new)
        if own.count > room {
          refused.insert(place)
        } else {
          room -= own.count
          new.subtract(own)
          book.names.formUnion(own)
        }
      }
      if !isTrial { books[app] = book.names.count <= Self.mostKept ? book : nil }
      return refused
    } catch {
      throw Problem(error)
    }
  }

  func check(_ tags: [String], _ app: AppID) async throws(Problem) {
    guard let limit = limit(app), try await !refused(of: [tags], app).isEmpty else { return }
    throw Self.problem(limit)
  }

  static func problem(_ limit: Int) -> Problem {
    Problem(
      .tagLimit,
      "The app has reached its limit of \(limit) different tags (limits.apps.tags), and this request has new ones: "
        + "nothing was done. Use an attribute for a value that differs from device to device")
  }

  private func book(_ app: AppID, _ limit: Int, _ new: Int) async throws(StoreError) -> Book {
    let now = loop.now
    if let book = books[app] {
      let age = now - book.readAt
      let isFull = book.isPartial || book.names.count + new > limit
      if age < (isFull ? Self.shortest : Self.longest) { return book }
    }
    let names = try await store.tags.names(app: app, atMost: limit)
    return Book(names: names ?? [], isPartial: names == nil, readAt: now)
  }
}
