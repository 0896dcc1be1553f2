import Domain
import Loop

extension Sender {
  func send(_ request: ProviderRequest, _ inFlight: InFlightRequest) {
    for delivery in inFlight.deliveries {
      if delivery.isFirst { metrics.firstAttempt(after: inFlight.at - delivery.message.startedAt) }
      delivery.began = inFlight.began
      if delivery.permission != nil { delivery.spent(at: inFlight.began) }
    }
    metrics.began()
    begin(request, inFlight)
  }

  /// From here on its end is told by `answered` or `failed`.
  func begin(_ request: ProviderRequest, _ inFlight: InFlightRequest) {
    let connectionSlot = inFlight.connectionSlot
    context.ledger.started(isAside: inFlight.isAside, by: usage)
    let tag = inFlightRequests.begin(inFlight)
    guard let fault = request.fault else { return transport.send(request, tag: tag, connectionSlot: connectionSlot) }
    // As from a transport: never from inside.
    context.loop.atEndOfTurn { [weak self] in self?.failed(tag, .unsendable(fault)) }
  }
}
