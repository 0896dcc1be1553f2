import Domain
import Support
import Testing

@Suite("Network addresses")
struct NetworkAddressTests {
  @Test(
    "each way to write an address is one address",
    arguments: [
      ("127.0.0.1", "127.0.0.1"), ("::ffff:10.1.2.3", "10.1.2.3"), ("::ffff:a01:203", "10.1.2.3"),
      ("::1", "0:0:0:0:0:0:0:1"), ("::", "0:0:0:0:0:0:0:0"), ("2001:DB8::7", "2001:db8:0:0:0:0:0:7"),
      ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("fe80::", "fe80:0:0:0:0:0:0:0"),
      ("64:ff9b::1.2.3.4", "64:ff9b:0:0:0:0:102:304"),
    ])
  func forms(text: String, plain: String) throws {
    #expect(try #require(NetworkAddress(text)).description == plain)
    #expect(NetworkAddress(plain) == NetworkAddress(text))
  }

  @Test(
    "what is no address is none",
    arguments: [
      "", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.-4", "+1.2.3.4", "1.2.3.0004", ":", ":::", "1::2::3",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "g::", "12345::", "::1%eth0", "[::1]", "1.2.3.4:80", "::1.2.3",
      "1.2.3.4::",
      "unknown", "::+1", String(repeating: "1:", count: 5_000),
    ])
  func wrong(text: String) { #expect(NetworkAddress(text) == nil) }

  @Test("an owner has an IPv4 address or an IPv6 network of 64 bits")
  func owners() throws {
    let (one, two) = (try #require(NetworkAddress("2001:db8::1")), try #require(NetworkAddress("2001:db8::2")))
    #expect(one != two && one.owner == two.owner)
    #expect(one.owner != NetworkAddress("2001:db8:0:1::1")?.owner)
    let (three, four) = (try #require(NetworkAddress("10.0.0.1")), try #require(NetworkAddress("10.0.0.2")))
    #expect(three.owner == three && three.owner != four.owner)
    #expect(NetworkAddress("127.0.0.2")?.isLoopback == false)
    #expect(NetworkAddress("::1")?.isLoopback == true)
  }

  @Test("a network holds the addresses with its first bits, and no others")
  func ranges() throws {
    var random = Seeded()
    for _ in 0..<2_000 {
      let bits = Int.random(in: 0...32, using: &random)
      let network = UInt32.random(in: 0...UInt32.max, using: &random)
      let range = try #require(AddressRange("\(NetworkAddress(ipv4: network))/\(bits)"))
      var other = network ^ (1 << UInt32.random(in: 0...31, using: &random))
      if Bool.random(using: &random) { other = UInt32.random(in: 0...UInt32.max, using: &random) }
      let mask: UInt32 = bits == 0 ? 0 : ~0 << UInt32(32 - bits)
      #expect(range.contains(NetworkAddress(ipv4: network)), "seed \(random.seed)")
      #expect(range.contains(NetworkAddress(ipv4: other)) == (network & mask == other & mask), "seed \(random.seed)")
    }
    let wide = try #require(AddressRange("2001:db8::/32"))
    #expect(wide.contains(try #require(NetworkAddress("2001:db8:ffff::1"))))
    #expect(!wide.contains(try #require(NetworkAddress("2001:db9::1"))))
    #expect(!wide.contains(NetworkAddress(ipv4: 1)))
    for (outer, inner, holds) in [
      ("10.0.0.0/8", "10.1.0.0/16", true), ("10.1.0.0/16", "10.0.0.0/8", false), ("10.0.0.0/8", "10.9.9.9", true),
      ("0.0.0.0/0", "10.0.0.0/8", true), ("0.0.0.0/0", "::/0", false), ("::/0", "0.0.0.0/0", true),
      ("2001:db8::/32", "2001:db8:1::/48", true), ("2001:db8::/32", "2001:db9::1", false),
      ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.0/24", false),
    ] {
      #expect(
        try #require(AddressRange(outer)).contains(try #require(AddressRange(inner))) == holds, "\(outer) \(inner)")
    }
    for (text, plain) in [
      ("10.1.2.3/8", "10.0.0.0/8"), ("192.0.2.7/32", "192.0.2.7"), ("0.0.0.0/0", "0.0.0.0/0"),
      ("::/0", "0:0:0:0:0:0:0:0/0"),
      ("2001:db8::7/128", "2001:db8:0:0:0:0:0:7"), ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
    ] {
      let range = try #require(AddressRange(text))
      #expect(range.description == plain && AddressRange(plain) == range, "\(text): \(range)")
    }
    for text in ["10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "x/8", "::/129", ""] { #expect(AddressRange(text) == nil) }
  }
}
