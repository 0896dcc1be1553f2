import Domain
import Loop
import Store

/// A vendor's quota on one account, and the ramp with which bulk begins, shared by all that send with it. Loop-owned.
final class SenderQuota {
  private unowned let sender: Sender
  private let quota: [RateBucket]
  /// The quota's and the ramp's.
  private let bulkBuckets: [RateBucket]
  private var all: RateGrant
  private var bulk: RateGrant

  init?(_ settings: Quota?, group: String, sender: Sender) {
    guard let settings, settings.perMinute > 0 else { return nil }
    self.sender = sender
    let rate = settings.perSecond
    quota = [sender.worker.context.store.rates.rate(of: group, "quota", perSecond: rate)]
    bulkBuckets =
      settings.rampUp > 0
      ? quota + [sender.worker.context.store.rates.rate(of: group, "ramp", perSecond: rate, ramp: settings.rampUp)]
      : quota
    all = RateGrant(perSecond: rate)
    bulk = RateGrant(perSecond: rate)
  }

  /// A request may go now; if not, the sender is woken when it may be so.
  func mayGo(urgent: Bool, waiting: Int, now: Instant) -> Bool {
    let step = urgent ? all.next(waiting: waiting, now: now) : bulk.next(waiting: waiting, now: now)
    switch step {
    case .go: return true
    case .ask(let count): ask(count, urgent: urgent)
    case .wait(let until): sender.wake(at: until, now: now)
    case .asking, .rest: break
    }
    return false
  }

  func inHand(urgent: Bool) -> Int { urgent ? all.inHand : bulk.inHand }

  /// So many went.
  func spend(_ count: Int, urgent: Bool) {
    if urgent { all.spend(min(count, all.inHand)) } else { bulk.spend(min(count, bulk.inHand)) }
  }

  private func ask(_ count: Int, urgent: Bool) {
    let worker = sender.worker
    worker.context.background { [self] in
      do throws(StoreError) {
        let (granted, wait) = try await worker.context.store.rates.grant(count, from: urgent ? quota : bulkBuckets)
        let now = worker.context.loop.now
        if urgent {
          all.granted(granted, asked: count, wait: wait, now: now)
        } else {
          bulk.granted(granted, asked: count, wait: wait, now: now)
        }
      } catch {
        if urgent { all.failed(now: worker.context.loop.now) } else { bulk.failed(now: worker.context.loop.now) }
      }
      worker.turns.wake(sender)
    }
  }
}

extension Quota {
  /// A minute's quota in 61 seconds, so that what is granted ahead stays within it.
  fileprivate var perSecond: Double { Double(perMinute) / 61 }
}
