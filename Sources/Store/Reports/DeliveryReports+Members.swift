import Domain
import Loop
import RedisClient

/// A part of an audience as it is read to be shown.
struct Members {
  var id: MessageID
  var app: AppID
  var partition: Int
  var work: StoredMessageHashes.Fields

  func number(_ name: String) -> Int? { work[Array(name.utf8)].flatMap(StoredNumber.read) }
  var keepsReceipts: Bool { work[Array("rc".utf8)] != nil }
  /// From the first attempt of any of them to the last outcome.
  var attemptedBetween: ClosedRange<WallTime>? {
    guard let first = number("fa"), let last = number("lo") else { return nil }
    return WallTime(milliseconds: Int64(first))...WallTime(milliseconds: Int64(max(first, last)))
  }
  var isStarted: Bool { number("n") != nil }
  /// Of those that ended with many others, as the message was paused.
  var expiredReason: String? {
    let isPaused = work.keys.contains { field in
      guard let counter = CounterName(field: field) else { return false }
      return counter.outcome == .expired && counter.reason == Control.expiredReason
    }
    return isPaused ? Control.expiredReason : nil
  }
  /// Nothing of it changes any more.
  var hasEnded: Bool { number("x") == 0 }
}

/// What never changes of parts that were read last: pages of an export ask for the same again and again.
struct SnapshotCache {
  private struct Key: Hashable {
    var id: MessageID
    var partition: Int
  }
  private static let limit = 4
  private var held: [(key: Key, snapshot: Snapshot)] = []

  subscript(id: MessageID, partition: Int) -> Snapshot? {
    get { held.first { $0.key == Key(id: id, partition: partition) }?.snapshot }
    set {
      held.removeAll { $0.key == Key(id: id, partition: partition) }
      guard let newValue else { return }
      if held.count >= Self.limit { held.removeFirst() }
      held.append((Key(id: id, partition: partition), newValue))
    }
  }
}

extension DeliveryReports {
  /// Codes read at a time.
  private static let codesPerRead = 8_192

  func snapshot(_ id: MessageID, _ partition: Int) async throws(StoreError) -> Snapshot? {
    if let known = session.snapshots[id, partition] { return known }
    let packed = try await ask(RedisCommand("GET", keys.snapshot(partition, id)), partition: partition).bytes
    guard let snapshot = packed.flatMap({ try? Snapshot(packed: $0) }) else { return nil }
    session.snapshots[id, partition] = snapshot
    return snapshot
  }

  /// The index to go on at; nil: the part has no more.
  func list(
    _ members: Members, _ filter: DeliveryFilter, _ conditions: [CredentialID: CredentialCondition], from index: Int,
    into items: inout [DeliveryReport], limit: Int, left: inout Int
  ) async throws(StoreError) -> Int? {
    guard members.isStarted, let snapshot = try await snapshot(members.id, members.partition) else { return nil }
    var timeReason: String?
    if !members.hasEnded, snapshot.segments.contains(where: { $0.wave != nil }) {
      timeReason = try await MessageArchive(session).timeReason(of: members.id, app: members.app)
    }
    let full = items.count + limit
    for segment in snapshot.segments where segment.range.upperBound > index {
      guard filter.takes(segment.provider, segment.platform),
        filter.variant == nil || filter.variant == segment.variant,
        Self.mayHold(segment, filter)
      else { continue }
      var next = max(index, segment.first)
      while next < segment.range.upperBound {
        guard items.count < full, left > 0 else { return next }
        let window = next..<min(segment.range.upperBound, next + Self.codesPerRead)
        var chosen = Array(window)
        if case .queue(let credential) = segment.route, let states = filter.states {
          let codes = try await AudienceMembers(session).codes(members.id, members.partition, window)
          let isBlocked = conditions[credential]?.blocks == true
          let waits = segment.wave?.waits(at: session.loop.wallNow) != nil
          chosen = window.filter { Self.takes(codes[$0], states, isBlocked: isBlocked, waits: waits) }
        }
        var rest = chosen[...]
        while !rest.isEmpty, items.count < full {
          let page = Array(rest.prefix(full - items.count))
          items += try await reports(page, members, segment, conditions, timeReason: timeReason).filter(filter.takes)
          rest = rest.dropFirst(page.count)
        }
        left -= window.count
        next = rest.first ?? window.upperBound
      }
    }
    return nil
  }

  private static func mayHold(_ segment: Snapshot.Segment, _ filter: DeliveryFilter) -> Bool {
    guard case .ended(let outcome, let reason) = segment.route else { return true }
    return filter.states?.contains(outcome.rawValue) != false && (filter.reason == nil || filter.reason == reason)
  }

