import Domain
import Support
import Testing

@testable import HTTPServer

@Suite("Bounds of the HTTP server, as values")
struct BoundTests {
  @Test("whatever is held and given back, no bound is passed, and in the end nothing is held")
  func budget() {
    var random = Seeded()
    for _ in 0..<50 {
      let limits = ByteLimits(total: 400_000, perKey: 200_000, perAddress: 150_000)
      var budget = ByteBudget(limits)
      var holds: [ByteBudget.Hold] = []
      for _ in 0..<200 {
        if holds.isEmpty || Bool.random(using: &random) {
          let address = NetworkAddress(ipv4: UInt32.random(in: 0..<4, using: &random))
          holds.append(
            .init(key: "k\(Int.random(in: 0..<3, using: &random))", address: address.low & 3 == 0 ? nil : address))
        }
        let place = Int.random(in: holds.indices, using: &random)
        let (before, all) = (holds[place].bytes, budget.held)
        let wanted = Int.random(in: 0..<120_000, using: &random)
        let refused = budget.set(&holds[place], to: wanted)
        #expect(holds[place].bytes == (refused == nil ? wanted : before), "seed \(random.seed)")
        #expect(refused == nil || wanted > before, "fewer bytes are always granted: seed \(random.seed)")
        if refused != nil { #expect(budget.held == all, "seed \(random.seed)") }
        func sum(_ isOf: (ByteBudget.Hold) -> Bool) -> Int {
          holds.filter { isOf($0) && $0.bytes > ByteBudget.small }.reduce(0) { $0 + $1.bytes }
        }
        #expect(budget.held == holds.reduce(0) { $0 + $1.bytes } && budget.held <= limits.total, "seed \(random.seed)")
        for hold in holds {
          #expect(sum { $0.key == hold.key } <= limits.perKey, "seed \(random.seed)")
          if hold.address != nil {
            #expect(sum { $0.address == hold.address } <= limits.perAddress, "seed \(random.seed)")
          }
        }
      }
      for place in holds.indices { budget.release(&holds[place]) }
      #expect(budget.isIdle, "seed \(random.seed)")
    }
  }

  @Test("each bound refuses by its own name")
  func shares() {
    var budget = ByteBudget(ByteLimits(total: 100_000, perKey: 60_000, perAddress: 50_000))
    let address = NetworkAddress(ipv4: 1)
    var (one, two, three) = (
      ByteBudget.Hold(key: "a", address: address), ByteBudget.Hold(key: "b", address: address),
      ByteBudget.Hold(key: "a", address: nil)
    )
    #expect(budget.set(&one, to: 40_000) == nil)
    #expect(budget.set(&two, to: 20_000) == .address)
    #expect(budget.set(&two, to: ByteBudget.small) == nil, "small ones count for the total only")
    #expect(budget.set(&three, to: 20_001) == .key)
    #expect(budget.set(&three, to: 20_000) == nil)
    var four = ByteBudget.Hold(key: "c", address: nil)
    #expect(budget.set(&four, to: 30_000) == .total)
    #expect(budget.set(&four, to: 30_000, mustBe: true) == nil)
    #expect(budget.held == 106_384)
    #expect(budget.set(&two, to: ByteBudget.small + 1) == .total, "the others wait until it is given back")
    budget.release(&four)
    #expect(budget.held == 76_384)
  }

  @Test("an address has so many connections, but for the machine itself and trusted proxies")
  func addresses() throws {
    var book = AddressBook(limit: 2, trustedProxies: [try #require(AddressRange("10.0.0.0/8"))])
    let stranger = try #require(NetworkAddress("2001:db8::1"))
    let neighbour = try #require(NetworkAddress("2001:db8::ffff"))
    for address in [stranger, neighbour] {
      #expect(book.mayConnect(address))
      book.opened(address)
    }
    #expect(!book.mayConnect(stranger) && !book.mayConnect(neighbour))
    #expect(book.mayConnect(try #require(NetworkAddress("2001:db8:0:1::1"))))
    book.closed(neighbour)
    #expect(book.mayConnect(stranger))
    for text in ["127.0.0.1", "::1", "10.9.9.9"] {
      let shared = try #require(NetworkAddress(text))
      for _ in 0..<5 { book.opened(shared) }
      #expect(book.mayConnect(shared), "\(text)")
    }
    let other = try #require(NetworkAddress("127.0.0.2"))
    for _ in 0..<2 { book.opened(other) }
    #expect(!book.mayConnect(other))
  }

  @Test(
    "the address is the peer's, or whom a trusted proxy names last",
    arguments: [
      ("192.0.2.1", ["1.1.1.1"], "192.0.2.1"), ("10.0.0.1", ["1.1.1.1"], "1.1.1.1"),
      ("10.0.0.1", ["6.6.6.6, 1.1.1.1"], "1.1.1.1"), ("10.0.0.1", ["6.6.6.6,1.1.1.1 ,10.0.0.2"], "1.1.1.1"),
      ("10.0.0.1", ["6.6.6.6", "2001:db8::1"], "2001:db8::1"), ("10.0.0.1", [], "10.0.0.1"),
      ("10.0.0.1", ["1.1.1.1, unknown"], "10.0.0.1"), ("10.0.0.1", [""], "10.0.0.1"),
      ("10.0.0.1", ["10.0.0.3"], "10.0.0.1"),
    ])
  func forwarded(peer: String, headers: [String], client: String) throws {
    let book = AddressBook(limit: 1, trustedProxies: [try #require(AddressRange("10.0.0.0/8"))])
    let found = book.client(
      peer: try #require(NetworkAddress(peer)),
      [Header("x-other", "9.9.9.9")] + headers.map { Header("x-forwarded-for", $0) })
    #expect(found == NetworkAddress(client))
  }

  @Test("bytes must keep the least rate in each window, and end in time")
  func pace() {
    let start = Instant(nanoseconds: 1_000_000_000)
    var pace = TransferPace(now: start, window: 1_000, leastRate: 100, longest: 3_500)
    #expect(pace.deadline == start + 1_000)
    pace.move(99, now: start + 900)
    #expect(pace.deadline == start + 1_000, "a byte too few")
    pace.move(1, now: start + 900)
    #expect(pace.deadline == start + 1_900)
    pace.move(1_000_000, now: start + 1_000)
    #expect(pace.deadline == start + 2_000, "what came early does not count for later")
    pace.move(100, now: start + 1_900)
    pace.move(100, now: start + 2_800)
    #expect(pace.deadline == start + 3_500, "the end of all")
    var fast = TransferPace(now: start, window: .max, leastRate: .max, longest: .max)
    fast.move(.max, now: start)
    fast.move(.max, now: start)
    #expect(fast.deadline > start)
  }
}
