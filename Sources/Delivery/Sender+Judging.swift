import Domain
import Loop

/// What an answer, or the lack of one, does to its deliveries, its connection and the credential.
extension Sender {
  func conclude(_ flight: Flight, _ judgement: Judgement, status: Int) {
    let flight = judgement.isAcceptance ? flight : parcelled(flight)
    let verdict = judgement.common
    // One recipient named is the verdict on a request for one.
    let named = flight.recipients.count == 1 && !judgement.exceptions.isEmpty
    let judged = named ? judgement.exceptions[flight.recipients[0].token] ?? verdict : verdict
    for parcel in flight.parcels { parcel.isOfEarlierAccount = flight.generation != generation }
    heed(judged, began: flight.began, probe: flight.probe, berth: flight.berth, generation: flight.generation)
    let wall = worker.loop.wallNow
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

  /// What a request's end says of the credential, of the connection, and of how much may be at work.
  private func heed(_ verdict: Verdict, began: Instant, probe: Bool, berth: Int, generation: Int) {
    let now = worker.loop.now
    let seconds = Double(now.nanoseconds - began.nanoseconds) / 1e9
    metrics.ended(verdict, seconds: seconds)
    // What an earlier account was told says nothing of this one.
    guard generation == self.generation else { return }
    if case .retry(let retry) = verdict, gate.renews(verdict, began: began) {
      authorization.refused(retry.cause, now: worker.loop.wallNow)
    }
    tell(gate.answered(verdict, began: began, probe: probe, now: now, jitter: jitter.next()))
    limit.answered(
      verdict, took: seconds * 1000, began: began, atWork: atWork + 1, capacity: carrier.streams, now: now)
    if !gathersSlices {
      window.answered(took: seconds * 1000, began: began, atWork: atWork + 1, capacity: carrier.streams, now: now)
    }
    if limit.bound != nil || window.bound != nil { worker.wake(self) }
    if verdict.provesCredential { isTaken() }
    if verdict.leavesConnection { carrier.retire(berth) }
  }

  /// A member's request that the peer did not look at, as after a GOAWAY: the member waits in its batch once more. False: it
  /// has to go the long way.
  func tookBack(_ tag: Int, reason: String) -> Bool {
    guard MemberFlights.isOne(tag) else { return false }
    let batch = worker.memberFlights.batch(of: tag)
    guard !worker.memberFlights.hasLane(tag), batch.partition.mayWork, !batch.mayStop(now: worker.loop.wallNow),
      batch.takeBack(worker.memberFlights.place(of: tag))
    else { return false }
    let flight = worker.memberFlights.end(tag)
    membersAtWork -= 1
    heed(
      .retry(Retry(.notProcessed, reason: reason)), began: flight.began, probe: false, berth: flight.berth,
      generation: flight.generation)
    metrics.retried()
    // It left its sender with the last that waited.
    if batch.waiting == 1 { batches.append(batch) }
    return true
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
