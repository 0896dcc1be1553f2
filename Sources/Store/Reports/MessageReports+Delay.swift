package import Domain
import Loop
import RedisClient

/// Deliveries of a message that wait for their time.
extension MessageReports {
  /// Members of an audience whose part or whose job is to begin later, and single deliveries.
  func delay(_ id: MessageID, _ parts: StoredMessageHashes, _ state: MessageState, app: AppID) async throws(StoreError)
    -> Delay?
  {
    guard parts.text("don") == nil, parts.text("can") == nil else { return nil }
    var delay = Delay(reason: "")
    let isWhole = try await addStarts(of: id, parts, isPaused: state == .paused, to: &delay)
    let isRead = try await addSingle(of: id, parts, to: &delay)
    guard delay.count > 0 else { return nil }
    if !isRead { delay.first = nil }
    if !isRead || !isWhole { delay.last = nil }
    delay.reason = try await MessageArchive(session).timeReason(of: id, app: app)
    return delay
  }

  /// Members of an audience that no list of deliveries has, as it is not decided who is in their parts; nil: all have begun.
  package func unlisted(_ id: MessageID, app: AppID) async throws(StoreError) -> Delay? {
    guard let parts = try await parts([id], app: app).first?.parts, parts.text("don") == nil else { return nil }
    let open = parts.work.compactMap { partition, work -> (partition: Int, count: Int)? in
      guard !parts.told.contains(partition), work[Array("n".utf8)] == nil,
        let count = work[Array("a".utf8)].flatMap(StoredNumber.read), count > 0
      else { return nil }
      return (partition, count)
    }
    guard !open.isEmpty else { return nil }
    var delay = Delay(count: open.reduce(0) { $0 + $1.count }, reason: "")
    let replies = try await ask(
      open.map { open in
        var command = RedisCommand("ZMSCORE", keys.starts(open.partition))
        command.append(id.raw)
        return command
      })
    for reply in replies {
      let due = reply.array?.first?.text.flatMap { Double($0) }.flatMap { Int64(exactly: $0.rounded()) }
      if let due { delay.saw(WallTime(milliseconds: due)) }
    }
    delay.last = nil
    delay.reason = try await MessageArchive(session).timeReason(of: id, app: app)
    return delay
  }

  /// Of an audience. False: some parts have not begun. Who is in such a part is not decided: as many as were counted wait at
  /// least until it begins, and nobody knows who of them is the last. A paused part waits for something else.
  private func addStarts(of id: MessageID, _ parts: StoredMessageHashes, isPaused: Bool, to delay: inout Delay)
    async throws(StoreError) -> Bool
  {
    var isWhole = true
    var asked: [(partition: Int, members: [[UInt8]], counts: [Int], hasBegun: Bool)] = []
    for (partition, work) in parts.work where !parts.told.contains(partition) {
      guard let counted = work[Array("a".utf8)].flatMap(StoredNumber.read) else { continue }
      guard work[Array("n".utf8)] != nil else {
        if counted > 0, !isPaused { asked.append((partition, [id.raw], [counted], false)) }
        continue
      }
      let jobs = work.compactMap { name, value -> (Int, Int)? in
        guard name.first == UInt8(ascii: "j"), let first = StoredNumber.index(Array(name.dropFirst())),
          let count = StoredNumber.read(value), count > 0
        else { return nil }
        return (first, count)
      }
      if !jobs.isEmpty { asked.append((partition, jobs.map { id.raw + raw32($0.0) }, jobs.map(\.1), true)) }
    }
    let replies = try await ask(
      asked.map { asked in
        var command = RedisCommand("ZMSCORE", keys.starts(asked.partition))
        for member in asked.members { command.append(member) }
        return command
      })
    for (asked, reply) in zip(asked, replies) {
      for (count, score) in zip(asked.counts, reply.array ?? []) {
        guard let due = score.text.flatMap({ Double($0) }).flatMap({ Int64(exactly: $0.rounded()) }) else { continue }
        let time = WallTime(milliseconds: due)
        guard asked.hasBegun || time > session.loop.wallNow else { continue }
        delay.count += count
        delay.saw(time)
        if !asked.hasBegun { isWhole = false }
      }
    }
    return isWhole
  }

  /// Listed deliveries, and members of an audience that were put aside. False: too many to look at for their times.
  private func addSingle(of id: MessageID, _ parts: StoredMessageHashes, to delay: inout Delay) async throws(StoreError)
    -> Bool
  {
    let held = parts.work.compactMap { partition, work -> (partition: Int, count: Int)? in
      guard !parts.told.contains(partition), let count = work[Self.heldField].flatMap(StoredNumber.read), count > 0
      else {
        return nil
      }
      return (partition, count)
    }
    delay.count += held.reduce(0) { $0 + $1.count }
    let live = held.filter { parts.deliveries[$0.partition] == nil }
    let sizes = try await ask(live.map { RedisCommand("HLEN", keys.deliveries($0.partition, id)) })
    guard sizes.reduce(0, { $0 + ($1.integer ?? 0) }) <= Self.mostLookedAt else { return false }
    var times: [WallTime] = []
    for (partition, _) in held {
      if let fields = parts.deliveries[partition] {
        times += fields.values.compactMap { (try? DeliveryRecord(packed: $0))?.waitsUntil }
      } else {
        try await JobQueue(session).eachWaiting(of: id, partition) { waiting in
          times += waiting.compactMap { $0.1.waitsUntil }
        }
      }
    }
    for time in times { delay.saw(time) }
    return true
  }

  /// Records of one message that are read for the times of those that wait.
  private static let mostLookedAt: Int64 = 20_000
}

extension DeliveryRecord {
  /// Of one that waits for its time, and was never attempted.
  fileprivate var waitsUntil: WallTime? {
    guard attempts.isEmpty, case .retrying(let due, _, _, _, _) = state, due < JobQueue.parked else { return nil }
    return due
  }
}

extension Delay {
  fileprivate mutating func saw(_ time: WallTime) {
    first = min(first ?? time, time)
    last = max(last ?? time, time)
  }
}
