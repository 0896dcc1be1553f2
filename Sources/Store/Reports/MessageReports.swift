package import Domain
import RedisClient

/// Reports of messages: states and counters, over all partitions. Holds nothing but its session, on whose loop it is used.
/// Counters of several partitions are not of one moment.
package struct MessageReports: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Nil: unknown, another app's, or beyond retention.
  package func report(_ id: MessageID, app: AppID) async throws(StoreError) -> MessageReport? {
    guard let found = try await parts([id], app: app).first, var report = try await report(found, app) else {
      return nil
    }
    // Between two reads some may have begun.
    var waiting = max(0, report.total - report.counts.values.reduce(0, +) - report.retrying)
    var retrying = report.retrying
    for var wait in try await CredentialConditions(session).waits(id, found.parts, app: app) {
      wait.count = min(wait.count, waiting)
      wait.retrying = min(wait.retrying, retrying)
      guard wait.count + wait.retrying > 0 else { continue }
      report.waits.append(wait)
      waiting -= wait.count
      retrying -= wait.retrying
    }
    report.delay = try await delay(id, found.parts, report.state, app: app)
    // Nothing else can be replayed.
    if report.counts.keys.contains(where: { $0.outcome != .accepted }) {
      report.replayedBy = try await Replays(session).stored(of: id)
    }
    return report
  }

  func reports(_ ids: [MessageID], app: AppID) async throws(StoreError) -> [MessageReport] {
    var reports: [MessageReport] = []
    for found in try await parts(ids, app: app) {
      if let report = try await report(found, app) { reports.append(report) }
    }
    return reports
  }

  private func report(_ found: (id: MessageID, parts: StoredMessageHashes), _ app: AppID) async throws(StoreError)
    -> MessageReport?
  {
    guard var report = Self.report(found.id, found.parts, app) else { return nil }
    if report.split != nil, found.parts.text("an") == nil { try await countVariants(of: &report, found.parts) }
    return report
  }

  func parts(_ ids: [MessageID], app: AppID) async throws(StoreError) -> [(
    id: MessageID, parts: StoredMessageHashes
  )] {
    var found: [(id: MessageID, parts: StoredMessageHashes)] = []
    for (id, parts) in zip(ids, try await MessageArchive(session).find(ids)) {
      if let parts, parts.text("app") == app.rawValue { found.append((id, parts)) }
    }
    for _ in 0..<Self.readAttempts {
      try await MessageArchive(session).readWork(&found) { parts, partition in !parts.told.contains(partition) }
      // A part that was nowhere has ended and told home meanwhile, or the message has not spread yet: home tells.
      let places = found.indices.filter { place in
        let parts = found[place].parts
        return parts.partitions.contains { !parts.told.contains($0) && parts.work[$0]?.isEmpty == true }
      }
      guard !places.isEmpty else { break }
      for (place, parts) in zip(places, try await MessageArchive(session).find(places.map { found[$0].id })) {
        if let parts { found[place].parts = parts }
      }
    }
    try await MessageArchive(session).readWork(&found) { parts, partition in !parts.told.contains(partition) }
    return found
  }

  private static let readAttempts = 2

  private static func report(_ id: MessageID, _ parts: StoredMessageHashes, _ app: AppID) -> MessageReport? {
    guard let kind = parts.text("k").flatMap({ Kind(rawValue: $0) }), let total = parts.number("tot") else {
      return nil
    }
    var counts: [MessageReport.Key: Int] = [:]
    var retrying = 0
    var held = 0
    var first: WallTime?
    var last: WallTime?
    let untold = parts.work.filter { !parts.told.contains($0.key) }
    for work in untold.values + [parts.toldCounters] {
      for (name, value) in work {
        let number = StoredNumber.read(value) ?? 0
        if let counter = CounterName(field: name) {
          let key = MessageReport.Key(
            provider: counter.provider ?? ProviderName(rawValue: ""), outcome: counter.outcome, reason: counter.reason,
            platform: counter.platform, variant: counter.variant)
          counts[key, default: 0] += number
        } else if name == Self.retryingField {
          retrying += number
        } else if name == Self.heldField {
          held += number
        } else if name == Self.firstField {
          first = min(first ?? WallTime(milliseconds: Int64(number)), WallTime(milliseconds: Int64(number)))
        } else if name == Self.lastField {
          last = max(last ?? WallTime(milliseconds: Int64(number)), WallTime(milliseconds: Int64(number)))
        }
      }
    }
    // Who waits for its time, and was never attempted, stands in the retry set as well, and is still to come.
    retrying = max(0, retrying - max(0, held))
    let completed = parts.number("don").map { WallTime(milliseconds: $0) }
    let state: MessageState
    if parts.text("can") != nil {
      state = .cancelled
    } else if completed != nil {
      state = .completed
    } else if parts.text("ctl")?.hasPrefix(Control.Word.paused.rawValue) == true {
      state = .paused
    } else if parts.text("st") == MessageSchedule.waitingState {
      state = .scheduled
    } else {
      state = counts.isEmpty && retrying == 0 ? .queued : .sending
    }
    // Only what was scheduled has a version.
    let version = parts.number("v").map(Int.init)
    let isWaiting = state == .scheduled || state == .paused && parts.text("st") == MessageSchedule.waitingState
    let start = parts.number("fs") ?? parts.number("pl") ?? parts.number("at")
    return MessageReport(
      id: id, app: app, kind: kind, state: state, acceptedAt: id.acceptedAt, completedAt: completed,
      startsAt: version == nil ? nil : start.map { WallTime(milliseconds: $0) }, startsAtZone: parts.text("fz"),
      startsAtLocal: parts.number("sl").map { LocalTime(seconds: $0) }, version: isWaiting ? version : nil,
      replayOf: parts.text("rep").flatMap { MessageID($0) },
      draftOf: parts.text("dr").flatMap { DraftID($0) }, testOf: parts.text("te").flatMap { DraftID($0) },
      total: parts.audienceTotal ?? Int(total), counts: counts, retrying: retrying, firstAttemptAt: first,
      lastOutcomeAt: last,
      pausedAt: state == .paused ? parts.number("pat").map { WallTime(milliseconds: $0) } : nil,
      pausedReason: state == .paused ? parts.text("pr") : nil, ratePerSecond: parts.number("rps").map { Int($0) },
      labels: parts.labels, split: parts.split)
  }
  private static let retryingField = Array("r".utf8)
  static let heldField = Array("h".utf8)
  private static let firstField = Array("fa".utf8)
  private static let lastField = Array("lo".utf8)

  /// Hours of each partition that are read at a time.
  private static let hoursPerStep = 24

  /// Listed ids, newest first; some may be beyond retention. Hours are read from the latest on, a day of them at a
  /// time.
  func identifiers(app: AppID, before cursor: MessageID?, limit: Int) async throws(StoreError) -> [MessageID] {
    let partitions = Array(0..<settings.partitions)
    var bound = cursor.map { String($0.hour) } ?? "+inf"
    while true {
      let replies = try await ask(
        partitions.map {
          RedisCommand(
            "ZRANGE", keys.hours($0, app), bound, "-inf", "BYSCORE", "REV", "LIMIT", "0", String(Self.hoursPerStep))
        })
      var byHour: [Int64: [Int]] = [:]
      // Where a partition may have more hours, what is older than the last of these comes with the next step.
      var oldest = Int64.min
      for (partition, reply) in zip(partitions, replies) {
        let hours = (reply.array ?? []).compactMap(\.integer)
        for hour in hours { byHour[hour, default: []].append(partition) }
        if hours.count == Self.hoursPerStep, let last = hours.last { oldest = max(oldest, last) }
      }
      for hour in byHour.keys.filter({ $0 >= oldest }).sorted(by: >) {
        let ids = try await identifiers(app, hour, of: byHour[hour]!, before: cursor, limit: limit)
        // Later hours of the cursor's own list were asked for as well: an empty hour leads to the one before.
        if !ids.isEmpty { return ids }
      }
      guard oldest > .min else { return [] }
      bound = String(oldest - 1)
    }
  }

  private func identifiers(
    _ app: AppID, _ hour: Int64, of partitions: [Int], before cursor: MessageID?, limit: Int
  ) async throws(StoreError) -> [MessageID] {
    let listings = try await ask(
      partitions.map { partition in
        var command = RedisCommand("ZREVRANGEBYLEX", keys.listing(partition, app, hour))
        if let cursor { command.append([UInt8(ascii: "(")] + cursor.raw) } else { command.append("+") }
        for word in ["-", "LIMIT", "0", String(limit)] { command.append(word) }
        return command
      })
    let ids = listings.flatMap { $0.array ?? [] }.compactMap { $0.bytes.flatMap { MessageID(raw: $0) } }
    return Array(ids.sorted(by: >).prefix(limit))
  }

}
