package import Domain
import Loop
import RedisClient

/// Which entries are wanted; all that is given must hold.
package struct AuditQuery: Sendable {
  package var operation: String?
  package var key: String?
  /// What an act was done with, or what it made.
  package var object: String?
  /// Ended then or later, and before that.
  package var from: WallTime?
  package var to: WallTime?
  package init() {}

  func takes(_ entry: AuditEntry) -> Bool {
    if let operation, entry.operation != operation { return false }
    if let key, entry.key != key { return false }
    if let object, entry.object != object, entry.created != object { return false }
    if let from, entry.at < from { return false }
    if let to, entry.at >= to { return false }
    return true
  }
}

extension AuditTrail {
  /// Stream entries of a trail that are read at a time. One of `sends` holds many sends.
  private static func entriesAtOnce(_ trail: AuditTrailName) -> Int { trail == .sends ? 4 : 200 }
  /// Entries that one page looks at: what lies further is for the next page.
  private static let mostLookedAt = 20_000
  /// An entry is written so long behind its time at most, or it is found only without `to`.
  private static let slack: Int64 = 600_000
  /// … and its time is that of another clock than Redis'.
  private static let skew: Int64 = 60_000

  /// Newest first, those at work before all others on the first page. A page may hold fewer than `limit`, or none, and still
  /// have a next one.
  package func page(
    _ app: AppID, _ query: AuditQuery, before place: AuditPlace?, limit: Int
  ) async throws(StoreError) -> (records: [AuditRecord], next: AuditPlace?) {
    var found: [AuditRecord] = []
    if place == nil {
      found = try await actsAtWork(app).filter { query.takes($0.entry) }
        .sorted { $0.entry.beganAt > $1.entry.beganAt }
        .map { AuditRecord(place: nil, trail: $0.trail, number: nil, entry: $0.entry) }
    }
    var place = place
    if place == nil, let to = query.to {
      place = AuditPlace(UInt64(max(0, to.milliseconds + Self.slack)), 0, trail: 0, index: 0)
    }
    var walks = AuditTrailName.allCases.map { Walk(trail: $0, below: place) }
    // What is older may still stand there, and goes soon.
    let kept = loop.wallNow.milliseconds - settings.auditSeconds * 1_000
    let least = max(0, kept, query.from.map { $0.milliseconds - Self.skew } ?? 0)
    var looked = 0
    while true {
      for index in walks.indices where walks[index].needsMore {
        try await read(&walks[index], app, least: least)
      }
      await loop.giveWay()
      // The newest of all trails.
      let newest = walks.indices.filter { walks[$0].next != nil }.max { one, other in
        walks[one].next!.place! < walks[other].next!.place!
      }
      guard let newest else { return (found, nil) }
      let record = walks[newest].take()
      looked += 1
      if query.takes(record.entry) { found.append(record) }
      if found.count >= limit || looked >= Self.mostLookedAt {
        let isLast = walks.allSatisfy { $0.next == nil && $0.isAtEnd }
        return (found, isLast ? nil : record.place)
      }
    }
  }

  /// One trail on the way back.
  private struct Walk {
    let trail: AuditTrailName
    /// Only what is before it; nil: all.
    private let bound: AuditPlace?
    /// Where the next read begins; nil: at the newest.
    private(set) var from: String?
    private(set) var isAtEnd = false
    private var read: [AuditRecord] = []

    init(trail: AuditTrailName, below bound: AuditPlace?) {
      (self.trail, self.bound) = (trail, bound)
      // The stream's entry of the bound itself may hold more.
      from = bound.map { "\($0.milliseconds)-\($0.sequence)" }
    }

    var needsMore: Bool { read.isEmpty && !isAtEnd }
    var next: AuditRecord? { read.last }
    mutating func take() -> AuditRecord { read.removeLast() }

    /// `records` newest first; `last`: the stream's entry that was read last. Nil: there are no more.
    mutating func add(_ records: [AuditRecord], last: String?) {
      read = records.filter { record in bound.map { record.place! < $0 } ?? true }.reversed()
      isAtEnd = last == nil
      if let last { from = "(" + last }
    }
  }

  private func read(_ walk: inout Walk, _ app: AppID, least: Int64) async throws(StoreError) {
    while walk.needsMore {
      let count = Self.entriesAtOnce(walk.trail)
      let reply = try await ask(
        RedisCommand(
          "XREVRANGE", keys.auditTrail(app, walk.trail), walk.from ?? "+", String(least), "COUNT", String(count)),
        partition: keys.auditHome(app))
      let entries = reply.array ?? []
      var records: [AuditRecord] = []
      for entry in entries { records += Self.records(entry, walk.trail) }
      walk.add(records, last: entries.count < count ? nil : entries.last?.array?.first?.text)
    }
  }

  /// Of one entry of a stream, newest first. What cannot be read is left out; its numbers are missing.
  private static func records(_ reply: RedisReply, _ trail: AuditTrailName) -> [AuditRecord] {
    guard let parts = reply.array, parts.count == 2, let id = parts[0].text, let fields = parts[1].array,
      fields.count == 4, let number = fields[1].integer, let packed = fields[3].bytes
    else { return [] }
    let times = id.split(separator: "-").compactMap { Whole.read($0, in: 0...UInt64.max) }
    guard times.count == 2, let milliseconds = Int64(exactly: times[0]), milliseconds < 1 << 52,
      let entries = try? PackedAudit.entries(packed, at: WallTime(milliseconds: milliseconds))
    else { return [] }
    return entries.enumerated().reversed().map { index, entry in
      AuditRecord(
        place: AuditPlace(times[0], times[1], trail: Self.index(trail), index: index), trail: trail,
        number: number &- Int64(entries.count - 1 - index), entry: entry)
    }
  }
}
