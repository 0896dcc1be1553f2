import Testing

@testable import Delivery

@Suite("Tokens at work by their hash")
struct TokenTableTests {
  @Test("agrees with a dictionary, whatever comes and goes", arguments: [1, 2, UInt64.random(in: 3 ... .max)])
  func agrees(seed: UInt64) {
    var state = seed
    func random(_ bound: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % bound
    }
    var table = TokenTable()
    var model: [UInt64: Int] = [:]
    for step in 0..<40_000 {
      // Few homes, so that many stand in each other's way; more come at first, more go in the end.
      let hash = random(2_000) << 32 | random(3)
      if let inFlight = model[hash] {
        #expect(table.number(hash) == inFlight, "seed \(seed)")
        if random(10) < (step < 20_000 ? 3 : 8) {
          table.remove(hash)
          model[hash] = nil
        }
      } else {
        #expect(table.number(hash) == nil, "seed \(seed)")
        if random(10) < (step < 20_000 ? 8 : 3) {
          table.insert(hash, number: step)
          model[hash] = step
        }
      }
    }
    #expect(table.count == model.count)
    for (hash, inFlight) in model { #expect(table.number(hash) == inFlight, "seed \(seed)") }
  }

  @Test("another token or another owner has another hash")
  func hashes() {
    let tokens = (0..<2_000).map { Array("\($0)".utf8) } + [Array("12345678".utf8), Array("123456789".utf8), []]
    var hashes = Set(tokens.map { TokenTable.hash($0) })
    hashes.formUnion(tokens.map { TokenTable.hash($0, owner: 7) })
    #expect(hashes.count == tokens.count * 2)
  }
}
