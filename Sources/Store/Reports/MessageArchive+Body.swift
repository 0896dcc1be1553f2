package import Domain
import RedisClient

extension MessageArchive {
  /// The request that made a message. Nil: unknown, another app's, or beyond retention; of ended messages only those with
  /// deliveries whose outcome `keepsContent` keep it.
  package func body(of id: MessageID, app: AppID) async throws(StoreError) -> [UInt8]? {
    let live = try await ask(RedisCommand("HMGET", keys.message(id), "app", "b")).array ?? []
    if live.count == 2, live[0].text == app.rawValue, let body = live[1].bytes { return body }
    guard let parts = try await find([id])[0], parts.text("app") == app.rawValue else { return nil }
    return parts.message[Array("b".utf8)]
  }

  /// Why deliveries of a message wait for a time: it has a local time, or else there are quiet hours.
  func timeReason(of id: MessageID, app: AppID) async throws(StoreError) -> String {
    let body = try await body(of: id, app: app) ?? []
    return body.contains(Self.localTimeMember) ? Timing.localReason : Timing.quietReason
  }
  private static let localTimeMember = Array(#""send_at_local""#.utf8)
}
