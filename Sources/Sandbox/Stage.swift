import Domain
package import Loop

/// What all providers of a sandbox share: rules, log, statistics, clock. Owned by the sandbox's loop.
package final class Stage {
  package let loop: EventLoop
  package var rules = RuleBook()
  package var log: RequestLog
  package var statistics = Statistics()

  init(loop: EventLoop, log: RequestLog) {
    self.loop = loop
    self.log = log
  }

  /// Writes one entry for a request to one token, counts it, and answers its number. `answered` is nil where no answer
  /// goes out.
  func record(
    _ provider: SandboxProvider, connection: UInt64, request: UInt64, _ examination: Examination, body: [UInt8],
    answered: VendorAnswer?, fault: FaultKind?, accepted: Bool
  ) -> UInt64 {
    let entry = append(
      provider, connection: connection, request: request, examination, body: body, answered: answered, fault: fault,
      accepted: accepted)
    count(provider, answered: answered, fault: fault, accepted: accepted, duplicate: entry.duplicate)
    return entry.number
  }

  /// Writes one entry without counting a request: one member of many.
  func append(
    _ provider: SandboxProvider, connection: UInt64, request: UInt64, _ examination: Examination, body: [UInt8],
    answered: VendorAnswer?, fault: FaultKind?, accepted: Bool
  ) -> (number: UInt64, duplicate: Bool) {
    let (kept, digest) = log.digest(body)
    return log.append(
      LogEntry(
        time: loop.wallNow, provider: provider, connection: connection, request: request, token: examination.token,
        id: examination.id, topic: examination.topic, bodySize: body.count, bodyDigest: digest, body: kept,
        status: answered?.status ?? 0, reason: answered?.reason ?? "", name: answered?.name ?? "", fault: fault,
        accepted: accepted))
  }

  func count(
    _ provider: SandboxProvider, answered: VendorAnswer?, fault: FaultKind?, accepted: Bool, duplicate: Bool
  ) {
    statistics[provider].requests += 1
    if accepted { statistics[provider].accepted += 1 }
    if duplicate { statistics[provider].duplicates += 1 }
    if let fault { statistics[provider].faults[fault, default: 0] += 1 }
    if let answered {
      statistics[provider].answered(answered.status, answered.reason)
    } else {
      statistics[provider].withheld += 1
    }
  }
}
