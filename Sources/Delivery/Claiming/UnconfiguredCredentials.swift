import Domain
import Loop
import Store
import Telemetry

/// What is queued for credentials that are not configured, or not any more: nothing of it is sent, and it ends with its
/// time.
final class UnconfiguredCredentials: WorkerPart {
  /// Streams of credentials that are not configured: reported once.
  private var strangers: Set<CredentialID> = []
  /// When it was last told that one is not configured.
  private var strangersTold: [CredentialID: (at: Instant, since: WallTime)] = [:]
  /// When conditions without a queue were last dropped.
  private var droppedConditionsAt = Instant(nanoseconds: 0)

  /// The credential has an account now.
  func configured(_ credential: CredentialID, isNew: Bool) {
    strangersTold[credential] = nil
    if isNew { strangers.remove(credential) }
  }

  /// A stream of a credential that is not configured is not claimed from, and the operator is told.
  func knows(_ credential: CredentialID) -> Bool {
    if let sender = worker.senders[credential] {
      if sender.isRemoved { tellStranger(credential) }
      return true
    }
    if strangers.insert(credential).inserted {
      log(.error, "credential_not_configured", ["credential": credential.rawValue])
    }
    tellStranger(credential)
    return false
  }

  /// Once a minute, as it is dropped whenever nothing is queued.
  private func tellStranger(_ credential: CredentialID) {
    let told = strangersTold[credential]
    if let told, loop.now - told.at < CredentialCondition.retold { return }
    let since = told?.since ?? loop.wallNow
    strangersTold[credential] = (loop.now, since)
    let condition = CredentialCondition(.blocked, reason: Sender.notConfigured, since: since, at: loop.wallNow)
    background { try? await self.store.conditions.set(credential, condition) }
  }

  /// What is told of credentials without a queue is dropped: of those that left the configuration, and with `known` of
  /// the others too, unless a retry is still to come, as the operator may have mended what was wrong.
  func dropConditions(known: Bool) {
    droppedConditionsAt = loop.now
    background {
      let now = self.loop.wallNow
      try? await self.store.conditions.drop { credential, condition in
        guard let sender = self.worker.senders[credential], !sender.isRemoved else { return true }
        guard known, !sender.hasWork, !sender.status.keepsRetries else { return false }
        return condition.state != .failing || condition.nextTry.map { $0 <= now } ?? true
      }
    }
  }

  /// With each sweep.
  func sweepConditions() {
    for sender in worker.senders.values { sender.status.retellCondition() }
    let hasStrangers = !strangers.isEmpty || worker.senders.values.contains(where: \.isRemoved)
    guard hasStrangers, loop.now - droppedConditionsAt >= CredentialCondition.retold else { return }
    dropConditions(known: false)
  }

  /// Direct sends that wait for a credential that left the configuration end when their time is over.
  func expireUnsent(_ stream: StreamID, of partition: Partition, _ lease: Lease) async throws(StoreError) {
    // What is at work may still be accepted.
    if let sender = worker.senders[stream.credential], !sender.isRemoved || sender.usage.atWork > 0 {
      partition.unsent[stream] = nil
      return
    }
    partition.unsent[stream] = try await store.unsent.expire(
      lease, stream, after: partition.unsent[stream], reason: Sender.notConfigured, now: loop.wallNow)
  }

  /// A retry whose credential is not configured looks again now and then, and ends when its time is over.
  func postpone(_ target: ClaimedTarget, of message: LoadedMessage?, partition: Partition) {
    if worker.senders[target.credential]?.isRemoved ?? true { tellStranger(target.credential) }
    let message = message?.begun(for: target)
    let end = message.map { target.attempts.spent == 0 ? $0.startBy : $0.expiresAt }
    guard let message, let end, end < loop.wallNow else {
      let rest = end.map { max(1, $0 - loop.wallNow + 1) }
      worker.retries.postpone(target, pause: rest.map { min($0, RetrySet.strangerPause) }, partition: partition)
      return
    }
    worker.barriers.dropBarrier(of: target.delivery)
    let final = Flush.Final(
      delivery: target.delivery, device: target.device,
      provider: target.address?.provider ?? ProviderName(rawValue: ""),
      outcome: message.isCancelled ? .cancelled : .expired,
      reason: message.isCancelled ? nil : target.attempts.last?.reason ?? Sender.notConfigured,
      platform: target.facts?.platform)
    worker.flusher.add(final, to: partition)
  }
}
