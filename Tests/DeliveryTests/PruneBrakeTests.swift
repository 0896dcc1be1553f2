import Domain
import Store
import Testing

@testable import Delivery

@Suite("The prune brake")
struct PruneBrakeTests {
  private func brake(norm: Double? = nil) -> PruneBrake {
    var brake = PruneBrake(PruneBrakeSettings())
    if let norm { brake.learned(PruneNorm(seen: 100_000, dead: norm * 100_000)) }
    return brake
  }

  /// Verdicts until it goes on; nil: it did not within `limit`.
  private func verdicts(_ brake: inout PruneBrake, share: Double, limit: Int, _ random: inout Seeded) -> Int? {
    for number in 1...limit {
      if Double.random(in: 0..<1, using: &random) < share {
        if brake.dead() { return number }
      } else {
        _ = brake.alive()
      }
    }
    return nil
  }

  @Test("when all tokens are called dead it goes on with the smallest sample, even after a million good ones")
  func all() {
    for before in [0, 1_000_000] {
      var brake = brake(norm: 0.005)
      for _ in 0..<before { _ = brake.alive() }
      let minimum = PruneBrakeSettings().minimumSample
      for _ in 1..<minimum { #expect(brake.dead() == false) }
      #expect(brake.dead() == true)
      #expect(brake.isOn)
      #expect(brake.braked(at: WallTime(milliseconds: 0)).dead == minimum)
    }
  }

  @Test("a normal share never puts it on, a jump does early", arguments: [UInt64.random(in: 0..<1 << 32), 7, 2_026])
  func shares(seed: UInt64) throws {
    var random = Seeded(seed: seed)
    // Up to the floor, whatever was learned; above it, up to five times the norm.
    for (norm, share) in [(nil, 0.01), (nil, 0.08), (0.001, 0.08), (0.05, 0.2), (0.1, 0.3), (0.3, 0.7)] {
      var brake = brake(norm: norm)
      #expect(
        verdicts(&brake, share: share, limit: 50_000, &random) == nil, "\(share) of norm \(norm ?? 0), seed \(seed)")
    }
    for (norm, share, within) in [(nil, 0.5, 300), (nil, 0.35, 1_000), (0.05, 0.6, 1_000), (0.1, 0.9, 1_000)] {
      var brake = brake(norm: norm)
      let count = verdicts(&brake, share: share, limit: within, &random)
      #expect(count != nil, "\(share) of norm \(norm ?? 0), seed \(seed)")
    }
  }

  @Test("a few dead tokens in a small send are no jump")
  func few() {
    var brake = brake()
    for _ in 0..<8 { #expect(brake.dead() == false) }
    for _ in 0..<60 { _ = brake.alive() }
    for _ in 0..<8 { #expect(brake.dead() == false) }
    #expect(!brake.isOn)
  }

  @Test("on by its own judgement it stays on until the others know; then the store's word holds")
  func shared() {
    var brake = brake()
    while !brake.dead() {}
    #expect(brake.heard(isOn: false) == false, "the store did not know of it yet")
    #expect(brake.isOn)
    brake.told()
    #expect(brake.heard(isOn: true) == false)
    #expect(brake.heard(isOn: false) == true)
    #expect(!brake.isOn)
    // It starts anew.
    for _ in 0..<8 { #expect(brake.dead() == false) }
    #expect(brake.heard(isOn: true) == true, "another worker's")
  }

  @Test("what was seen is reported once, and again if the report was lost")
  func report() {
    var brake = brake()
    _ = brake.alive()
    _ = brake.dead()
    let report = brake.report()
    #expect(report == (2, 1))
    #expect(brake.report() == (0, 0))
    _ = brake.alive()
    brake.unreported(report)
    #expect(brake.report() == (3, 1))
  }

  @Test("accepted pushes tell when the dead tokens before them are no more than normal")
  func calm() {
    var brake = brake()
    #expect(brake.alive() == false)
    _ = brake.dead()
    var others = 0
    repeat { others += 1 } while brake.alive() == false
    #expect((3...9).contains(others), "\(others)")
    #expect(brake.alive() == false)
  }
}
