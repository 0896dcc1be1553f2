import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Sessions of the console")
struct ConsoleSessionStories {
  private func signedIn(_ store: Store, _ loop: EventLoop) async throws -> (token: String, identity: IdentifiedKey) {
    let (_, secret) = try await store.keyring.create(
      NewKey(name: "ines", scopes: [.read]), app: shop, now: loop.wallNow)
    let shown = try #require(store.keyring.presented(Array(secret.utf8)))
    guard case .valid(let identity) = try await store.keyring.find(shown) else {
      throw StoreError.unusable("the key is not valid")
    }
    return (try await store.consoleSessions.begin(identity), identity)
  }

  /// That Redis has carried out.
  private func commands(_ store: Store) async throws -> Int {
    let text = try await store.session.redis.call(RedisCommand("INFO", "stats")).text ?? ""
    return text.firstMatch(of: /total_commands_processed:(\d+)/).flatMap { Int($0.1) } ?? 0
  }

  @Test(
    "a token finds its session, with the key that signed in, in each process of the store; a signed-out one finds none")
  func begin() async throws {
    let server = RedisServer()
    try await withStore(quickSettings(partitions: 4), server: server) { store, loop in
      let (token, identity) = try await signedIn(store, loop)
      let found = try #require(try await store.consoleSessions.find(token, prolongs: true))
      #expect(found.key == identity.presented)
      let other = Store(loop: loop, redis: server.endpoint, settings: quickSettings(partitions: 4))
      try await other.open(timeout: 60_000)
      #expect(try await other.consoleSessions.find(token, prolongs: true)?.formSecret == found.formSecret)
      try await store.consoleSessions.end(token)
      #expect(try await store.consoleSessions.find(token, prolongs: true) == nil)
      await loop.sleep(milliseconds: 1_000)
      #expect(try await other.consoleSessions.find(token, prolongs: true) == nil)
      other.close()
    }
  }

  @Test("a token that nobody was given costs Redis nothing; what Redis holds is no token")
  func invented() async throws {
    try await withStore(quickSettings(partitions: 4)) { store, loop in
      let (token, _) = try await signedIn(store, loop)
      let before = try await commands(store)
      for wrong in [
        "", "abc", String(token.dropLast()) + (token.hasSuffix("0") ? "1" : "0"), token + "00", token.uppercased(),
      ] {
        for _ in 0..<20 {
          #expect(try await store.consoleSessions.find(wrong, prolongs: true) == nil, "\(wrong)")
        }
      }
      // The one that asks, and probes of the session: a look-up of any of them would be twenty.
      #expect(try await commands(store) - before < 20)
      let names = try await store.session.redis.call(RedisCommand("KEYS", "*console:*")).array ?? []
      let held = try #require(names.first?.text)
      #expect(names.count == 1 && !held.contains(token))
    }
  }

  @Test("an invitation signs in once, as the key that it was made for; a token of a session is none")
  func invited() async throws {
    try await withStore(quickSettings(partitions: 4)) { store, loop in
      let (token, identity) = try await signedIn(store, loop)
      let invitation = try await store.consoleSessions.invite(identity)
      #expect(try await store.consoleSessions.find(invitation, prolongs: true) == nil)
      #expect(try await store.consoleSessions.accept(token) == nil)
      let entered = try #require(try await store.consoleSessions.accept(invitation))
      #expect(try await store.consoleSessions.find(entered, prolongs: true)?.key == identity.presented)
      #expect(try await store.consoleSessions.accept(invitation) == nil)
      let late = try await store.consoleSessions.invite(identity)
      try await store.consoleSessions.endAll(of: identity.key.id, app: shop)
      let ended = try #require(try await store.consoleSessions.accept(late))
      #expect(try await store.consoleSessions.find(ended, prolongs: true) == nil)
    }
  }

