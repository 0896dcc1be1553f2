import Audience
package import Domain
import RedisClient

/// When a message begins, as accepted.
package struct Schedule: Hashable, Sendable {
  /// The first instant at which it may go to anybody.
  package var startAt: WallTime
  /// As each device's own clock shows it.
  package var local: LocalTime?
  /// With `local`: when the first of its devices gets it, as far as is known.
  package var first: FirstStart?
  /// With `local`, `startAt` is when the first clock on earth shows that time; if that has passed, when the first device
  /// gets it.
  package init(startAt: WallTime, local: LocalTime? = nil, first: FirstStart? = nil) {
    self.startAt = startAt
    self.local = local
    self.first = first
  }

  /// No device begins later.
  var last: WallTime { max(startAt, local?.latest ?? startAt) }
}

/// A message that has not begun, as it is read to be changed.
package struct ScheduledMessage: Sendable {
  package var body: [UInt8]
  /// One more with each change.
  package var version: Int
  package var acceptedAt: WallTime
  /// The audience as it was when the message was accepted, named ones written out; nil: its targets are listed.
  package var audience: String?
}

/// How a scheduled message stands, as far as it may still be changed.
package enum ScheduleReading: Sendable {
  case waiting(ScheduledMessage)
  case started
  case completed
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

/// Messages that wait for their time stand at home only: one place to change or cancel them (decision 0021). When it has come,
/// home's owner spreads them as if they had just been accepted. Holds nothing but its session, on whose loop it is used.
/// It has no timer: the owner asks for what is due.
package struct MessageSchedule: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// What this message is while it waits for its time.
  package func scheduled(_ id: MessageID, app: AppID) async throws(StoreError) -> ScheduleReading {
    let fields =
      try await ask(RedisCommand("HMGET", keys.message(id), "app", "st", "b", "v", "can", "don", "au")).array ?? []
    guard fields.count == 7, fields[0].text == app.rawValue else {
      guard let parts = try await MessageArchive(session).find([id])[0], parts.text("app") == app.rawValue else {
        return .unknown
      }
      if parts.text("can") != nil { return .cancelled }
      return parts.text("don") == nil ? .started : .completed
    }
    guard fields[4].isNull else { return .cancelled }
    guard fields[5].isNull else { return .completed }
    guard fields[1].text == Self.waitingState, let body = fields[2].bytes, let version = fields[3].integer else {
      return .started
    }
    return .waiting(
      ScheduledMessage(body: body, version: Int(version), acceptedAt: id.acceptedAt, audience: fields[6].text))
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
    let life = listingLife(ttl: ttl, acceptedAt: id.acceptedAt, startAt: schedule.last)
    let answer = try await ask(
      Scripts.reschedule,
      keys: [
        keys.message(id), keys.scheduled(home), keys.listing(home, app, id.hour), keys.hours(home, app),
        keys.hourEnds(home, app),
      ],
      [
        .bytes(id.raw), .number(Int64(version)), .number(schedule.startAt.milliseconds), .bytes(body),
        schedule.local.map { .number($0.seconds) } ?? "", .number(life), .text(keys.wakeup), .number(Int64(home)),
        .number(id.hour), .text(schedule.first.map { String($0.time.milliseconds) } ?? ""),
        .text(schedule.first?.zone ?? ""),
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

  /// Spreads the messages of this home whose time has come; how many there were. `firstStart`: of a message for local
  /// times, when its first device gets it: it waits until then. Nil: at once.
  package func beginDue(
    _ lease: Lease, now: WallTime, limit: Int,
    firstStart: (MessageID) async throws(StoreError) -> FirstStart? = { _ in nil }
  ) async throws(StoreError) -> Int {
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
      if try await isPostponed(id, lease, now: now, firstStart) { continue }
      let begun = try await ask(
        Scripts.begin,
        keys: [keys.lease(partition), keys.message(id), keys.scheduled(partition), keys.spreading(partition)],
        [.bytes(member), .number(now.milliseconds)], under: lease)
      if begun.integer == 1 { try await MessageSpread(session).finishSpreading(id) }
    }
    return due.count
  }

  /// True: the first clock on earth shows its time, but nobody is there, and so it waits on at home, where it can still
  /// be changed.
  private func isPostponed(
    _ id: MessageID, _ lease: Lease, now: WallTime, _ firstStart: (MessageID) async throws(StoreError) -> FirstStart?
  ) async throws(StoreError) -> Bool {
    let fields =
      try await ask(
        RedisCommand("HMGET", keys.message(id), "at", "sl", "st", "can", "ctl"), partition: lease.partition
      ).array ?? []
    guard fields.count == 5, let planned = fields[0].integer, planned <= now.milliseconds, fields[1].integer != nil,
      fields[2].text == Self.waitingState, fields[3].isNull,
      fields[4].text.flatMap({ Control(packed: $0) })?.word != .paused,
      let first = try await firstStart(id), first.time > now
    else { return false }
    let done = try await ask(
      Scripts.postponeStart,
      keys: [keys.lease(lease.partition), keys.message(id), keys.scheduled(lease.partition)],
      [.bytes(id.raw), .number(planned), .number(first.time.milliseconds), .text(first.zone)], under: lease)
    return done.integer == 1
  }

  /// The zones of the devices that a waiting message is for; nil among them: some have told none. `carries`: which
  /// devices of an audience it can go to. Nil: they cannot be read.
  package func zones(of id: MessageID, now: WallTime, carries: (Address) -> Bool) async throws(StoreError)
    -> Set<String?>?
  {
    let fields = try await ask(RedisCommand("HMGET", keys.message(id), "app", "au", "re")).array ?? []
    guard fields.count == 3, let app = fields[0].text.map({ AppID(rawValue: $0) }) else { return nil }
    if let text = fields[1].text {
      guard let expression = try? AudienceExpression(parsing: text) else { return nil }
      let reach = fields[2].text.flatMap { Reach(rawValue: $0) } ?? .allDevices
      return try await AudienceSearch(session).zones(
        AudienceSelection(expression: expression, reach: reach), app: app, now: now, carries: carries)
    }
    let stored = try await DeviceRegistry(session).devices(try await devices(of: id), app: app)
    return Set(stored.map { $0?.device.facts.timeZone })
  }

  /// The devices that a waiting message for listed targets will be sent to.
  package func devices(of id: MessageID) async throws(StoreError) -> [DeviceID] {
    var devices: [DeviceID] = []
    for (_, packed) in pairs(try await ask(RedisCommand("HGETALL", keys.spread(id))).array ?? []) {
      if let step = try? MessageShard(partition: 0, packed: packed) { devices += step.waiting }
    }
    return devices
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
