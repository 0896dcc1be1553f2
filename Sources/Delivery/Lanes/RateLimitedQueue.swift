import Domain
import Loop
import Store
import Telemetry

/// The deliveries of one paced message, or of one paced app, that one credential sends, were claimed and may not go yet.
/// The wait belongs to them and to nobody else: they stand in no lane and count against no credential's room. Loop-owned.
final class RateLimitedQueue: WorkerPart {
  let bucket: RateBucket
  private var grant: RateGrant
  private var urgent = FIFO<Delivery>()
  private var bulk = FIFO<Delivery>()
  /// Let go, and neither on the wire nor ended: with many of these it is not the pace that holds them up.
  private var underWay = 0
  private var isPumping = false
  /// Permissions that the metric counts as lost.
  private var lostTold = 0
  private var timer: Timer?
  /// Jobs of which more is claimed when there is room for it.
  private var postponed: [JobID] = []
  /// Where those go whose turn it is.
  private let release: (Delivery) -> Void

  /// Deliveries of it in memory: a grant's worth.
  let room: Int
  /// Let go at a time, and not on the wire: what is held up there comes late all at once.
  private let mostUnderWay: Int
  private static let mostRoom = 1_000

  init(_ worker: Worker, _ bucket: RateBucket, release: @escaping (Delivery) -> Void) {
    self.bucket = bucket
    self.release = release
    grant = RateGrant(perSecond: bucket.perSecond)
    func worth(_ milliseconds: Int64) -> Int {
      min(max(1, Int(bucket.perSecond * Double(milliseconds) / 1000)), Self.mostRoom)
    }
    room = worth(RateGrant.worth)
    mostUnderWay = worth(RateBucket.lateness)
    super.init(worker)
  }

  var waiting: Int { urgent.count + bulk.count }
  /// Urgent ones do not wait for room behind the others.
  func free(_ urgency: Urgency) -> Int { max(0, room - (urgency == .urgent ? urgent.count : waiting)) }
  var isIdle: Bool { waiting == 0 && postponed.isEmpty && underWay == 0 && grant.owed == 0 }

  func add(_ delivery: Delivery) {
    ledger.paced(by: delivery.sender.usage)
    if delivery.urgency == .urgent { urgent.append(delivery) } else { bulk.append(delivery) }
    pumpSoon()
  }

  /// More of this job is claimed when there is room.
  func postpone(_ job: JobID) {
    postponed.append(job)
    pumpSoon()
  }
  func forget(_ job: JobID) { postponed.removeAll { $0 == job } }

  /// What waits ends some other way: its jobs may be claimed to see that.
  func giveUp() {
    for job in postponed { worker.claimer.claims.resume(job) }
    postponed = []
  }

  /// Takes out what meets the condition.
  func remove(where condition: (Delivery) -> Bool) -> [Delivery] {
    guard waiting > 0 else { return [] }
    var removed: [Delivery] = []
    func sift(_ queue: inout FIFO<Delivery>) {
      for delivery in queue.takeAll() {
        if condition(delivery) { removed.append(delivery) } else { queue.append(delivery) }
      }
    }
    sift(&urgent)
    sift(&bulk)
    for delivery in removed { ledger.unpaced(by: delivery.sender.usage) }
    pumpSoon()
    return removed
  }

  /// One that was let go is on the wire, or has ended.
  func opened() {
    underWay -= 1
    pumpSoon()
  }

  /// One that was let go sent nothing. `lateAt`: of its permission.
  func refund(_ lateAt: Instant) {
    grant.refund(lateAt)
    opened()
  }

  /// One came to the wire behind its time.
  func wasLate() {
    grant.wasLate()
    pumpSoon()
  }

  /// At the end of this turn: what comes together goes together.
  private func pumpSoon() {
    guard !isPumping else { return }
    isPumping = true
    loop.atEndOfTurn { [weak self] in
      guard let self else { return }
      isPumping = false
      letGo()
      claimMore()
    }
  }

  private func letGo() {
    let now = loop.now
    defer { tellLost() }
    while underWay < mostUnderWay {
      switch grant.next(waiting: waiting, now: now) {
      case .go:
        guard let delivery = urgent.popFirst() ?? bulk.popFirst() else { return }
        grant.spend()
        underWay += 1
        ledger.unpaced(by: delivery.sender.usage)
        delivery.rateQueues.append((self, grant.lateAt))
        // Who waits for the next one's turn is not held up on the way.
        delivery.permission = (self, grant.lateAt)
        release(delivery)
      case .ask(let count): return ask(count)
      case .wait(let until): return wake(at: until, now: now)
      case .asking, .rest: return
      }
    }
  }

  private func tellLost() {
    counts.rateLost.add(UInt64(grant.lost - lostTold))
    lostTold = grant.lost
  }

  private func claimMore() {
    let place = postponed.firstIndex { free($0.stream.urgency) * 2 >= room }
    guard let place else { return }
    let job = postponed.remove(at: place)
    worker.claimer.claims.resume(job, most: max(1, free(job.stream.urgency)))
    worker.claimer.claim()
  }

  private func ask(_ count: Int) {
    background { [self] in
      do throws(StoreError) {
        let (granted, wait) = try await store.rates.grant(count, from: [bucket])
        grant.granted(granted, asked: count, wait: wait, now: loop.now)
      } catch {
        grant.failed(now: loop.now)
      }
      pumpSoon()
    }
  }

  private func wake(at time: Instant, now: Instant) {
    guard timer == nil, mayBegin else { return }
    timer = loop.after(milliseconds: max(1, time - now)) { [weak self] in
      guard let self else { return }
      timer = nil
      pumpSoon()
    }
  }
}
