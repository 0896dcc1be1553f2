import Domain
import Loop
import Store
import Telemetry

/// What is queued for credentials that are not configured, or not any more: nothing of it is sent, and it ends with its time.
extension Worker {
  /// A stream of a credential that is not configured is not claimed from, and the operator is told.
  func knows(_ credential: CredentialID) -> Bool {
    if senders[credential] != nil { return true }
    if strangers.insert(credential).inserted {
      log(.error, "credential_not_configured", ["credential": credential.rawValue])
      let condition = CredentialCondition(.blocked, reason: Sender.notConfigured, since: loop.wallNow)
      background { try? await self.store.setCondition(credential, condition) }
    }
    return false
  }

  /// Direct sends that wait for a credential that left the configuration end when their time is over.
  func expireUnsent(_ stream: StreamID, of partition: Partition, _ lease: Lease) async throws(StoreError) {
    // What is at work may still be accepted.
    if let sender = senders[stream.credential], !sender.isRemoved || sender.atWork > 0 {
      partition.unsent[stream] = nil
      return
    }
    partition.unsent[stream] = try await store.expireUnsent(
      lease, stream, after: partition.unsent[stream], reason: Sender.notConfigured, now: loop.wallNow)
  }

  /// A retry whose credential is not configured looks again now and then, and ends when its time is over.
  func postpone(_ target: ClaimedTarget, of message: LoadedMessage?, partition: Partition) {
    let end = message.map { target.attempts.spent == 0 ? $0.startBy : $0.expiresAt }
    guard let message, let end, end < loop.wallNow else {
      let rest = end.map { max(1, $0 - loop.wallNow + 1) }
      return postpone(target, pause: rest.map { min($0, Self.strangerPause) }, partition: partition)
    }
    dropHold(of: target.delivery)
    let final = Flush.Final(
      delivery: target.delivery, device: target.device,
      provider: target.address?.provider ?? ProviderName(rawValue: ""),
      outcome: message.isCancelled ? .cancelled : .expired,
      reason: message.isCancelled ? nil : target.attempts.last?.reason ?? Sender.notConfigured,
      platform: target.facts?.platform)
    partition.flush.add(final, prune: nil, finishedJob: nil)
    unflushed += 1
    flushSoon(partition)
  }
}
