import Domain
import Support
import Testing

@Suite("A forecast adds up")
struct ForecastTests {
  @Test("what a sample stands for adds up to what it was taken from, and keeps its proportions")
  func scaled() {
    var random = Seeded()
    for _ in 0..<500 {
      var some = Forecast()
      for reason in SkipReason.allCases where Bool.random(using: &random) {
        some.exclude(Forecast.Exclusion(.skipped, reason.rawValue), Int.random(in: 0...50, using: &random))
      }
      some.send(by: .fcm, Int.random(in: 0...100, using: &random))
      let total = Int.random(in: max(1, some.devices)...100_000, using: &random)
      var all = Forecast()
      all.add(some, ofProvider: .fcm, scaledTo: total)
      #expect(all.devices == total && all.targets == total, "seed \(random.seed)")
      guard some.devices > 0 else { continue }
      let factor = Double(total) / Double(some.devices)
      for (exclusion, count) in some.excluded {
        #expect(abs(Double(all.excluded[exclusion] ?? 0) - Double(count) * factor) <= 1, "seed \(random.seed)")
      }
      #expect(abs(Double(all.wouldBeSent) - Double(some.wouldBeSent) * factor) <= 1, "seed \(random.seed)")
    }
  }

  @Test("who is no target is found, and is no delivery")
  func noTargets() {
    var forecast = Forecast()
    forecast.send(by: .apns, 3)
    forecast.exclude(Forecast.Exclusion(nil, SkipReason.tokenKind.rawValue), 2)
    forecast.exclude(Forecast.Exclusion(.skipped, SkipReason.holdout.rawValue))
    #expect(forecast.devices == 6 && forecast.targets == 4 && forecast.wouldBeSent == 3)
    #expect(!forecast.isEstimated)
    forecast.holdoutIsDrawn = true
    #expect(forecast.isEstimated)
  }
}
