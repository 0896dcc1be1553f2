import Domain
import Support
import Testing

@testable import Delivery
@testable import Store

@Suite("The ledger of deliveries")
struct DeliveryLedgerTests {
  @Test(
    "over random lives of deliveries every count is what a recount finds, and each job ends once", arguments: 1...100)
  func recounted(seed: Int) {
    var world = World(seed: UInt64(seed))
    for _ in 0..<400 { world.step() }
    world.recount("seed \(seed)")
    while !world.deliveries.isEmpty { world.step(claims: false) }
    world.endFlushes()
    world.recount("seed \(seed), at the end")
    #expect(world.ledger.unflushed == 0, "seed \(seed)")
    for sender in world.senders {
      #expect(sender.inMemory == 0 && sender.atWork == 0 && sender.paced == 0 && sender.grouped == 0, "seed \(seed)")
    }
    for job in world.jobs.values where !job.isLost {
      #expect(job.ends == 1, "seed \(seed): each job of a partition that was kept ends exactly once")
    }
    #expect(world.kept.all.isEmpty, "seed \(seed): a message without deliveries is forgotten")
  }

  @Test("what comes after the loss of its partition is not counted as unwritten")
  func late() {
    let ledger = DeliveryLedger(messages: KeptMessages(idleLimit: 0))
    let (lost, other) = (PartitionUsage(), PartitionUsage())
    _ = ledger.ended(2, of: nil, in: lost)
    _ = ledger.ended(3, of: nil, in: other)
    ledger.lost(lost)
    _ = ledger.ended(4, of: nil, in: lost)
    #expect(ledger.unflushed == 3 && lost.unflushed == 0)
    ledger.flushed(3, in: other)
    #expect(ledger.unflushed == 0)
  }

  @Test("the job of a paused message ends with the last delivery that was claimed of it")
  func aside() {
    let ledger = DeliveryLedger(messages: KeptMessages(idleLimit: 0))
    let partition = PartitionUsage()
    let job = JobAtWork(id: JobID(stream: Sample.stream(), sequence: 1))
    ledger.claimed(2, of: job, isWhole: false)
    #expect(ledger.ended(of: job, in: partition) == nil)
    #expect(ledger.ended(of: job, in: partition) == nil, "more of it is to be claimed")
    ledger.claimed(2, of: job, isWhole: false)
    ledger.pause(job)
    #expect(ledger.returned(to: job) == nil)
    #expect(ledger.returned(to: job) == job.id)
  }

  /// Deliveries of two credentials, three partitions and many messages, each in a state of its own, which the ledger
  /// is not told.
  private struct World {
    struct Delivery {
      enum State { case waiting, paced, atWork, aside, grouped }
      var state = State.waiting
      var sender: Int
      var partition: Int
      var message: LoadedMessage
      var job: JobID
    }
    struct Job {
      var work: JobAtWork
      var ends = 0
      var isLost = false
    }

    var random: Seeded
    let kept = KeptMessages(idleLimit: 0)
    let ledger: DeliveryLedger
    let senders = [SenderUsage(), SenderUsage()]
    var partitions = [PartitionUsage(), PartitionUsage(), PartitionUsage()]
    var deliveries: [Delivery] = []
    var jobs: [JobID: Job] = [:]
    var unflushed = [0, 0, 0]
    var barriers = [0, 0]
    var number = 0

    init(seed: UInt64) {
      random = Seeded(seed: seed)
      ledger = DeliveryLedger(messages: kept)
    }

    mutating func step(claims: Bool = true) {
      switch Int.random(in: 0..<12, using: &random) {
      case 0, 1: if claims { claim() }
      case 2, 3: pace()
      case 4, 5: start()
      case 6, 7: answer()
      case 8, 9: end()
      case 10: flush()
      default:
        barrier()
        if Int.random(in: 0..<10, using: &random) == 0 { lose() }
      }
    }

    mutating func claim() {
      number += 1
      let (sender, partition) = (number % 2, Int.random(in: 0..<3, using: &random))
      let id = JobID(stream: Sample.stream("app/\(sender)", partition: partition), sequence: UInt64(number))
      let stored = StoredMessage(
        id: Sample.message(number), app: AppID(rawValue: "app"), body: [], acceptedAt: wall(0), startedAt: wall(0))
      let origin = LoadedMessage(stored, content: nil)
      // Members of one job may be for devices of another time.
      let message = Bool.random(using: &random) ? origin : origin.begun(at: wall(5))
      let count = Int.random(in: 1...9, using: &random)
      let work = JobAtWork(id: id)
      jobs[id] = Job(work: work)
      ledger.claimed(count, of: work, isWhole: true)
      ledger.claimed(message, count, by: senders[sender], in: partitions[partition])
      deliveries += (0..<count).map { _ in
        Delivery(sender: sender, partition: partition, message: message, job: id)
      }
    }

