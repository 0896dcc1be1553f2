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

  /// Writes one entry for each token of a request, counts the request, and answers the entries' numbers. `answered` is nil
  /// where no answer goes out.
  func record(
    _ provider: SandboxProvider, connection: UInt64, request: UInt64, _ examination: Examination, body: [UInt8],
    answered: VendorAnswer?, fault: FaultKind?, accepted: Bool
  ) -> ClosedRange<UInt64> {
    let (kept, digest) = log.digest(body)
    let out = examination.outOfReach
    var numbers: ClosedRange<UInt64>?
    var duplicate = false
    for token in examination.members.isEmpty ? [examination.token] : examination.members {
      let isOut = out?.members.contains(token) ?? false
      let appended = log.append(
        LogEntry(
          time: loop.wallNow, provider: provider, connection: connection, request: request, token: token,
          id: examination.id, topic: examination.topic, bodySize: body.count, bodyDigest: digest, body: kept,
          status: answered?.status ?? 0, reason: answered.map { (isOut ? out?.reason : nil) ?? $0.reason } ?? "",
          name: answered?.name ?? "", fault: isOut ? .reply : fault, accepted: accepted && !isOut))
      numbers = (numbers?.lowerBound ?? appended.number)...appended.number
      duplicate = duplicate || appended.duplicate
    }
    var answered = answered
    if let out { answered?.reason = out.reason }
    count(
      provider, answered: answered, fault: fault ?? (out == nil ? nil : .reply), accepted: accepted,
      duplicate: duplicate)
    return numbers ?? 0...0
  }

  private func count(
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
