import Domain
import Loop
import Store
import Telemetry

/// What an answer, or the lack of one, does to its deliveries, its connection and the credential.
final class AnswerJudge: SenderPart {
  func answered(_ tag: Int, _ answer: ProviderAnswer) {
    let inFlight = endRequest(tag)
    if inFlight.isAside { sender.suspects.ended(isAnswered: true) }
    var answer = answer
    answer.receivedAt = loop.wallNow
    var judgement = sender.account(of: inFlight).judge(answer, recipients: inFlight.recipients)
    judgement.common = judgement.common.heedingLongWait
    conclude(inFlight, judgement, status: answer.status)
  }

  func failed(_ tag: Int, _ failure: TransportFailure) {
    if case .notProcessed(let reason) = failure, tookBack(tag, reason: reason) { return worker.turns.wake(sender) }
    let inFlight = sender.slices.withDeliveries(endRequest(tag))
    if inFlight.isAside { sender.suspects.ended(isAnswered: false) }
    func unanswered(_ reason: String, tells: Bool = true) {
      conclude(inFlight, Judgement(.retry(Retry(.unknownOutcome, reason: reason))), status: 0, tells: tells)
    }
    switch failure {
    case .notProcessed(let reason):
      conclude(inFlight, Judgement(.retry(Retry(.notProcessed, reason: reason))), status: 0)
    case .unknown(let reason): unanswered(reason)
    // The end of one connection is one event, however many were at work.
    case .lost(let reason, let beside): unanswered(Suspicion.ofEnd(reason, alone: beside == 0), tells: beside == 0)
    case .silent(let reason): unanswered(Suspicion.ofSilence(reason, alone: inFlight.isAside))
    case .unsendable(let reason): reject(inFlight, reason: reason)
    case .ownHostUnreachable(let reason):
      // Nothing waits for it. It is told as long as nothing else is taken.
      if inFlight.generation == sender.generation {
        let failure = Verdict.retry(Retry(.unknownOutcome, reason: reason))
        sender.status.streak.answered(failure, message: inFlight.deliveries.first?.message.id, now: loop.now)
      }
      settleAlone(inFlight, .retry(Retry(.tokenBusy, reason: reason)))
    case .unreachable:
      sender.metrics.withdrawn()
      if inFlight.probe, inFlight.generation == sender.generation {
        sender.status.breaker.withdrawn(now: loop.now + sender.policy.settings.base)
      }
      goAgain(inFlight)
    }
    worker.turns.wake(sender)
  }

  /// `tells`: that there was no answer says something of the provider, where it is a delivery's first.
  func conclude(_ inFlight: InFlightRequest, _ judgement: Judgement, status: Int, tells: Bool = true) {
    let inFlight = judgement.isAcceptance ? inFlight : sender.slices.withDeliveries(inFlight)
    let verdict = judgement.common
    // One recipient named is the verdict on a request for one.
    let named = inFlight.recipients.count == 1 && !judgement.exceptions.isEmpty
    let judged = named ? judgement.exceptions[inFlight.recipients[0].token] ?? verdict : verdict
    for delivery in inFlight.deliveries { delivery.isOfEarlierAccount = inFlight.generation != sender.generation }
    let isFirst = inFlight.deliveries.first.map { $0.attempts.spent == 0 } ?? true
    heed(
      judged, began: inFlight.began, probe: inFlight.probe, isTelling: tells && isFirst && !inFlight.isAside,
      isAside: inFlight.isAside, counts: tells,
      message: inFlight.deliveries.first?.message.id, connectionSlot: inFlight.connectionSlot,
      generation: inFlight.generation)
    settle(inFlight, judgement, judged, status: status)
  }

  /// No peer will ever see the request.
  func reject(_ inFlight: InFlightRequest, reason: String) {
    log(.error, "request_not_sent", ["credential": sender.id.rawValue, "reason": reason])
    settleAlone(inFlight, .rejected(reason: "the request cannot be sent: \(reason)"))
  }

  /// No peer saw the request, for a cause of its own: that says nothing of the credential.
  private func settleAlone(_ inFlight: InFlightRequest, _ verdict: Verdict) {
    if inFlight.probe, inFlight.generation == sender.generation { sender.status.breaker.withdrawn(now: loop.now) }
    sender.metrics.ended(verdict, seconds: 0)
    settle(inFlight, Judgement(verdict), verdict, status: 0)
  }

  private func settle(_ inFlight: InFlightRequest, _ judgement: Judgement, _ judged: Verdict, status: Int) {
    let wall = loop.wallNow
    if !inFlight.members.isEmpty {
      sender.slices.concludeMembers(inFlight, judgement.common, status: status)
    } else if inFlight.slice != nil {
      sender.slices.conclude(inFlight, judgement, status: status, now: wall)
    } else {
      let delivery = inFlight.deliveries[0]
      let decision = sender.policy.decide(
        judged, delivery.history, asked: inFlight.at, now: wall, jitter: sender.jitter.next())
      delivery.record(judged, counts: decision.counts, status: status, at: inFlight.at)
      settle(delivery, judged, decision, inFlight)
    }
  }

