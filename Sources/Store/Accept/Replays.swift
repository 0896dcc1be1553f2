package import Domain
import RedisClient

/// A replay of a message, and which deliveries of that message it looked at.
package struct Replay: Hashable, Sendable {
  /// Of the new message. It does not exist if the replay was cut off before it was stored.
  package var id: MessageID
  /// Nil: from the first delivery on.
  package var from: DeliveryPlace?
  /// The first delivery that it left to the next replay; nil: none.
  package var next: DeliveryPlace?

  package init(id: MessageID, from: DeliveryPlace? = nil, next: DeliveryPlace? = nil) {
    self.id = id
    self.from = from
    self.next = next
  }

  /// They have looked at some of the same deliveries.
  func overlaps(_ other: Replay) -> Bool {
    func isBefore(_ end: DeliveryPlace?, _ start: DeliveryPlace?) -> Bool {
      guard let end, let start else { return false }
      return !(start < end)
    }
    return !isBefore(next, other.from) && !isBefore(other.next, from)
  }

  /// As it is stored: `0.12 3.400`; either place may be missing.
  var packed: String { "\(from?.text ?? "") \(next?.text ?? "")" }

  init?(id: MessageID, packed: String) {
    let places = packed.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard places.count == 2 else { return nil }
    self.init(id: id, from: DeliveryPlace(text: String(places[0])), next: DeliveryPlace(text: String(places[1])))
  }
}

/// Which replays a message has, so that no device gets it again from two of them. Holds nothing but its session, on
/// whose loop it is used. That the message of a replay is stored is not its matter.
package struct Replays: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Milliseconds for which one replay is made without others: one that was cut off holds them up for so long.
  private static let workMilliseconds: Int64 = 120_000

  /// Nobody else may make a replay of the message until `end` is called with the same `mark`, a random number. What was
  /// noted so far, oldest first; nil: another replay is being made.
  package func begin(_ parent: MessageID, mark: UInt64) async throws(StoreError) -> [Replay]? {
    let reply = try await ask(
      Scripts.lockReplays, keys: [keys.replays(parent)],
      [.text(String(mark)), .number(Self.workMilliseconds), .number(settings.retentionSeconds)])
    return reply.array.map { Self.replays($0) }
  }

  /// Before the message of the replay is stored. It stays as long as that message may be read. `ttl`: of the message.
  package func note(_ replay: Replay, of parent: MessageID, ttl: Int) async throws(StoreError) {
    let key = keys.replays(parent)
    let life = String(Int64(ttl) + settings.retentionSeconds)
    var note = RedisCommand("HSET", key)
    note.append(replay.id.raw)
    note.append(replay.packed)
    _ = try await ask([note, RedisCommand("EXPIRE", key, life, "GT")], partition: keys.home(parent))
  }

  package func end(_ parent: MessageID, mark: UInt64) async throws(StoreError) {
    _ = try await ask(Scripts.unlockReplays, keys: [keys.replays(parent)], [.text(String(mark))])
  }

  /// What was noted, oldest first.
  package func all(of parent: MessageID) async throws(StoreError) -> [Replay] {
    Self.replays(try await ask(RedisCommand("HGETALL", keys.replays(parent))).array ?? [])
  }

  /// The messages that a replay goes back to, its own parent first; none for a message that is no replay.
  package func ancestors(of id: MessageID) async throws(StoreError) -> [MessageID] {
    var found: [MessageID] = []
    var next = id
    while let parent = try await MessageArchive(session).find([next])[0]?.text("rep").flatMap({ MessageID($0) }),
      parent != id, !found.contains(parent)
    {
      found.append(parent)
      next = parent
    }
    return found
  }

  /// Replays that are no replays of this one, and may still have had a device of it: of its ancestors, for the same
  /// deliveries.
  package func beside(_ id: MessageID, ancestors: [MessageID]) async throws(StoreError) -> [Replay] {
    var found: [Replay] = []
    var child = id
    for parent in ancestors {
      let noted = try await all(of: parent)
      let own = noted.first { $0.id == child }
      found += noted.filter { $0.id != child && own?.overlaps($0) != false }.map { Replay(id: $0.id) }
      child = parent
    }
    return found
  }

  /// Replays that are stored, and the replays of these: of each level the newest. Oldest first.
  func stored(of root: MessageID) async throws(StoreError) -> [MessageID] {
    var noted: Set<MessageID> = []
    var parents = [root]
    while !parents.isEmpty, noted.count < Self.mostTold {
      let replies = try await ask(parents.map { RedisCommand("HKEYS", keys.replays($0)) })
      let names = replies.flatMap { $0.array ?? [] }.compactMap { $0.bytes.flatMap { MessageID(raw: $0) } }
      parents = names.sorted().suffix(Self.mostTold - noted.count).filter { noted.insert($0).inserted }
    }
    guard !noted.isEmpty else { return [] }
    let all = noted.sorted()
    let found = try await MessageArchive(session).find(all)
    return zip(all, found).compactMap { $1 == nil ? nil : $0 }
  }
  private static let mostTold = 100

  private static func replays(_ reply: [RedisReply]) -> [Replay] {
    pairs(reply).compactMap { name, value in
      MessageID(raw: name).flatMap { Replay(id: $0, packed: String(decoding: value, as: UTF8.self)) }
    }
    .sorted { $0.id < $1.id }
  }
}
