import Loop
import Testing

@Suite("The queue")
struct FIFOTests {
  @Test("over random calls it gives what an array would", arguments: [1, 7, UInt64.random(in: 0 ... .max)])
  func likeAnArray(seed: UInt64) {
    var random = seed
    func next(_ bound: UInt64) -> UInt64 {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (random >> 33) % bound
    }
    var queue = FIFO<Int>()
    var model: [Int] = []
    for step in 0..<20_000 {
      switch next(16) {
      // More in than out for a while, then the reverse, so that it grows beyond its slack and shrinks again.
      case 0..<(step % 8_000 < 5_000 ? 9 : 5):
        queue.append(step)
        model.append(step)
      case 15 where next(50) == 0:
        #expect(queue.takeAll() == model, "seed \(seed)")
        model = []
      case 14:
        queue.prepend(step)
        model.insert(step, at: 0)
      case 13:
        let (most, youngest, wanted) = (Int(next(20)), next(2) == 0, Int(next(10)))
        let looked = youngest ? Array(model.indices.suffix(most).reversed()) : Array(model.indices.prefix(most))
        let place = looked.first { model[$0] % 10 == wanted }
        #expect(queue.bringForward(among: most, youngest: youngest) { $0 % 10 == wanted } == (place != nil))
        if let place { model.insert(model.remove(at: place), at: 0) }
      default:
        let expected = model.isEmpty ? nil : model.removeFirst()
        #expect(queue.popFirst() == expected, "seed \(seed), step \(step)")
      }
      #expect(queue.count == model.count && queue.first == model.first && queue.isEmpty == model.isEmpty)
    }
  }
}
