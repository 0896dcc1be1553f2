import Domain
import Support
import Testing

@testable import Store

/// Who may do what to which key, as values.
@Suite("A key gives nothing that it does not have")
struct KeyRulesTests {
  private static let now = WallTime(seconds: 1_000)
  private static let ends: [WallTime?] = [nil, now + 5_000, now + 10_000]
  private static let ranges = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "2001:db8::/32", "2001:db8::7"].compactMap {
    AddressRange($0)
  }
  /// Addresses that tell the ranges apart.
  private static let places = ["10.9.9.9", "10.1.9.9", "10.1.2.3", "192.0.2.1", "2001:db8::1", "2001:db8::7"].compactMap
  {
    NetworkAddress($0)
  }

  /// All that a key can do: which scope, when and from where.
  private struct Deed: Hashable {
    var scope: Scope
    var time: WallTime
    var place: NetworkAddress
  }

  /// What the key is good for, found by asking for each deed.
  private static func power(_ key: APIKey) -> Set<Deed> {
    var deeds: Set<Deed> = []
    for time in [now, now + 5_000, now + 10_000] where !key.hasEnded(time) {
      for scope in Scope.allCases where key.may(scope) {
        for place in places where key.isValid(from: place) {
          deeds.insert(Deed(scope: scope, time: time, place: place))
        }
      }
    }
    return deeds
  }

  private static func key(_ id: String, _ random: inout Seeded) -> APIKey {
    let scopes = Scope.allCases.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
    let ranges = Bool.random(using: &random) ? [] : ranges.filter { _ in Bool.random(using: &random) }
    return APIKey(
      id: id, app: shop, name: id, scopes: Set(scopes), createdAt: now, expiresAt: random.pick(ends), addresses: ranges,
      secrets: [APIKey.Secret(hash: [1], createdAt: now)])
  }

  @Test("whatever a key makes, changes or rotates can do no more than it can itself, before and after")
  func noMore() throws {
    var random = Seeded()
    var (done, refused) = (0, 0)
    for _ in 0..<20_000 {
      var maker = Self.key("maker", &random)
      if Int.random(in: 0..<3, using: &random) > 0 { maker.scopes.insert(.keys) }
      let target = Self.key("target", &random)
      let wanted = Self.key("wanted", &random)
      guard let rules = try? KeyRules([maker, target], maker: "maker", now: Self.now) else {
        #expect(!maker.may(.keys))
        continue
      }
      let own = Self.power(maker)
      let edit = KeyEdit(
        name: Bool.random(using: &random) ? "new" : nil, scopes: Bool.random(using: &random) ? wanted.scopes : nil,
        expiresAt: Bool.random(using: &random) ? .some(wanted.expiresAt) : nil,
        addresses: Bool.random(using: &random) ? wanted.addresses : nil)
      let new = NewKey(
        name: "", scopes: wanted.scopes, expiresAt: wanted.expiresAt, addresses: wanted.addresses)
      let made = [
        try? rules.created(new, id: "new", app: shop, hash: [2]), try? rules.changed("target", by: edit),
        try? rules.rotated("target", keep: 1, hash: [2]),
      ]
      for (place, key) in made.enumerated() {
        guard let key else {
          refused += 1
          continue
        }
        done += 1
        #expect(Self.power(key).isSubset(of: own), "seed \(random.seed)")
        if place > 0 { #expect(Self.power(target).isSubset(of: own), "seed \(random.seed)") }
      }
      // Nothing is refused for its power that has no more of it. A key without a power is nobody's to give.
      if wanted.scopes.isSubset(of: maker.scopes), wanted.expiresAt == maker.expiresAt,
        wanted.addresses == maker.addresses
      {
        #expect(throws: Never.self, "seed \(random.seed)") {
          try rules.created(new, id: "new", app: shop, hash: [2])
        }
      }
    }
    #expect(done > 1_000 && refused > 1_000, "\(done), \(refused)")
  }

  @Test("somebody at the machine may do everything; a key that has ended, or is not there, nothing")
  func makers() throws {
    var admin = Self.plain("admin", [.admin])
    let reader = Self.plain("reader", [.read])
    let rules = try KeyRules([reader], maker: nil, now: Self.now)
    #expect(throws: Never.self) { try rules.mayRevoke("reader") }
    #expect(throws: KeyRefusal.unknown) { try rules.mayRevoke("admin") }
    #expect(throws: KeyRefusal.notYours) { try KeyRules([reader], maker: "reader", now: Self.now) }
    #expect(throws: KeyRefusal.notYours) { try KeyRules([reader], maker: "admin", now: Self.now) }
    admin.expiresAt = Self.now
    #expect(throws: KeyRefusal.notYours) { try KeyRules([admin], maker: "admin", now: Self.now) }
    let many = (0..<APIKey.mostOfApp).map { Self.plain("k\($0)", [.read]) }
    let full = try KeyRules(many, maker: nil, now: Self.now)
    #expect(throws: KeyRefusal.full) {
      try full.created(NewKey(name: "", scopes: []), id: "one more", app: shop, hash: [2])
    }
  }

  @Test(
    "over the API the last key with admin is neither revoked nor made less, and a link's is none; at the machine it is")
  func lastAdmin() throws {
    let (admin, keeper) = (Self.plain("admin", [.admin]), Self.plain("keeper", [.keys]))
    var ended = Self.plain("ended", [.admin])
    ended.expiresAt = Self.now
    var link = Self.plain("link", [.admin])
    link.name = APIKey.nameOfLinks
    let alone = try KeyRules([admin, keeper, ended, link], maker: "admin", now: Self.now)
    #expect(throws: KeyRefusal.lastAdmin) { try alone.mayRevoke("admin") }
    #expect(throws: KeyRefusal.lastAdmin) { try alone.changed("admin", by: KeyEdit(scopes: [.keys])) }
    #expect(throws: KeyRefusal.lastAdmin) { try alone.changed("admin", by: KeyEdit(expiresAt: .some(Self.now + 1))) }
    #expect(try alone.changed("admin", by: KeyEdit(name: "a")).name == "a")
    #expect(throws: Never.self) { try alone.mayRevoke("ended") }
    #expect(throws: Never.self) { try alone.mayRevoke("keeper") }
    let two = try KeyRules([admin, Self.plain("other", [.admin])], maker: "admin", now: Self.now)
    #expect(throws: Never.self) { try two.mayRevoke("admin") }
    #expect(throws: Never.self) { try KeyRules([admin], maker: nil, now: Self.now).mayRevoke("admin") }
    // A key with `keys` alone is no way around it.
    let lesser = try KeyRules([admin, keeper], maker: "keeper", now: Self.now)
    for deed in [{ try lesser.mayRevoke("admin") }, { _ = try lesser.rotated("admin", keep: 0, hash: [2]) }] {
      #expect(throws: KeyRefusal.beyond(.scopes(["admin"]))) { try deed() }
    }
  }

  @Test("a key has at most two secrets, and a former one ends when it is said to")
  func secrets() throws {
    let key = Self.plain("key", [.read])
    let once = try KeyRules([key], maker: nil, now: Self.now).rotated("key", keep: 60_000, hash: [2])
    #expect(once.secrets.map(\.hash) == [[2], [1]])
    #expect(once.secrets.map(\.endsAt) == [nil, Self.now + 60_000])
    let soon = try KeyRules([once], maker: nil, now: Self.now + 59_999)
    #expect(throws: KeyRefusal.rotating(until: Self.now + 60_000)) { try soon.rotated("key", keep: 1, hash: [3]) }
    #expect(try soon.rotated("key", keep: 0, hash: [3]).secrets.map(\.hash) == [[3]])
    let later = try KeyRules([once], maker: nil, now: Self.now + 60_000)
    #expect(try later.rotated("key", keep: 1, hash: [3]).secrets.map(\.hash) == [[3], [2]])
  }

  private static func plain(_ id: String, _ scopes: Set<Scope>) -> APIKey {
    APIKey(
      id: id, app: shop, name: "", scopes: scopes, createdAt: now, addresses: [],
      secrets: [APIKey.Secret(hash: [1], createdAt: now)])
  }
}