  /// What a request's end says of the credential, of the connection, and of how much may be at work. `counts`: it
  /// stands for itself, and not for the connection's end.
  private func heed(
    _ verdict: Verdict, began: Instant, probe: Bool, isTelling: Bool = true, isAside: Bool = false,
    counts: Bool = true, message: MessageID? = nil, connectionSlot: Int, generation: Int
  ) {
    let now = loop.now
    let seconds = Double(now.nanoseconds - began.nanoseconds) / 1e9
    sender.metrics.ended(verdict, seconds: seconds)
    // What an earlier account was told says nothing of this one.
    guard generation == sender.generation else { return }
    if case .retry(let retry) = verdict, sender.status.breaker.renews(verdict, began: began, probe: probe) {
      sender.authorizer.refused(retry.cause)
    }
    if counts { sender.status.streak.answered(verdict, message: message, now: now) }
    // Others were answered meanwhile, and it had no place of theirs: it tells nothing of how much may be at work.
    let isLate =
      verdict.isUnanswered && sender.status.breaker.isOld(began)
      && seconds * 1000 > Double(sender.limits.limit.patience)
    sender.status.tell(
      sender.status.breaker.answered(
        verdict, began: began, probe: probe, isTelling: isTelling, now: now, jitter: sender.jitter.next()))
    if !isAside, !isLate, isTelling || !verdict.isFailure {
      sender.limits.limit.answered(
        verdict, took: seconds * 1000, began: began, atWork: sender.limits.occupied + 1,
        capacity: sender.transport.streams, now: now)
      if !sender.gathersSlices, !verdict.isFailure {
        sender.limits.window.answered(
          took: seconds * 1000, began: began, atWork: sender.limits.occupied + 1, capacity: sender.transport.streams,
          now: now)
      }
    }
    if sender.limits.limit.bound != nil || sender.limits.window.bound != nil { worker.turns.wake(sender) }
    if verdict.provesCredential { sender.status.isTaken() }
    if verdict.leavesConnection { sender.transport.retire(connectionSlot) }
  }

  private func settle(
    _ delivery: Delivery, _ verdict: Verdict, _ decision: RetryPolicy.Decision, _ inFlight: InFlightRequest
  ) {
    switch decision {
    case .end(let outcome, let reason):
      worker.settler.end(delivery, outcome, reason: reason, verdict: verdict)
    case .wait(let due):
      sender.metrics.retried()
      sender.status.rests(until: due)
      worker.settler.rest(delivery, until: due, reason: verdict.reason ?? "")
    case .again:
      sender.metrics.retried()
      delivery.atOnce += 1
      delivery.avoiding = inFlight.connectionSlot
      // What spent an attempt goes behind those that have not.
      worker.settler.goBack(delivery, first: !decision.counts)
    case .stay:
      worker.attempts.tell(tried: [delivery])
      worker.settler.goBack(delivery)
    }
  }

  /// Nobody's attempt: what was at work takes its place again.
  func goAgain(_ inFlight: InFlightRequest) {
    if let slice = inFlight.slice {
      guard inFlight.deliveries[0].partition.mayWork else { return worker.settler.abandon(inFlight.deliveries) }
      sender.slices.ready.prepend(GatheredSlice(slice, inFlight.deliveries))
    } else {
      worker.settler.goBack(inFlight.deliveries[0])
    }
  }

  // MARK: Rows of batches

  /// A request in flight of a row that was not simply accepted, as any other.
  func endRequest(_ tag: Int) -> InFlightRequest {
    guard LaneIndex.isOne(tag) else {
      let inFlight = sender.requests.inFlightRequests.end(tag)
      ledger.answered(isAside: inFlight.isAside, by: usage)
      return inFlight
    }
    ledger.answered(by: usage)
    return worker.batchSettler.slowPathRequest(worker.laneKeeper.index.end(tag))
  }

  /// A member's request that the peer did not look at, as after a GOAWAY: the member waits in its batch once more.
  /// False: it has to take the slow path, as a direct send does, whose attempts are all told.
  func tookBack(_ tag: Int, reason: String) -> Bool {
    guard LaneIndex.isOne(tag) else { return false }
    let laneKeeper = worker.laneKeeper
    let batch = laneKeeper.index.batch(of: tag)
    guard !batch.isDirect, !laneKeeper.index.hasLane(tag), batch.partition.mayWork,
      !batch.mayStop(now: loop.wallNow), batch.requeue(laneKeeper.index.place(of: tag))
    else { return false }
    let row = laneKeeper.index.end(tag)
    ledger.answered(by: usage)
    heed(
      .retry(Retry(.notProcessed, reason: reason)), began: row.began, probe: false, connectionSlot: row.connectionSlot,
      generation: row.generation)
    sender.metrics.retried()
    // It left its sender with the last that waited.
    if !batch.isQueued { sender.batches.append(batch) }
    return true
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
  /// A failing provider that asks for a long pause asks it of all: like a quota it costs nobody an attempt, and one
  /// tries each hour.
  var heedingLongWait: Verdict {
    guard case .retry(var retry) = self, retry.cause == .serverFault || retry.cause == .unknownOutcome,
      let asked = retry.retryAfter, asked > Int(CredentialCondition.longWait / 1_000)
    else { return self }
    retry.cause = .quota
    return .retry(retry)
  }

  /// Nobody takes a request, or calls its token dead, whose credential he refuses.
  fileprivate var provesCredential: Bool {
    switch self {
    case .accepted, .dead: true
    case .retry, .rejected, .blocked: false
    }
  }

  /// A 5xx, or no answer.
  fileprivate var isFailure: Bool {
    guard case .retry(let retry) = self else { return false }
    return retry.cause == .serverFault || retry.cause == .unknownOutcome
  }

  fileprivate var isUnanswered: Bool {
    if case .retry(let retry) = self { retry.cause == .unknownOutcome } else { false }
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
