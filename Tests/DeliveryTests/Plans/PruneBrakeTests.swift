import Domain
import Store
import Support
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
        if brake.dead(outstanding: 0) { return number }
      } else {
        _ = brake.alive(outstanding: 0)
      }
    }
    return nil
  }

  @Test("when all tokens are called dead it goes on with the smallest sample, even after a million good ones")
  func all() {
    for before in [0, 1_000_000] {
      var brake = brake(norm: 0.005)
      for _ in 0..<before { _ = brake.alive(outstanding: 0) }
      let minimum = PruneBrakeSettings().minimumSample
      for _ in 1..<minimum { #expect(brake.dead(outstanding: 0) == false) }
      #expect(brake.dead(outstanding: 0) == true)
      #expect(brake.isOn)
      #expect(brake.braked(at: WallTime(milliseconds: 0)).dead == minimum)
    }
  }

  @Test("a normal share never puts it on, a jump does early", arguments: [UInt64.random(in: 0..<1 << 32), 7, 2_026])
  func shares(seed: UInt64) throws {
    var random = Seeded(seed: seed)
    // Up to the floor, whatever was learned; above it, up to five times the norm.
    for (norm, share) in [(nil, 0.01), (nil, 0.2), (0.001, 0.2), (0.05, 0.25), (0.1, 0.5), (0.3, 0.7)] {
      var brake = brake(norm: norm)
      #expect(
        verdicts(&brake, share: share, limit: 50_000, &random) == nil, "\(share) of norm \(norm ?? 0), seed \(seed)")
    }
    for (norm, share, within) in [(nil, 0.8, 300), (nil, 0.55, 1_000), (0.05, 0.8, 1_000), (0.1, 0.95, 1_000)] {
      var brake = brake(norm: norm)
      let count = verdicts(&brake, share: share, limit: within, &random)
      #expect(count != nil, "\(share) of norm \(norm ?? 0), seed \(seed)")
    }
  }

  @Test("a few dead tokens in a small send are no jump")
  func few() {
    var brake = brake()
    for _ in 0..<8 { #expect(brake.dead(outstanding: 0) == false) }
    for _ in 0..<60 { _ = brake.alive(outstanding: 0) }
    for _ in 0..<8 { #expect(brake.dead(outstanding: 0) == false) }
    #expect(!brake.isOn)
  }

  @Test("on by its own judgement it stays on until the others know; then the store's word holds")
  func shared() {
    var brake = brake()
    while !brake.dead(outstanding: 0) {}
    #expect(brake.heard(isOn: false) == false, "the store did not know of it yet")
    #expect(brake.isOn)
    brake.told()
    #expect(brake.heard(isOn: true) == false)
    #expect(brake.heard(isOn: false) == true)
    #expect(!brake.isOn)
    // It starts anew.
    for _ in 0..<8 { #expect(brake.dead(outstanding: 0) == false) }
    #expect(brake.heard(isOn: true) == true, "another worker's")
  }

  @Test("what was seen is reported once, and again if the report was lost")
  func report() {
    var brake = brake()
    _ = brake.alive(outstanding: 0)
    _ = brake.dead(outstanding: 0)
    let report = brake.report()
    #expect(report == (2, 1))
    #expect(brake.report() == (0, 0))
    _ = brake.alive(outstanding: 0)
    brake.unreported(report)
    #expect(brake.report() == (3, 1))
  }

  @Test("what put it on is told once; the next report, which is added to it, tells only what came since")
  func toldOnce() {
    var brake = brake()
    for _ in 0..<100 { _ = brake.alive(outstanding: 0) }
    while !brake.dead(outstanding: 0) {}
    let braked = brake.braked(at: WallTime(milliseconds: 0))
    #expect(braked.dead == braked.seen)
    #expect(brake.report() == (0, 0))
    _ = brake.dead(outstanding: 0)
    #expect(brake.report() == (1, 1))
  }

  @Test("dead tokens that are answered before the living are no jump while those are at work; then they are")
  func quick() {
    for livesFollow in [true, false] {
      var brake = brake()
      for number in 0..<100 { #expect(brake.dead(outstanding: 999 - number) == false) }
      brake.judge(100, from: at(1))
      var rose = 0
      var wentOn = false
      for number in 0..<900 {
        if livesFollow {
          if brake.alive(outstanding: 899 - number) { rose += 1 }
        } else if brake.dead(outstanding: 899 - number) {
          wentOn = true
        }
      }
      #expect(wentOn == !livesFollow)
      #expect(rose == (livesFollow ? 1 : 0) && brake.isJudging == !livesFollow)
    }
  }

  @Test("dead tokens that are answered behind the living they were at work with are no jump; in the next send they are")
  func slow() {
    var brake = brake()
    for number in 0..<976 { _ = brake.alive(outstanding: 999 - number) }
    for number in 0..<24 { #expect(brake.dead(outstanding: 23 - number) == false) }
    for _ in 1..<PruneBrakeSettings().minimumSample { #expect(brake.dead(outstanding: 0) == false) }
    #expect(brake.dead(outstanding: 0) == true)
  }

  @Test("in the midst of a large send a jump is seen about one and a half times as late as requests are at work")
  func midst() {
    for width in [10, 100, 1_000] {
      var brake = brake()
      for _ in 0..<100_000 { _ = brake.alive(outstanding: width) }
      var count = 1
      while !brake.dead(outstanding: width) { count += 1 }
      #expect(count > width && count < 30 + width * 3 / 2, "\(count) of \(width)")
    }
  }

  @Test(
    "a doubtful word is believed once others were reached behind it, and never for those reached before or beside it")
  func doubt() {
    var brake = brake()
    for _ in 0..<10_000 { _ = brake.alive(outstanding: 100) }
    _ = brake.dead(outstanding: 100)
    brake.judge(1, from: at(10))
    #expect(brake.isJudging)
    // At work when the word came: the setting may have changed since they were looked at.
    for _ in 0..<100 { #expect(brake.alive(began: at(9), ahead: .init(atWork: 100, inMemory: 100)) == false) }
    #expect(brake.isJudging)
    var needed = 1
    while !brake.alive(began: at(10), ahead: .init(atWork: 100, inMemory: 100)) { needed += 1 }
    #expect(!brake.isJudging && (2...3).contains(needed), "\(needed)")
    // With other settings nothing is judged any more.
    brake.judge(1, from: at(20))
    brake.renewed(at: at(21))
    #expect(!brake.isJudging)
  }

  @Test(
    "what one message brought is proven by tokens that this message reached; after a minute by those of any message")
  func ownOnly() {
    var brake = brake()
    var unproven = UnprovenPrunes()
    let (own, other) = (message(1), message(2))
    unproven.add(entry(1, of: own, began: at(10)), isDoubtful: true)
    #expect(unproven.take(&brake, now: at(11)).isEmpty && brake.isJudging)
    /// A token that was reached then.
    func reached(by message: MessageID, _ time: UInt64) -> Bool {
      let proves = unproven.mayBeProven(by: message, now: at(time))
      return brake.alive(began: at(time), ahead: .init(atWork: 0, inMemory: 0), proves: proves)
    }
    // A minute from the begin of the request that was told so.
    for time in [11, 12, 1_000, 60_009, 60_010] as [UInt64] {
      #expect(!reached(by: other, time) && !unproven.mayBeProven(by: other, now: at(time)))
    }
    #expect(brake.isJudging && unproven.take(&brake, now: at(60_010)).isEmpty)
    #expect(unproven.mayBeProven(by: own, now: at(11)), "its own message need not wait")
    var needed: UInt64 = 1
    while !reached(by: other, 60_010 + needed), needed < 20 { needed += 1 }
    #expect(needed < 20 && !brake.isJudging)
    #expect(unproven.take(&brake, now: at(60_100)).map(\.prune.device.rawValue) == ["d1"] && unproven.isEmpty)
  }

  @Test("prunes of a partition that another worker owns are forgotten: that one hears of their tokens")
  func lostPartition() {
    var brake = brake()
    var unproven = UnprovenPrunes()
    let (kept, lost) = (partition(0), partition(1))
    for (number, isDoubtful) in [(1, true), (2, false), (3, true), (4, false)] {
      unproven.add(entry(number, of: message(1), in: number < 3 ? kept : lost), isDoubtful: isDoubtful)
    }
    _ = unproven.take(&brake, now: at(1))
    for number in [5, 6] {
      unproven.add(entry(number, of: message(2), in: number < 6 ? kept : lost), isDoubtful: true)
    }
    unproven.forget(lost)
    #expect(unproven.reasons == ["BadDeviceToken": 2] && unproven.count == 2)
  }

  private func message(_ number: UInt64) -> MessageID {
    MessageID(acceptedAt: wall(0), partition: 0, random: number)
  }
  private func partition(_ number: Int) -> Partition { Partition(number: number, flush: WorkerSettings().flush) }
  private func entry(_ number: Int, of message: MessageID, in partition: Partition? = nil, began: Instant = at(0))
    -> UnprovenPrunes.Entry
  {
    var prune = Flush.Prune(
      app: AppID(rawValue: "shop"), device: DeviceID(rawValue: "d\(number)"), token: "t\(number)",
      reason: "BadDeviceToken", since: nil, at: wall(0))
    prune.message = message
    return UnprovenPrunes.Entry(prune: prune, partition: partition ?? self.partition(0), began: began)
  }

  @Test("with nothing more ahead, doubtful words among reached tokens are believed, in whatever order answers came")
  func concluded() {
    var brake = brake()
    // Three requests in ten, and their answers last.
    for number in 0..<70 { _ = brake.alive(began: at(UInt64(number) + 1), ahead: .init(atWork: 0, inMemory: 30)) }
    #expect(brake.conclude((0..<30).map { at(2 * $0 + 1) }) == .believed)
    #expect(!brake.isOn)
  }

  @Test("with nothing more ahead, doubtful words wait where too few tokens were reached, and later ones prove them")
  func undecided() {
    var brake = brake()
    for _ in 0..<3 { _ = brake.dead(outstanding: 0) }
    let words = (0..<3).map { _ in at(5) }
    #expect(brake.conclude(words) == .undecided && brake.isConcluded)
    for _ in 0..<4 { _ = brake.alive(outstanding: 0) }
    #expect(brake.conclude(words) == .undecided, "too few")
    // An account that was in force before proves nothing.
    brake.renewed(at: at(6))
    for _ in 0..<100 { _ = brake.alive(outstanding: 0) }
    #expect(brake.conclude(words) == .undecided, "of an earlier account")
    for _ in 0..<5 { _ = brake.alive(began: at(7), ahead: .init(atWork: 0, inMemory: 0)) }
    #expect(brake.conclude(words) == .believed)
    #expect(brake.conclude(words) == .undecided, "what proved some proves no others")
  }

  @Test("with nothing more ahead, doubtful words behind the last reached token put the brake on if they make a jump")
  func concludedJump() {
    var brake = brake()
    for number in 0..<2_000 { _ = brake.alive(began: at(UInt64(number)), ahead: .init(atWork: 0, inMemory: 400)) }
    // The rest of the last thousand requests.
    #expect(brake.conclude((0..<380).map { at(2_000 + $0) }) == .braked)
    let braked = brake.braked(at: wall(0))
    #expect(brake.isOn && braked.seen == 380 && braked.dead == 380)
  }

  @Test("with nothing more ahead, certain words wait no longer, unless they are a jump")
  func concludedCertain() {
    for share in [19, 40] {
      var brake = brake()
      // Others are ahead that end without a verdict.
      for _ in 0..<share { _ = brake.dead(began: at(0), ahead: .init(atWork: 0, inMemory: 1_000)) }
      #expect(brake.conclude([]) == (share == 40 ? .braked : .believed))
      #expect(brake.isOn == (share == 40))
    }
  }

  @Test("when every token is called dead by a doubtful word, none of the words is ever believed")
  func allDoubtful() {
    var brake = brake()
    for _ in 0..<5_000 { _ = brake.alive(outstanding: 50) }
    for number in 0..<1_000 {
      if number == 0 { brake.judge(1, from: at(10)) }
      _ = brake.dead(began: at(10 + UInt64(number)), ahead: .init(atWork: 50, inMemory: 50))
      #expect(brake.isJudging || brake.isOn)
    }
    #expect(brake.isOn)
  }

  @Test(
    "a campaign with a few percent of dead tokens never brakes, wherever they stand, and its prunes wait no longer than needed",
    arguments: [0, 1_370, 2_740])
  func cluster(start: Int) {
    // 37 of 2,777, one after the other, at any place, with few requests at work.
    var brake = brake(norm: 0.0001)
    var wasSuspicious = false
    for number in 0..<2_777 {
      let ahead = PruneBrake.Ahead(atWork: min(7, 2_776 - number), inMemory: 2_776 - number)
      if (start..<start + 37).contains(number) {
        #expect(brake.dead(began: at(0), ahead: ahead) == false)
      } else {
        _ = brake.alive(began: at(0), ahead: ahead)
      }
      wasSuspicious = wasSuspicious || brake.isSuspicious
    }
    #expect(!brake.isOn && wasSuspicious)
    // Those at the very end wait until nothing is ahead.
    #expect(brake.conclude([]) == .believed)
    #expect(!brake.isOn && !brake.isSuspicious)
  }

  @Test("an accident in the midst of a large campaign makes prunes wait at once, and brakes when it has gone on")
  func largeAccident() {
    var brake = brake(norm: 0.01)
    for _ in 0..<100_000 { _ = brake.alive(began: at(0), ahead: .init(atWork: 100, inMemory: 8_000)) }
    var carriedOut = 0
    var count = 0
    while !brake.isOn, count < 100_000 {
      _ = brake.dead(began: at(0), ahead: .init(atWork: 100, inMemory: 8_000))
      if !brake.isSuspicious { carriedOut += 1 }
      count += 1
    }
    #expect(carriedOut < 180 && count < 12_000, "\(carriedOut) of \(count)")
    let braked = brake.braked(at: wall(0))
    #expect(braked.first.share > braked.normal && braked.normal == 0.2)
  }
}

extension PruneBrake {
  /// So many ahead at work, and no others in memory.
  fileprivate mutating func alive(outstanding count: Int) -> Bool {
    alive(began: at(5), ahead: .init(atWork: count, inMemory: count))
  }
  fileprivate mutating func dead(outstanding count: Int) -> Bool {
    dead(began: at(5), ahead: .init(atWork: count, inMemory: count))
  }
}
