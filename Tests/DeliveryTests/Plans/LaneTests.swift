import Domain
import Support
import Testing

@testable import Delivery
@testable import Store

@Suite("The lane of one token")
struct LaneTests {
  typealias Entry = Lane<Int>.Entry

  static func entry(
    _ number: Int, ordered: Bool = true, collapse: String? = nil, supersedable: Bool = true
  ) -> Entry {
    Entry(
      ticket: number,
      place: .init(message: Sample.message(number), partition: 0, sequence: UInt64(number), index: 0),
      ordered: ordered, collapseKey: collapse, supersedable: supersedable)
  }

  static func barrier(_ entry: Entry, until: WallTime) -> Lane<Int>.OrderBarrier {
    .init(
      delivery: Sample.delivery(entry.ticket), device: DeviceID(rawValue: "d"), credential: Sample.credential,
      place: entry.place, collapseKey: entry.collapseKey, until: until)
  }

  private func add(_ entry: Entry, to lane: inout Lane<Int>) -> Lane<Int>.Superseded {
    lane.add(entry, delivery: Sample.delivery(entry.ticket))
  }

  @Test("direct sends go one after the other, in the order of acceptance, however they came in")
  func order() {
    var lane = Lane<Int>()
    for number in [2, 1, 3] { _ = add(Self.entry(number), to: &lane) }
    for number in 1...3 {
      let entry = lane.start(concurrency: 4, now: wall(0))
      #expect(entry?.ticket == number)
      #expect(lane.start(concurrency: 4, now: wall(0)) == nil)
      lane.ended(ordered: entry!.ordered)
    }
    #expect(lane.isEmpty)
  }

  @Test("a delivery that waits for its retry holds later ones, until its barrier ends, and knows that they passed")
  func barrier() {
    var lane = Lane<Int>()
    _ = add(Self.entry(1), to: &lane)
    _ = add(Self.entry(2), to: &lane)
    let first = lane.start(concurrency: 1, now: wall(0))!
    lane.rested(ordered: first.ordered, leaving: Self.barrier(first, until: wall(60_000)))
    #expect(lane.start(concurrency: 1, now: wall(59_999)) == nil)
    let second = lane.start(concurrency: 1, now: wall(60_000))
    #expect(second?.ticket == 2)
    lane.ended(ordered: second!.ordered)
    let back = add(Self.entry(1), to: &lane)
    #expect(back.own?.overtaken == true)
    #expect(lane.start(concurrency: 1, now: wall(70_000))?.ticket == 1)
  }

  @Test("a retry that comes back in time goes before the later ones it held")
  func comesBack() {
    var lane = Lane<Int>()
    _ = add(Self.entry(1), to: &lane)
    _ = add(Self.entry(2), to: &lane)
    let first = lane.start(concurrency: 1, now: wall(0))!
    lane.rested(ordered: first.ordered, leaving: Self.barrier(first, until: wall(60_000)))
    let back = add(Self.entry(1), to: &lane)
    #expect(back.own?.overtaken == false)
    #expect(lane.start(concurrency: 1, now: wall(1_000))?.ticket == 1)
  }

  @Test("what is not ordered neither waits at a barrier nor leaves one")
  func free() {
    var lane = Lane<Int>()
    lane.rested(
      ordered: started(&lane, Self.entry(1)).ordered, leaving: Self.barrier(Self.entry(1), until: wall(60_000)))
    _ = add(Self.entry(2), to: &lane)
    _ = add(Self.entry(3, ordered: false), to: &lane)
    #expect(lane.start(concurrency: 1, now: wall(0))?.ticket == 3)
  }

  private func started(_ lane: inout Lane<Int>, _ entry: Entry) -> Entry {
    _ = add(entry, to: &lane)
    return lane.start(concurrency: 1, now: wall(0))!
  }

  @Test("never more at work than the concurrency allows")
  func concurrency() {
    var lane = Lane<Int>()
    for number in 1...5 { _ = add(Self.entry(number, ordered: false), to: &lane) }
    var entries: [Entry] = []
    while let entry = lane.start(concurrency: 3, now: wall(0)) { entries.append(entry) }
    #expect(entries.map(\.ticket) == [1, 2, 3])
    lane.ended(ordered: entries[0].ordered)
    #expect(lane.start(concurrency: 3, now: wall(0))?.ticket == 4)
  }

  @Test("a newer message with the same collapse key supersedes what waits, never what is at work")
  func supersede() {
    var lane = Lane<Int>()
    for number in 1...3 { _ = add(Self.entry(number, collapse: number == 2 ? "b" : "a"), to: &lane) }
    // 3 superseded 1 already.
    #expect(lane.waiting == 2)
    let first = lane.start(concurrency: 1, now: wall(0))!
    #expect(first.ticket == 2)
    let result = add(Self.entry(4, collapse: "b"), to: &lane)
    #expect(result.waiting.isEmpty)
    let newer = add(Self.entry(5, collapse: "a"), to: &lane)
    #expect(newer.waiting.map(\.ticket) == [3])
  }

