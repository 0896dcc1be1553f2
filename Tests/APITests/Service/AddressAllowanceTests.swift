import Domain
import Support
import Testing

@testable import API

@Suite("What an address may do, and bursts, as values")
struct AddressAllowanceTests {
  @Test("an address gets its burst and one more each second, whatever others do; the table is bounded")
  func model() {
    var random = Seeded()
    for _ in 0..<20 {
      var keys = AddressAllowance(burst: 5, recovery: 1_000, capacity: 8)
      var granted: [NetworkAddress: [Int64]] = [:]
      var time: Int64 = 0
      for _ in 0..<2_000 {
        time += Int64.random(in: 0..<200, using: &random)
        let address = NetworkAddress(ipv4: UInt32.random(in: 0..<6, using: &random))
        let now = Instant(nanoseconds: 1_000_000_000) + time
        if let wait = keys.take(address, now: now) {
          #expect((1...1_000).contains(wait), "seed \(random.seed)")
        } else {
          granted[address, default: []].append(time)
        }
        #expect(keys.count <= 8)
      }
      for times in granted.values {
        #expect(times.count >= 5, "seed \(random.seed)")
        for (place, time) in times.enumerated() {
          // In any span: the burst, and what recovers meanwhile.
          let first = times[max(0, place - 20)]
          let count = place - max(0, place - 20) + 1
          #expect(Int64(count) <= 5 + (time - first) / 1_000 + 1, "seed \(random.seed)")
        }
      }
    }
  }

  @Test("what is given back costs nothing, and addresses beyond the table share one bucket")
  func shared() {
    var keys = AddressAllowance(burst: 2, recovery: 1_000, capacity: 2)
    let now = Instant(nanoseconds: 5_000_000_000)
    for _ in 0..<10 {
      #expect(keys.take(NetworkAddress(ipv4: 1), now: now) == nil)
      keys.refund(NetworkAddress(ipv4: 1))
    }
    #expect(keys.count == 0)
    for address in 1...2 as ClosedRange<UInt32> { #expect(keys.take(NetworkAddress(ipv4: address), now: now) == nil) }
    let refused = (3..<103 as Range<UInt32>).filter { keys.take(NetworkAddress(ipv4: $0), now: now) != nil }.count
    #expect(refused == 98)
    #expect(keys.count == 2)
    #expect(keys.take(NetworkAddress(ipv4: 200), now: now + 60_000) == nil, "the table forgets who has recovered")
  }

  @Test("a burst is told by one line at once, and with its count later")
  func bursts() {
    var burst = Burst()
    let start = Instant(nanoseconds: 1)
    #expect(burst.add(now: start) == 1)
    for step in 1...100 as ClosedRange<Int64> { #expect(burst.add(now: start + step) == nil) }
    #expect(burst.add(now: start + Burst.silence) == 101)
  }
}
