import Domain
import Loop

/// How many requests of a credential may be at work.
final class RequestLimits: SenderPart {
  var limit: ConcurrencyLimit
  var window: BulkWindow

  override init(_ sender: Sender) {
    limit = ConcurrencyLimit(sender.context.settings.concurrency)
    window = BulkWindow(sender.context.settings.bulkWindow)
    super.init(sender)
  }

  /// The account is another one now: nothing is known of its peer.
  func renew() {
    limit = ConcurrencyLimit(settings.concurrency)
    window = BulkWindow(settings.bulkWindow)
  }

  /// Requests that may be at work at a time.
  var concurrency: Int { min(limit.bound ?? .max, sender.transport.streams) }

  /// Places that are taken of those that the limits allow: suspects have none, nor has who waits for an answer that is
  /// late.
  var occupied: Int {
    var late: Int?
    return occupied(of: sender.transport, late: &late)
  }

  /// The same for who has the transport at hand: reading `sender` costs more than the rest. `late`: requests whose answer
  /// is late, once they were counted. Counting them looks at each connection.
  private func occupied(of transport: any Transport, late: inout Int?) -> Int {
    let all = usage.atWork - usage.suspectsAtWork
    guard limit.bound != nil || window.bound != nil else { return all }
    let known = late ?? transport.requests(olderThan: limit.patience)
    late = known
    return max(0, all - known)
  }

  /// A row of a batch was accepted. `late`: nil before the first of the rows that were accepted together.
  func rowAccepted(
    took milliseconds: Double, began: Instant, _ transport: any Transport, late: inout Int?, now: Instant
  ) {
    limit.answered(
      .accepted(id: nil), took: milliseconds, began: began, atWork: occupied(of: transport, late: &late),
      capacity: transport.streams, now: now)
    window.answered(
      took: milliseconds, began: began, atWork: occupied(of: transport, late: &late), capacity: transport.streams,
      now: now)
  }

  /// One more may begin. If not, those at work may be late by and by.
  func mayBegin(reserve: Double, now: Instant) -> Bool {
    if limit.mayBegin(atWork: occupied, reserve: reserve) { return true }
    sender.wake(at: now + limit.patience, now: now)
    return false
  }
}