  @Test("a key has so many sessions; when one more begins, the oldest ends, and sessions of other keys stay")
  func bound() async throws {
    try await withStore(quickSettings(partitions: 4)) { store, loop in
      let (other, _) = try await signedIn(store, loop)
      let (first, identity) = try await signedIn(store, loop)
      var tokens = [first]
      for _ in 0..<ConsoleSessions.mostOfKey {
        await loop.sleep(milliseconds: 2)
        tokens.append(try await store.consoleSessions.begin(identity))
      }
      #expect(try await store.consoleSessions.find(first, prolongs: true) == nil)
      for token in tokens.dropFirst() + [other] {
        #expect(try await store.consoleSessions.find(token, prolongs: true) != nil)
      }
    }
  }

  @Test("a form is sent once by each session")
  func forms() async throws {
    try await withStore(quickSettings(partitions: 4)) { store, loop in
      let (token, identity) = try await signedIn(store, loop)
      let second = try await store.consoleSessions.begin(identity)
      #expect(try await store.consoleSessions.spend("a", of: token))
      #expect(try await !store.consoleSessions.spend("a", of: token))
      #expect(try await store.consoleSessions.spend("b", of: token))
      #expect(try await store.consoleSessions.spend("a", of: second))
    }
  }

  @Test("a link tells whose key made it until it is used")
  func inviter() async throws {
    try await withStore(quickSettings(partitions: 4)) { store, loop in
      let (_, identity) = try await signedIn(store, loop)
      let invitation = try await store.consoleSessions.invite(identity)
      #expect(try await store.consoleSessions.inviter(invitation)?.key == identity.key.id)
      _ = try await store.consoleSessions.accept(invitation)
      #expect(try await store.consoleSessions.inviter(invitation) == nil)
    }
  }

  @Test("signed out everywhere, all sessions of the key are over, and those of another key are not")
  func everywhere() async throws {
    try await withStore(quickSettings(partitions: 4)) { store, loop in
      let (first, identity) = try await signedIn(store, loop)
      let second = try await store.consoleSessions.begin(identity)
      let (other, _) = try await signedIn(store, loop)
      try await store.consoleSessions.endAll(of: identity.key.id, app: shop)
      for token in [first, second] { #expect(try await store.consoleSessions.find(token, prolongs: true) == nil) }
      #expect(try await store.consoleSessions.find(other, prolongs: true) != nil)
      let again = try await store.consoleSessions.begin(identity)
      #expect(try await store.consoleSessions.find(again, prolongs: true) != nil)
    }
  }

  @Test("a session ends so long after its last request; a page that asks by itself does not put that off")
  func idle() async throws {
    var settings = quickSettings(partitions: 4)
    settings.consoleIdleMilliseconds = 60_000
    try await withStore(settings) { store, loop in
      let (token, _) = try await signedIn(store, loop)
      let name = try #require(
        try await store.session.redis.call(RedisCommand("KEYS", "*console:*")).array?.first?.text)
      func left() async throws -> Int64 {
        try await store.session.redis.call(RedisCommand("PTTL", name)).integer ?? -9
      }
      _ = try await store.session.redis.call(RedisCommand("PEXPIRE", name, "30000"))
      #expect(try await store.consoleSessions.find(token, prolongs: false) != nil)
      #expect(try await left() <= 30_000)
      #expect(try await store.consoleSessions.find(token, prolongs: true) != nil)
      #expect(try await left() > 30_000)
      _ = try await store.session.redis.call(RedisCommand("DEL", name))
      await loop.sleep(milliseconds: 1_000)
      #expect(try await store.consoleSessions.find(token, prolongs: true) == nil)
    }
  }

  @Test("however busy, a session ends so long after it began")
  func life() async throws {
    var settings = quickSettings(partitions: 4)
    settings.consoleMilliseconds = 0
    try await withStore(settings) { store, loop in
      let (token, _) = try await signedIn(store, loop)
      #expect(try await store.consoleSessions.find(token, prolongs: true) == nil)
      #expect(try await store.session.redis.call(RedisCommand("KEYS", "*console:*")).array?.isEmpty == true)
    }
  }
}
