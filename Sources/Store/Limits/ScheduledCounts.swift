package import Domain
import Loop
import RedisClient

/// How many messages of an app wait for their time. A message is entered before it is stored, so that two processes cannot both
/// store the last one; one that is not stored after all counts until its time. Holds nothing but its session, on whose loop
/// it is used.
package struct ScheduledCounts: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// False: the app has `limit` of them, and this one is not entered. May be repeated.
  package func enter(_ id: MessageID, app: AppID, until time: WallTime, limit: Int) async throws(StoreError) -> Bool {
    try await hold(id, app, time, [.number(Int64(limit))])
  }

  /// Of a message that got another time; one that is not counted stays so.
  package func move(_ id: MessageID, app: AppID, until time: WallTime) async throws(StoreError) {
    _ = try await hold(id, app, time, [])
  }

  /// It is cancelled, or was not stored.
  package func leave(_ id: MessageID, app: AppID) async throws(StoreError) {
    var command = RedisCommand("ZREM", keys.waitingMessages(app))
    command.append(id.raw)
    _ = try await ask(command)
  }

  private func hold(
    _ id: MessageID, _ app: AppID, _ time: WallTime, _ limit: [RedisArgument]
  ) async throws(StoreError) -> Bool {
    try await ask(
      Scripts.holdScheduled, keys: [keys.waitingMessages(app)],
      [.number(loop.wallNow.milliseconds), .bytes(id.raw), .number(time.milliseconds)] + limit
    ).integer == 1
  }
}