  @Test("a newer message supersedes what waits for its retry; an older one that comes late is superseded itself")
  func supersedeResting() {
    var lane = Lane<Int>()
    lane.rested(
      ordered: started(&lane, Self.entry(1, collapse: "a")).ordered,
      leaving: Self.barrier(Self.entry(1, collapse: "a"), until: wall(60_000)))
    let newer = add(Self.entry(3, collapse: "a"), to: &lane)
    #expect(newer.resting.map(\.delivery) == [Sample.delivery(1)])
    #expect(lane.barriers.isEmpty)
    let late = add(Self.entry(2, collapse: "a"), to: &lane)
    #expect(late.entering)
    #expect(lane.waiting == 1)
  }

  @Test("members of a stored slice are never superseded, as their request may have been made")
  func fixed() {
    var lane = Lane<Int>()
    _ = add(Self.entry(1, collapse: "a", supersedable: false), to: &lane)
    let newer = add(Self.entry(2, collapse: "a"), to: &lane)
    #expect(newer.waiting.isEmpty)
    #expect(lane.waiting == 2)
  }

  @Test("what comes back unsent takes its old place")
  func returned() {
    var lane = Lane<Int>()
    for number in 1...2 { _ = add(Self.entry(number), to: &lane) }
    let first = lane.start(concurrency: 1, now: wall(0))!
    let back = lane.returned(first, delivery: Sample.delivery(1))
    #expect(!back.entering)
    #expect(lane.start(concurrency: 1, now: wall(0))?.ticket == 1)
  }

  /// What enters comes out exactly once; ordered ones are finally sent in order, as no barrier ends by time.
  @Test("over random schedules of failures nothing is lost, doubled or out of order", arguments: 1...200)
  func schedules(seed: Int) {
    var random = Seeded(seed: UInt64(seed))
    var lane = Lane<Int>()
    var coming = Array(1...20)
    var working: [Entry] = []
    var resting: [Entry] = []
    var ended: [Int] = []
    var superseded: [Int] = []
    var ordered: Set<Int> = []
    let concurrency = Int.random(in: 1...3, using: &random)
    func note(_ result: Lane<Int>.Superseded, _ entering: Int) {
      superseded += result.waiting.map(\.ticket)
      for barrier in result.resting {
        let index = resting.firstIndex { Sample.delivery($0.ticket) == barrier.delivery }!
        superseded.append(resting.remove(at: index).ticket)
      }
      if result.entering { superseded.append(entering) }
    }
    while ended.count + superseded.count < 20 {
      switch Int.random(in: 0..<5, using: &random) {
      case 0 where !coming.isEmpty:
        let number = coming.removeFirst()
        let entry = Self.entry(
          number, ordered: Bool.random(using: &random), collapse: ["a", nil, nil].randomElement(using: &random)!)
        if entry.ordered { ordered.insert(number) }
        note(add(entry, to: &lane), number)
      case 1:
        if let entry = lane.start(concurrency: concurrency, now: wall(0)) { working.append(entry) }
        #expect(working.count <= concurrency, "seed \(seed)")
        #expect(working.count { $0.ordered } <= 1, "seed \(seed)")
      case 2 where !working.isEmpty:
        let entry = working.remove(at: .random(in: 0..<working.count, using: &random))
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
          lane.ended(ordered: entry.ordered)
          ended.append(entry.ticket)
        case 1:
          lane.rested(ordered: entry.ordered, leaving: Self.barrier(entry, until: wall(entry.ordered ? 1_000_000 : -1)))
          resting.append(entry)
        default: note(lane.returned(entry, delivery: Sample.delivery(entry.ticket)), entry.ticket)
        }
      case 3 where !resting.isEmpty:
        let entry = resting.remove(at: .random(in: 0..<resting.count, using: &random))
        let result = add(entry, to: &lane)
        #expect(result.own != nil, "seed \(seed)")
        note(result, entry.ticket)
      default: break
      }
    }
    #expect((ended + superseded).sorted() == Array(1...20), "seed \(seed)")
    #expect(lane.isEmpty, "seed \(seed)")
    let kept = ended.filter(ordered.contains)
    #expect(kept == kept.sorted(), "seed \(seed)")
  }
}

@Suite("All lanes of a loop")
struct LanesTests {
  @Test("a raw token and the device registered with it share a lane; a lane goes with its last delivery")
  func sharing() {
    var lanes = Lanes<Int>()
    let app = AppID(rawValue: "app")
    let address = Address(provider: .apns, token: "t1")
    var registered = address
    registered.bundleID = "org.example"
    let lane = lanes.open(LaneKey(app: app, address: address))
    #expect(lanes.open(LaneKey(app: app, address: registered)) == lane)
    #expect(lanes.open(LaneKey(app: AppID(rawValue: "other"), address: address)) != lane)
    let entry = LaneTests.entry(1)
    _ = lanes.change(lane) { $0.add(entry, delivery: Sample.delivery(1)) }
    #expect(lanes.enqueue(lane, concurrency: 1, now: wall(0)) == 1)
    #expect(lanes.enqueue(lane, concurrency: 1, now: wall(0)) == nil)
    #expect(lanes.startNext(lane, concurrency: 1, now: wall(0)) == 1)
    lanes.change(lane) { $0.ended(ordered: entry.ordered) }
    #expect(!lanes.exists(lane))
  }
}