    mutating func pace() {
      guard let place = pick(.waiting, .paced) else { return }
      let usage = senders[deliveries[place].sender]
      if deliveries[place].state == .waiting {
        ledger.paced(by: usage)
        deliveries[place].state = .paced
      } else {
        ledger.unpaced(by: usage)
        deliveries[place].state = .waiting
      }
    }

    mutating func start() {
      guard let place = pick(.waiting) else { return }
      let isAside = Bool.random(using: &random)
      ledger.started(isAside: isAside, by: senders[deliveries[place].sender])
      deliveries[place].state = isAside ? .aside : .atWork
    }

    /// It waits once more, or was accepted with others.
    mutating func answer() {
      guard let place = pick(.atWork, .aside) else { return }
      let usage = senders[deliveries[place].sender]
      ledger.answered(isAside: deliveries[place].state == .aside, by: usage)
      deliveries[place].state = .waiting
      guard Bool.random(using: &random) else { return }
      ledger.grouped(by: usage)
      deliveries[place].state = .grouped
    }

    mutating func end() {
      guard let place = pick(.waiting, .grouped) else { return }
      let delivery = deliveries.remove(at: place)
      let (usage, partition) = (senders[delivery.sender], partitions[delivery.partition])
      ledger.left(delivery.message, grouped: delivery.state == .grouped, by: usage, in: partition)
      let work = jobs[delivery.job]!.work
      let isReturned = delivery.state == .waiting && Int.random(in: 0..<4, using: &random) == 0
      if !isReturned { unflushed[delivery.partition] += 1 }
      let finished = isReturned ? ledger.returned(to: work) : ledger.ended(of: work, in: partition)
      if let finished { jobs[finished]!.ends += 1 }
    }

    mutating func flush() {
      let partition = Int.random(in: 0..<3, using: &random)
      let count = Int.random(in: 0...unflushed[partition], using: &random)
      ledger.flushed(count, in: partitions[partition])
      unflushed[partition] -= count
    }

    mutating func endFlushes() {
      for partition in partitions.indices {
        ledger.flushed(unflushed[partition], in: partitions[partition])
        unflushed[partition] = 0
      }
    }

    mutating func barrier() {
      let sender = Int.random(in: 0..<2, using: &random)
      if barriers[sender] > 0, Bool.random(using: &random) {
        ledger.barrierRemoved(by: senders[sender])
        barriers[sender] -= 1
      } else {
        ledger.barrierSet(by: senders[sender])
        barriers[sender] += 1
      }
    }

    /// What waits leaves memory; what is at work ends unheard under the old lease.
    mutating func lose() {
      let partition = Int.random(in: 0..<3, using: &random)
      for delivery in deliveries where delivery.partition == partition {
        if delivery.state == .paced { ledger.unpaced(by: senders[delivery.sender]) }
        if delivery.state == .atWork || delivery.state == .aside {
          ledger.answered(isAside: delivery.state == .aside, by: senders[delivery.sender])
        }
        ledger.left(
          delivery.message, grouped: delivery.state == .grouped, by: senders[delivery.sender],
          in: partitions[partition])
      }
      deliveries.removeAll { $0.partition == partition }
      for id in jobs.keys where id.stream.partition == partition { jobs[id]!.isLost = true }
      ledger.lost(partitions[partition])
      partitions[partition] = PartitionUsage()
      unflushed[partition] = 0
    }

    mutating func pick(_ states: Delivery.State...) -> Int? {
      deliveries.indices.filter { states.contains(deliveries[$0].state) }.randomElement(using: &random)
    }

    func recount(_ what: String) {
      for (number, usage) in senders.enumerated() {
        let own = deliveries.filter { $0.sender == number }
        func count(_ states: Delivery.State...) -> Int { own.count { states.contains($0.state) } }
        #expect(usage.inMemory == own.count, "\(what)")
        #expect(usage.paced == count(.paced) && usage.grouped == count(.grouped), "\(what)")
        #expect(usage.atWork == count(.atWork, .aside) && usage.suspectsAtWork == count(.aside), "\(what)")
        #expect(usage.barriers == barriers[number], "\(what)")
      }
      for (number, usage) in partitions.enumerated() {
        #expect(usage.inMemory == deliveries.count { $0.partition == number }, "\(what)")
        #expect(usage.unflushed == unflushed[number], "\(what)")
      }
      #expect(ledger.unflushed == unflushed.reduce(0, +), "\(what)")
      for (id, job) in jobs where !job.isLost {
        #expect(job.work.left == deliveries.count { $0.job == id }, "\(what)")
        #expect(job.ends == (job.work.isFinished ? 1 : 0), "\(what)")
      }
      for delivery in deliveries {
        let message = kept[delivery.message.id]
        #expect(message?.users == deliveries.count { $0.message.id == delivery.message.id }, "\(what)")
      }
    }
  }
}
