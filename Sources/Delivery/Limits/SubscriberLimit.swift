import Domain
import Loop
import Store
import Telemetry

/// Keeps an account below the number of recipients at which its vendor disables the app: so many for each of its
/// subscribers, counted in the store for all workers. Loop-owned.
final class SubscriberLimit {
  private unowned let sender: Sender
  private let window: RecipientWindow
  private let times: Int
  /// Recipients that may be reached now, and those that the next request reaches.
  private var inHand = 0
  private var next = 0
  private var isAsking = false
  private var notBefore: Instant?
  /// As last counted; 0: none is registered here, and nothing can be said.
  private var subscribers: (count: Int, at: Instant)?
  /// Something waits for it.
  private var isHolding = false
  private var hasEnded = false

  /// Milliseconds that a count of subscribers holds.
  private static let recount: Int64 = 60_000
  /// After a question without an answer.
  private static let repeatAfter: Int64 = 1_000
  /// The longest wait until it is asked again: others may have come or gone.
  private static let longestWait: Int64 = 15_000

  init?(_ settings: Quota?, _ rule: SubscriberRule?, sender: Sender) {
    guard let rule, let times = settings?.timesSubscribers, times > 0 else { return nil }
    self.sender = sender
    self.times = times
    window = sender.worker.context.store.recipients.window(under: rule)
  }

  /// A request to so many may go now; if not, the sender is woken when it may. Nil: to all subscribers.
  func mayGo(_ recipients: Int?, now: Instant) -> Bool {
    next = 0
    if let known = subscribers, known.count == 0, now - known.at < Self.recount { return true }
    let count = recipients ?? max(1, subscribers?.count ?? 1)
    next = count
    if inHand >= count { return true }
    if isAsking { return false }
    if let notBefore, now < notBefore {
      sender.wake(at: notBefore, now: now)
      return false
    }
    ask(count - inHand)
    return false
  }

  /// The request that was asked for last went.
  func spend() {
    inHand = max(0, inHand - next)
    next = 0
  }

  /// Nothing waits any more.
  func rest() {
    if !isAsking { show(nil) }
  }

  private func ask(_ count: Int) {
    isAsking = true
    let worker = sender.worker
    worker.context.background { [self] in
      do throws(StoreError) {
        let known = try await countSubscribers(now: worker.context.loop.now)
        let most = known.multipliedReportingOverflow(by: times)
        let (isTaken, wait) =
          known == 0
          ? (true, 0)
          : try await worker.context.store.recipients.take(
            count, of: most.overflow ? .max : most.partialValue, in: window)
        let now = worker.context.loop.now
        if isTaken { inHand += count }
        notBefore = isTaken ? nil : now + min(wait, Self.longestWait)
        if isTaken {
          show(nil)
        } else {
          show(now + max(0, wait))
        }
      } catch {
        notBefore = worker.context.loop.now + Self.repeatAfter
      }
      isAsking = false
      worker.turns.wake(sender)
    }
  }

  private func countSubscribers(now: Instant) async throws(StoreError) -> Int {
    if let known = subscribers, now - known.at < Self.recount { return known.count }
    let worker = sender.worker
    let route = worker.resolver(sender.id.app, Message(to: .everyone, kind: .alert))
    let own = sender.id
    let count = try await worker.context.store.audiences.subscribers(
      of: own.app, by: sender.provider, now: worker.context.loop.wallNow
    ) {
      address in
      if case .queue(let credential) = route(address) { credential == own } else { false }
    }
    subscribers = (count, worker.context.loop.now)
    return count
  }

  /// Another takes its place.
  func end() {
    show(nil)
    hasEnded = true
  }

  /// `until`: something waits for it until then.
  private func show(_ until: Instant?) {
    guard until != nil || isHolding, !hasEnded else { return }
    isHolding = until != nil
    sender.status.hold(SubscriberRule.reason, until: until)
  }
}
