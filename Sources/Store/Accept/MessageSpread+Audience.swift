import Domain
import RedisClient

/// One partition's part of an audience, before it is started.
struct AudienceShare {
  var app: AppID
  var partition: Int
  /// Members when it was counted.
  var count: Int
  var startAt: WallTime
  var ttl: Int
  var keepsReceipts: Bool
}

extension MessageSpread {
  /// The partitions that get a part.
  static func parts(of audience: SubmissionAudience) -> [(partition: Int, count: Int)] {
    audience.counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
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
            .number(Int64(share.partition)), .text(share.app.rawValue),
          ]
        )
      })
    _ = try await ask(
      Scripts.spreadDone, keys: [keys.message(id), keys.spread(id), keys.spreading(keys.home(id))], [.bytes(id.raw)])
  }
}
