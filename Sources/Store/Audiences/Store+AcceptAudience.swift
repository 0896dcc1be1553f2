import Domain
import RedisClient

/// One partition's part of an audience, before it is started.
struct AudienceShare {
  var partition: Int
  /// Members when it was counted.
  var count: Int
  var startAt: WallTime
  var ttl: Int
  var keepsReceipts: Bool
}

extension Store {
  /// The partitions that get a part.
  static func parts(of audience: SubmissionAudience) -> [(partition: Int, count: Int)] {
    audience.counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Stores a message that is aimed when it starts: at home first, then, when its time has come, a share in each
  /// partition that gets a part.
  func store(_ submission: Submission, _ audience: SubmissionAudience, id: MessageID) async throws(StoreError) {
    let parts = Self.parts(of: audience)
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
      try await spread(
        id,
        parts.map {
          AudienceShare(
            partition: $0.partition, count: $0.count, startAt: submission.acceptedAt, ttl: submission.ttl,
            keepsReceipts: submission.keepReceipts)
        })
    } else {
      try await finishSpreading(id)
    }
  }

  func spread(_ id: MessageID, _ shares: [AudienceShare]) async throws(StoreError) {
    _ = try await ask(
      Scripts.addAudience,
      shares.map { share in
        (
          [keys.work(share.partition, id), keys.starts(share.partition), keys.finished(share.partition)],
          [
            .bytes(id.raw), .number(Int64(share.count)), .number(Int64(share.ttl)),
            .number(share.startAt.milliseconds), share.keepsReceipts ? "1" : "0", .text(keys.wakeup),
            .number(Int64(share.partition)),
          ]
        )
      })
    _ = try await ask(
      Scripts.spreadDone, keys: [keys.message(id), keys.spread(id), keys.spreading(keys.home(id))], [.bytes(id.raw)])
  }
}