  /// `waits`: for their time. Then only those that were attempted before are blocked.
  private static func takes(_ code: OutcomeCode, _ states: Set<String>, isBlocked: Bool, waits: Bool) -> Bool {
    switch code {
    case .none where isBlocked && waits:
      states.contains(DeliveryState.blocked.rawValue) || states.contains(DeliveryState.pending.rawValue)
    case .none: states.contains((isBlocked ? DeliveryState.blocked : .pending).rawValue)
    // Its record tells which.
    case .waiting: states.contains(DeliveryState.retrying.rawValue) || states.contains(DeliveryState.pending.rawValue)
    default: code.outcome.map { states.contains($0.rawValue) } ?? false
    }
  }

  /// Members of one segment, in ascending order. `timeReason`: why those wait whose time has not come.
  func reports(
    _ indexes: [Int], _ members: Members, _ segment: Snapshot.Segment,
    _ conditions: [CredentialID: CredentialCondition], timeReason: String?
  ) async throws(StoreError) -> [DeliveryReport] {
    guard let first = indexes.first, let last = indexes.last else { return [] }
    let partition = members.partition
    let numbers = indexes.map { Int(segment.numbers[$0 - segment.first]) }
    let born = session.snapshots[members.id, partition].map { $0.takenAt + settings.retentionSeconds * 500 }
    let devices = try await DeviceRecords(session).devices(
      numbers: numbers, partition: partition, app: members.app, bornBefore: born)
    func device(_ place: Int) -> DeviceID { devices[place]?.device.id ?? DeviceID(rawValue: "") }

    guard case .queue(let credential) = segment.route else {
      guard case .ended(let outcome, let reason) = segment.route else { return [] }
      return indexes.enumerated().map { place, index in
        var report = DeliveryReport(
          DeliveryID(message: members.id, partition: partition, index: index), device(place), nil, condition: nil)
        (report.provider, report.platform, report.variant) = (segment.provider, segment.platform, segment.variant)
        (report.state, report.reason) = (outcome.rawValue, reason)
        report.user = devices[place]?.device.user
        return report
      }
    }
    let codes = try await AudienceMembers(session).codes(members.id, partition, first..<last + 1)
    // Successes leave nothing but their code, unless receipts are kept.
    let recorded = indexes.filter { codes[$0] != .none && (codes[$0] != .accepted || members.keepsReceipts) }
    var records: [Int: DeliveryRecord] = [:]
    var slices: [Int: StoredSlice] = [:]
    var sliceIDs: [Int: String] = [:]
    var commands = [RedisCommand("HGETALL", keys.slices(partition, members.id))]
    if !recorded.isEmpty {
      commands.append(
        RedisCommand(words: ["HMGET", keys.deliveries(partition, members.id)] + recorded.map { String($0) }))
    }
    let replies = try await ask(commands, partition: partition)
    if replies.count > 1 {
      for (index, packed) in zip(recorded, replies[1].array ?? []) {
        records[index] = packed.bytes.flatMap { try? DeliveryRecord(packed: $0) }
      }
    }
    if replies[0].array?.isEmpty == false {
      slices = JobQueue(session).slicesByMember(replies[0], of: members.id, partition)
      for (name, id) in pairs(replies[0].array ?? []) where name.first == UInt8(ascii: "i") {
        if let slice = StoredNumber.index(Array(name.dropFirst())) {
          sliceIDs[slice] = String(decoding: id, as: UTF8.self)
        }
      }
    }
    let tried = try await OutcomeWriter(session).tried(members.id, partition, indexes.filter { codes[$0] == .none })
    let due = segment.wave?.waits(at: session.loop.wallNow)
    let expiredReason = members.expiredReason
    return indexes.enumerated().map { place, index in
      let delivery = DeliveryID(message: members.id, partition: partition, index: index)
      var report = DeliveryReport(
        delivery, device(place), records[index], condition: codes[index] == .none ? conditions[credential] : nil,
        tried: tried[index])
      (report.provider, report.platform, report.variant) = (segment.provider, segment.platform, segment.variant)
      if let outcome = codes[index].outcome {
        report.state = outcome.rawValue
        // What ended with many others has no record.
        if outcome == .failed, records[index] == nil { report.reason = CorruptRecords.reason }
        if outcome == .expired, records[index] == nil { report.reason = expiredReason }
      } else if codes[index] == .waiting, records[index] == nil {
        report.state = DeliveryState.retrying.rawValue
      } else if let due, codes[index] == .none, tried[index] == nil {
        report.state = DeliveryState.pending.rawValue
        (report.reason, report.nextAttemptAt) = (timeReason, due)
      }
      if let slice = slices[index] {
        report.requestID = slice.key
        if report.state == Outcome.accepted.rawValue { report.providerID = report.providerID ?? sliceIDs[slice.number] }
      } else if codes[index] == .accepted {
        report.requestID = delivery.requestID
      }
      if codes[index] == .accepted, records[index] == nil { report.attemptedBetween = members.attemptedBetween }
      report.user = devices[place]?.device.user
      return report
    }
  }
}
