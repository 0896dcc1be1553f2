import Domain
import Loop

/// What an answer, or the lack of one, does to its deliveries, its connection and the credential.
extension Sender {
  func conclude(_ flight: Flight, _ judgement: Judgement, status: Int) {
    let flight = judgement.isAcceptance ? flight : parcelled(flight)
    let now = worker.loop.now
    let wall = worker.loop.wallNow
    let verdict = judgement.common
    // One recipient named is the verdict on a request for one.
    let named = flight.recipients.count == 1 && !judgement.exceptions.isEmpty
    let judged = named ? judgement.exceptions[flight.recipients[0].token] ?? verdict : verdict
    let seconds = Double(now.nanoseconds - flight.began.nanoseconds) / 1e9
    metrics.ended(judged, seconds: seconds)
    for parcel in flight.parcels { parcel.isOfEarlierAccount = flight.generation != generation }
    // What an earlier account was told says nothing of this one.
    if flight.generation == generation {
      if case .retry(let retry) = judged, gate.renews(judged, began: flight.began) {
        authorization.refused(retry.cause, now: wall)
      }
      tell(
        gate.answered(judged, began: flight.began, probe: flight.probe, now: now, jitter: jitter.next()))
      limit.answered(
        judged, took: seconds * 1000, began: flight.began, atWork: atWork + 1, capacity: carrier.streams,
        now: now)
      if !gathersSlices {
        window.answered(
          took: seconds * 1000, began: flight.began, atWork: atWork + 1, capacity: carrier.streams, now: now)
      }
      if limit.bound != nil || window.bound != nil { worker.wake(self) }
      if judged.provesCredential { isTaken() }
      if judged.leavesConnection { carrier.retire(flight.berth) }
    }
    if !flight.members.isEmpty {
      concludeMembers(flight, verdict, status: status)
    } else if flight.slice != nil {
      concludeSlice(flight, judgement, status: status, now: wall)
    } else {
      let parcel = flight.parcels[0]
      let decision = policy.decide(judged, parcel.history, now: wall, jitter: jitter.next())
      parcel.record(judged, counts: decision.counts, status: status, at: flight.at)
      settle(parcel, judged, decision, flight)
    }
  }

  private func settle(_ parcel: Parcel, _ verdict: Verdict, _ decision: RetryPolicy.Decision, _ flight: Flight) {
    switch decision {
    case .end(let outcome, let reason):
      worker.end(parcel, outcome, reason: reason, verdict: verdict)
    case .wait(let due):
      metrics.retried()
      worker.rest(parcel, until: due, reason: verdict.reason ?? "")
    case .again(let spends):
      metrics.retried()
      parcel.atOnce += 1
      if spends { parcel.resends += 1 }
      parcel.avoiding = flight.berth
      worker.goBack(parcel)
    case .stay:
      worker.goBack(parcel)
    }
  }

  /// Nobody's attempt: what was at work takes its place again.
  func goAgain(_ flight: Flight) {
    if let slice = flight.slice {
      guard flight.parcels[0].partition.mayWork else { return worker.abandon(flight.parcels) }
      closedSlices.prepend(.init(slice: slice, members: flight.parcels, stored: true))
    } else {
      worker.goBack(flight.parcels[0])
    }
  }
}

extension Judgement {
  /// Of all recipients.
  fileprivate var isAcceptance: Bool { if case .accepted = common { exceptions.isEmpty } else { false } }
}

extension RetryPolicy.Decision {
  /// The attempt counts.
  var counts: Bool {
    switch self {
    case .end, .wait: true
    case .again(let spends): spends
    case .stay: false
    }
  }
}

extension Verdict {
  /// Nobody takes a request, or calls its token dead, whose credential he refuses.
  fileprivate var provesCredential: Bool {
    switch self {
    case .accepted, .dead: true
    case .retry, .rejected, .blocked: false
    }
  }

  /// The connection that brought it is of no more use.
  fileprivate var leavesConnection: Bool {
    guard case .retry(let retry) = self else { return false }
    switch retry.cause {
    case .closing, .authorizationExpired, .wrongConnection: return true
    default: return false
    }
  }
}
