import Domain
import Loop
import Store

/// Sends requests for one recipient: of deliveries from their lanes, and of rows from their batches. Requests for many
/// (`SliceSender`) start and end here as well.
final class RequestSender: SenderPart {
  /// Requests of deliveries and of slices, by tag. Those of rows are in the `LaneIndex`.
  var inFlightRequests = InFlightRequests()
  let frames: RequestFrames
  /// The token of the row at hand.
  var token: [UInt8] = []

  override init(_ sender: Sender) {
    frames = RequestFrames(sender)
    super.init(sender)
  }

  /// The next delivery of the next lane, or of the youngest; nil when there is none left.
  func takeNext(urgent isUrgent: Bool, youngest: Bool = false, now: Instant, wall: WallTime) -> Delivery? {
    let lane = youngest ? sender.lanes.popLast(urgent: isUrgent) : sender.lanes.popFirst(urgent: isUrgent)
    return lane.flatMap { take($0, asSuspect: false, now: now, wall: wall) }
  }

  /// The next delivery of this lane, if it may go. It has passed all checks but its rendering.
  func take(_ lane: Int, asSuspect: Bool, now: Instant, wall: WallTime) -> Delivery? {
    let (worker, concurrency) = (self.worker, settings.lane.concurrency)
    guard let delivery = worker.laneKeeper.lanes.startNext(lane, concurrency: concurrency, now: wall) else {
      return nil
    }
    guard delivery.sender === sender, sender.gathersSlices || delivery.isSuspect == asSuspect else {
      // Its next one came under another credential of the same app, or belongs into the other queue: that one's turn.
      worker.settler.goBack(delivery)
      return nil
    }
    worker.laneKeeper.requeue(lane)
    guard worker.leaseKeeper.holdsLease(delivery.partition, now: now) else {
      worker.leaseKeeper.park(delivery)
      return nil
    }
    if delivery.message.isStopped, worker.control.stop([delivery], now: wall) { return nil }
    if let end = delivery.end(now: wall) {
      worker.settler.end(delivery, end.outcome, reason: end.reason)
      return nil
    }
    if let timing = delivery.message.timing {
      // It may have stood in its lane for long.
      switch timing.decide(delivery.target.facts?.timeZone, now: wall) {
      case .go: break
      case .hold(let until):
        worker.settler.rest(delivery, until: until, reason: Timing.quietReason)
        return nil
      case .skip:
        worker.settler.end(delivery, .skipped, reason: Timing.quietReason)
        return nil
      }
    }
    // Members of a slice wait for each other.
    if sender.gathersSlices, !delivery.rateQueues.isEmpty { delivery.passed() }
    return delivery
  }

  /// Sends the next one; false: none went.
  func sendNext(urgent isUrgent: Bool, _ pass: Sender.Pass) -> Bool {
    guard
      let delivery = takeNext(urgent: isUrgent, youngest: pass.takesYoungest, now: pass.now, wall: pass.wall)
    else { return false }
    return send(delivery, pass)
  }

  /// False: it ended otherwise.
  func send(_ delivery: Delivery, _ pass: Sender.Pass) -> Bool {
    switch delivery.message.rendering(sender.account, delivery.content, for: delivery.target.facts) {
    case .failure(let why):
      worker.settler.end(delivery, why.outcome.0, reason: why.outcome.reason)
      return false
    case .success(let rendering):
      if rendering.needsLiveActivityToken, delivery.address.liveActivityToken == nil {
        worker.settler.end(delivery, .skipped, reason: Self.noLiveActivityToken)
        return false
      }
      var connectionSlot = pass.connectionSlot
      if delivery.avoiding == connectionSlot, !pass.isAside {
        connectionSlot = sender.transport.connectionSlot(avoiding: connectionSlot, reserve: 0) ?? connectionSlot
      }
      let recipients = [delivery.address]
      let request = sender.account.request(
        rendering, to: recipients, id: delivery.id.requestID, authorization: pass.header)
      send(
        request,
        InFlightRequest([delivery], recipients: recipients, connectionSlot: connectionSlot, pass))
      return true
    }
  }

  static let noLiveActivityToken = SkipReason.noLiveActivityToken.rawValue

  // MARK: Requests

  func send(_ request: ProviderRequest, _ inFlight: InFlightRequest) {
    for delivery in inFlight.deliveries {
      if delivery.isFirst { sender.metrics.firstAttempt(after: inFlight.at - delivery.message.startedAt) }
      delivery.began = inFlight.began
      if delivery.permission != nil { delivery.spent(at: inFlight.began) }
    }
    sender.metrics.began()
    begin(request, inFlight)
  }

  /// From here on its end is told by `answered` or `failed`.
  func begin(_ request: ProviderRequest, _ inFlight: InFlightRequest) {
    let connectionSlot = inFlight.connectionSlot
    ledger.started(isAside: inFlight.isAside, by: usage)
    hand(request, tag: inFlightRequests.begin(inFlight), connectionSlot: connectionSlot)
  }

  /// To the transport, if there is anything to send.
  func hand(_ request: ProviderRequest, tag: Int, connectionSlot: Int) {
    guard let fault = request.fault else {
      return sender.transport.send(request, tag: tag, connectionSlot: connectionSlot)
    }
    // As from a transport: never from inside.
    loop.atEndOfTurn { [weak self] in self?.sender.judge.failed(tag, .unsendable(fault)) }
  }
}
