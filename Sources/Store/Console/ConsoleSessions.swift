package import Domain
import Loop
import RedisClient
import TLS

/// Who is signed in to the console.
package struct ConsoleSession: Hashable, Sendable {
  /// The key that signed in: what it may do, and whether it still may, is asked with each request.
  package let key: PresentedKey
  /// When its token was given.
  package let createdAt: WallTime
  /// What the forms of this session carry. It follows from the token, and does not tell it.
  package let formSecret: String
}

/// Sessions of the console. A client has a token, and Redis has its hash: whoever reads Redis cannot sign in by what stands
/// there. Holds a few sessions for less than a second; belongs to the loop of its session with Redis.
package final class ConsoleSessions: StorePart {
  let session: RedisSession
  private var known: [String: (found: ConsoleSession, until: Instant)] = [:]
  /// Counts sessions that were ended here: what was found before is not kept behind that.
  private var ended = 0

  init(_ session: RedisSession) { self.session = session }

  /// Milliseconds for which a session is used without asking Redis again. It ends everywhere within a second.
  private static let cacheMilliseconds: Int64 = 900
  private static let mostKnown = 1_000
  private static let randomBytes = 24
  private static let checkBytes = 8

  /// Files between two steps of a page.
  package var uploads: ConsoleUploads { ConsoleUploads(session) }

  /// A token for whoever has shown this key.
  package func begin(_ identity: IdentifiedKey) async throws(StoreError) -> String {
    let token = newToken()
    let record = try await record(of: identity)
    try await keep(record, under: key(of: token), settings.consoleIdleMilliseconds)
    try await bound(record, key(of: token))
    return token
  }
  /// Sessions of one key at once: when one more begins, the oldest ends.
  package static let mostOfKey = 50

  /// A token by which somebody signs in once, without the key: within `linkMilliseconds`.
  package func invite(_ identity: IdentifiedKey) async throws(StoreError) -> String {
    let token = newToken()
    try await keep(try await record(of: identity), under: key(ofLink: token), Self.linkMilliseconds)
    return token
  }
  package static let linkMilliseconds: Int64 = 300_000

  /// The token of a session for whoever was invited; nil: nobody was by this, or it has been used or has ended.
  package func accept(_ invitation: String) async throws(StoreError) -> String? {
    guard isOurs(invitation) else { return nil }
    let link = key(ofLink: invitation)
    guard let bytes = try await ask(RedisCommand("GET", link)).bytes, var read = try? Record(bytes) else { return nil }
    read.createdAt = loop.wallNow
    let token = newToken()
    // The session before the link goes: whoever is refused here may try again. Of two at once one has the link.
    try await keep(read, under: key(of: token), settings.consoleIdleMilliseconds)
    guard try await ask(RedisCommand("DEL", link)).integer == 1 else {
      try await end(token)
      return nil
    }
    try await bound(read, key(of: token))
    return token
  }

  /// Whose key made this link; nil: nobody's, or it has been used or has ended.
  package func inviter(_ invitation: String) async throws(StoreError) -> (app: AppID, key: String)? {
    guard isOurs(invitation), let bytes = try await ask(RedisCommand("GET", key(ofLink: invitation))).bytes,
      let read = try? Record(bytes)
    else { return nil }
    return (read.app, read.id)
  }

  /// Nil: there is none, or it has ended. `prolongs`: somebody is there, which puts off its idle end.
  package func find(_ token: String, prolongs: Bool) async throws(StoreError) -> ConsoleSession? {
    // What this gateway has not made is not looked for.
    guard isOurs(token) else { return nil }
    if let entry = known[token], entry.until > loop.now { return entry.found }
    known[token] = nil
    try await session.makeSure()
    let (asked, endedBefore) = (loop.now, ended)
    let idle = String(settings.consoleIdleMilliseconds)
    let reply = try await read(key(of: token), prolongedBy: prolongs ? idle : nil)
    guard let bytes = reply.bytes, let read = try? Record(bytes) else { return nil }
    let age = loop.wallNow - read.createdAt
    guard age < settings.consoleMilliseconds, try await edition(read.app, read.id) == read.edition else {
      // It is over whether Redis takes that or not.
      try? await end(token)
      return nil
    }
    let found = ConsoleSession(key: read.key, createdAt: read.createdAt, formSecret: formSecret(of: token))
    if known.count >= Self.mostKnown { known = [:] }
    // A refresh must not keep a visitor's next request from being seen.
    if prolongs, ended == endedBefore { known[token] = (found, asked + Self.cacheMilliseconds) }
    return found
  }

  /// Takes the mark of a form: false where this session has sent the form before. It is known as long as a session lasts.
  package func spend(_ mark: String, of token: String) async throws(StoreError) -> Bool {
    let key = keys.consoleSession(Digits.hexText(Digest.sha256(Array("form \(mark) \(token)".utf8))))
    var command = RedisCommand("SET", key, "", "NX", "PX")
    command.append(settings.consoleMilliseconds)
    let reply = try await ask(command)
    return !reply.isNull
  }

  /// Signs out. Repeating it is harmless.
  package func end(_ token: String) async throws(StoreError) {
    guard isOurs(token) else { return }
    forget()
    _ = try await ask(RedisCommand("DEL", key(of: token)))
    forget()
  }

  /// Signs out whoever signed in with this key, within a second everywhere.
  package func endAll(of id: String, app: AppID) async throws(StoreError) {
    forget()
    _ = try await ask(RedisCommand("HINCRBY", keys.consoleEditions(app), id, "1"))
    forget()
  }

  // MARK: Parts

  /// Ends the oldest sessions of a key that has too many. Those that ended by themselves count until a session's life is over.
  private func bound(_ record: Record, _ session: String) async throws(StoreError) {
    let list = keys.consoleOpen(record.app, record.id)
    let life = settings.consoleMilliseconds
    let replies = try await ask([
      RedisCommand("ZADD", list, String(record.createdAt.milliseconds), session),
      RedisCommand("ZREMRANGEBYSCORE", list, "-inf", "(\(record.createdAt.milliseconds - life)"),
      RedisCommand("PEXPIRE", list, String(life)),
      RedisCommand("ZRANGE", list, "0", String(-Self.mostOfKey - 1)),
    ])
    let surplus = (replies.last?.array ?? []).compactMap(\.text)
    guard !surplus.isEmpty else { return }
    forget()
    for former in surplus {
      _ = try await ask(RedisCommand("DEL", former))
      _ = try await ask(RedisCommand("ZREM", list, former))
    }
    forget()
  }

  private func forget() {
    known = [:]
    ended += 1
  }

  /// A Redis that refuses writes lets an operator look all the same.
  private func read(_ key: String, prolongedBy idle: String?) async throws(StoreError) -> RedisReply {
    if let idle, session.condition.takesWrites {
      do throws(RedisFault) {
        return try await redis.call(RedisCommand("GETEX", key, "PX", idle))
      } catch {
        guard case .refused = error else { throw StoreError(error, 0) }
      }
    }
    return try await ask(RedisCommand("GET", key))
  }

  private func record(of identity: IdentifiedKey) async throws(StoreError) -> Record {
    let (app, id) = (identity.key.app, identity.key.id)
    return Record(
      createdAt: loop.wallNow, app: app, id: id, edition: try await edition(app, id), key: identity.presented)
  }

  private func keep(_ record: Record, under key: String, _ milliseconds: Int64) async throws(StoreError) {
    var command = RedisCommand("SET", key)
    command.append(record.packed)
    command.append("PX")
    command.append(milliseconds)
    _ = try await ask(command)
  }

  private struct Record {
    var createdAt: WallTime
    var app: AppID
    var id: String
    var edition: Int64
    var key: PresentedKey

    init(createdAt: WallTime, app: AppID, id: String, edition: Int64, key: PresentedKey) {
      (self.createdAt, self.app, self.id, self.edition, self.key) = (createdAt, app, id, edition, key)
    }

    var packed: [UInt8] {
      var packer = Packer()
      packer.time(createdAt.milliseconds)
      packer.text(app.rawValue)
      packer.text(id)
      packer.number(Int(clamping: edition))
      packer.blob(key.hash)
      return packer.bytes
    }

    init(_ packed: [UInt8]) throws(Corrupt) {
      var reader = Unpacker(packed)
      createdAt = WallTime(milliseconds: try reader.time())
      app = AppID(rawValue: try reader.text())
      id = try reader.text()
      edition = Int64(try reader.int())
      key = PresentedKey(hash: try reader.blob())
      guard reader.isAtEnd else { throw Corrupt() }
    }
  }

  /// Counts how often all sessions of a key were ended.
  private func edition(_ app: AppID, _ id: String) async throws(StoreError) -> Int64 {
    try await ask(RedisCommand("HGET", keys.consoleEditions(app), id)).integer ?? 0
  }

  private func key(of token: String) -> String {
    keys.consoleSession(Digits.hexText(Digest.sha256(Array(token.utf8))))
  }

  private func key(ofLink token: String) -> String {
    keys.consoleSession(Digits.hexText(Digest.sha256(Array("link".utf8) + Array(token.utf8))))
  }

  /// With a check that only processes of this store can make, so that no look-up is spent on what somebody invented.
  private func newToken() -> String {
    let random = SecureRandom.bytes(Self.randomBytes)
    return Digits.hexText(random + check(random))
  }

  private func isOurs(_ token: String) -> Bool {
    var text = token
    guard text.utf8.count == 2 * (Self.randomBytes + Self.checkBytes),
      let bytes = text.withUTF8({ Digits.hexBytes($0) })
    else { return false }
    return Digest.equal(Array(bytes.suffix(Self.checkBytes)), check(Array(bytes.prefix(Self.randomBytes))))
  }

  private func check(_ random: [UInt8]) -> [UInt8] {
    Array(Digest.hmacSHA256(Array("console".utf8) + random, key: session.cursorSecret).prefix(Self.checkBytes))
  }

  private func formSecret(of token: String) -> String {
    Digits.hexText(Digest.hmacSHA256(Array("form".utf8) + Array(token.utf8), key: session.cursorSecret))
  }
}
