package import Domain
import RedisClient

/// When a message begins, as accepted.
package struct Schedule: Hashable, Sendable {
  /// The first instant at which it may go to anybody.
  package var startAt: WallTime
  /// As each device's own clock shows it.
  package var local: LocalTime?
  /// With `local`, `startAt` is when the first clock on earth shows that time, but not before now.
  package init(startAt: WallTime, local: LocalTime? = nil) {
    self.startAt = startAt
    self.local = local
  }
}

/// A message that has not begun, as it is read to be changed.
package struct ScheduledMessage: Sendable {
  package var body: [UInt8]
  /// One more with each change.
  package var version: Int
  package var acceptedAt: WallTime
}

/// How a scheduled message stands, as far as it may still be changed.
package enum ScheduleReading: Sendable {
  case waiting(ScheduledMessage)
  case started
  case cancelled
  case unknown
}

/// What came of changing a message's start. All but `done` have changed nothing.
package enum Rescheduling: Hashable, Sendable {
  case done
  case unknown
  /// Too late.
  case started
  case cancelled
  /// Somebody else changed it since it was read.
  case changed
}

/// Messages that wait for their time stand at home only: one place to change or cancel them (design D10). When it has come,
/// home's owner spreads them as if they had just been accepted. Holds nothing but its session, on whose loop it is used.
/// It has no timer: the owner asks for what is due.
package struct MessageSchedule: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// What this message is while it waits for its time.
  package func scheduled(_ id: MessageID, app: AppID) async throws(StoreError) -> ScheduleReading {
    let fields = try await ask(RedisCommand("HMGET", keys.message(id), "app", "st", "b", "v", "can")).array ?? []
    guard fields.count == 5, fields[0].text == app.rawValue else {
      guard let parts = try await MessageArchive(session).find([id])[0], parts.text("app") == app.rawValue else {
        return .unknown
      }
      return .started
    }
    guard fields[4].isNull else { return .cancelled }
    guard fields[1].text == Self.waitingState, let body = fields[2].bytes, let version = fields[3].integer else {
      return .started
    }
    return .waiting(ScheduledMessage(body: body, version: Int(version), acceptedAt: id.acceptedAt))
  }

  /// Scheduled messages of all apps that `waiting` looks at.
  package static let mostLookedAt = 10_000

  /// Messages of the app that wait for their time, with their labels: of the first to come in each partition,
  /// `mostLookedAt` in all. `isWhole`: there are no more.
  package func waiting(app: AppID) async throws(StoreError) -> (
    messages: [(id: MessageID, labels: Labels)], isWhole: Bool
  ) {
    let limit = max(1, Self.mostLookedAt / settings.partitions)
    let replies = try await ask(
      (0..<settings.partitions).map { RedisCommand("ZRANGE", keys.scheduled($0), "0", String(limit)) })
    var (found, isWhole): ([(id: MessageID, labels: Labels)], Bool) = ([], true)
    for reply in replies {
      let ids = (reply.array ?? []).compactMap { $0.bytes.flatMap { MessageID(raw: $0) } }
      if ids.count > limit { isWhole = false }
      let fields = try await ask(ids.map { RedisCommand("HMGET", keys.message($0), "app", "st", "can", Labels.field) })
      for (id, fields) in zip(ids, fields) {
        guard let fields = fields.array, fields.count == 4, fields[0].text == app.rawValue,
          fields[1].text == Self.waitingState, fields[2].isNull,
          let labels = fields[3].bytes.flatMap({ try? Labels(packed: $0) })
        else { continue }
        found.append((id, labels))
      }
    }
    return (found, isWhole)
  }

  /// `version`: as it was read.
  package func reschedule(
    _ id: MessageID, app: AppID, _ schedule: Schedule, body: [UInt8], ttl: Int, version: Int
  ) async throws(StoreError) -> Rescheduling {
    try session.checkCondition()
    let home = keys.home(id)
    let life = listingLife(ttl: ttl, acceptedAt: id.acceptedAt, startAt: schedule.startAt)
    let answer = try await ask(
      Scripts.reschedule,
      keys: [
        keys.message(id), keys.scheduled(home), keys.listing(home, app, id.hour), keys.hours(home, app),
        keys.hourEnds(home, app),
      ],
      [
        .bytes(id.raw), .number(Int64(version)), .number(schedule.startAt.milliseconds), .bytes(body),
        schedule.local.map { .number($0.seconds) } ?? "", .number(life), .text(keys.wakeup), .number(Int64(home)),
        .number(id.hour),
      ], partition: home)
    switch answer.integer {
    case 1: return .done
    case 2: return .started
    case 3: return .changed
    case 4: return .cancelled
    default: return .unknown
    }
  }

  static let waitingState = "w"
  /// All of a message is in the partitions that it goes to.
  static let queuedState = "q"

  /// A message stays listed as long as its parts may be kept.
  func listingLife(ttl: Int, acceptedAt: WallTime, startAt: WallTime?) -> Int64 {
    Int64(ttl) + settings.retentionSeconds + max(0, (startAt ?? acceptedAt) - acceptedAt) / 1_000
  }

  /// Spreads the messages of this home whose time has come; how many there were.
  package func beginDue(_ lease: Lease, now: WallTime, limit: Int) async throws(StoreError) -> Int {
    let partition = lease.partition
    let command = RedisCommand(
      "ZRANGEBYSCORE", keys.scheduled(partition), "-inf", String(now.milliseconds), "LIMIT", "0", String(limit))
    let due = (try await ask(command, partition: partition).array ?? []).compactMap(\.bytes)
    for member in due {
      guard let id = MessageID(raw: member) else {
        var gone = RedisCommand("ZREM", keys.scheduled(partition))
        gone.append(member)
        _ = try await ask(gone, partition: partition)
        continue
      }
      let begun = try await ask(
        Scripts.begin,
        keys: [keys.lease(partition), keys.message(id), keys.scheduled(partition), keys.spreading(partition)],
        [.bytes(member), .number(now.milliseconds)], under: lease)
      if begun.integer == 1 { try await MessageSpread(session).finishSpreading(id) }
    }
    return due.count
  }

  /// When the next thing of a partition is to begin: a scheduled message at home here, an audience, some of its
  /// members.
  package func nextStart(_ lease: Lease) async throws(StoreError) -> WallTime? {
    let replies = try await ask(
      [keys.scheduled(lease.partition), keys.starts(lease.partition)].map {
        RedisCommand("ZRANGE", $0, "0", "0", "WITHSCORES")
      }, partition: lease.partition)
    return replies.compactMap { $0.array?.last?.text.flatMap { Double($0) } }.filter(\.isFinite).min()
      .map { WallTime(milliseconds: Int64($0)) }
  }
}
