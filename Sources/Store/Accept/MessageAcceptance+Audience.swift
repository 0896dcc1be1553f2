import Domain
import RedisClient

extension MessageAcceptance {
  /// Stores a message that is aimed when it starts: at home first, then, when its time has come, a share in each
  /// partition that gets a part.
  func store(_ submission: Submission, _ audience: SubmissionAudience, id: MessageID) async throws(StoreError) {
    let parts = MessageSpread.parts(of: audience)
    precondition(parts.allSatisfy { (0..<settings.partitions).contains($0.partition) }, "a partition that is none")
    var fields = messageFields(submission, id, parts.map(\.partition), spreads: submission.schedule != nil)
    fields.append("left", parts.count)
    fields.append("an", parts.map { String($0.count) }.joined(separator: ","))
    fields.append("au", audience.expression)
    fields.append("re", audience.reach.rawValue)
    if submission.schedule == nil { fields.append("at", submission.acceptedAt.milliseconds) }
    if submission.keepReceipts { fields.append("rc", 1) }
    let fresh = try await storeHome(id, submission, fields, [])
    guard submission.schedule == nil else { return }
    if fresh {
      try await MessageSpread(session).spread(
        id,
        parts.map {
          AudienceShare(
            app: submission.app, partition: $0.partition, count: $0.count, startAt: submission.acceptedAt,
            ttl: submission.ttl,
            keepsReceipts: submission.keepReceipts)
        })
    } else {
      try await MessageSpread(session).finishSpreading(id)
    }
  }
}
