package import Domain
import Loop
import RedisClient
import TLS

/// The audit of all apps: entries are added, and leave when they are old or too many; nothing changes one. Belongs to the
/// loop of its session.
package struct AuditTrail: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// An act whose entry stands in Redis, and which has not ended.
  package struct Act: Sendable {
    package fileprivate(set) var app: AppID
    fileprivate var trail: AuditTrailName
    fileprivate var mark: [UInt8]
    package var entry: AuditEntry
  }

  /// When it returns, Redis has the entry, and the act may begin.
  package func begin(_ entry: AuditEntry, app: AppID, in trail: AuditTrailName) async throws(StoreError) -> Act {
    var entry = entry
    (entry.outcome, entry.at) = (.begun, entry.beganAt)
    let act = Act(app: app, trail: trail, mark: SecureRandom.bytes(8), entry: entry)
    let packed = [UInt8(Self.index(trail))] + PackedAudit.pack([entry], at: entry.beganAt)
    _ = try await ask(
      Scripts.beginAct, keys: [keys.actsAtWork(app)], [.bytes(act.mark), .bytes(Self.framed(packed, entry.beganAt))],
      partition: keys.auditHome(app))
    return act
  }

  /// Writes how the act ended; `act.entry` says it. `isRepeat`: it was tried before, and may have been written.
  package func end(_ act: Act, isRepeat: Bool = false) async throws(StoreError) {
    let trail = act.entry.outcome == .refused ? AuditTrailName.refused : act.trail
    _ = try await add([act.entry], ending: act.mark, app: act.app, in: trail, onlyIfAtWork: isRepeat)
  }

  /// Adds entries of acts that have ended, in one piece. After an error it is not known whether they were added.
  package func add(_ entries: [AuditEntry], app: AppID, in trail: AuditTrailName) async throws(StoreError) {
    if !entries.isEmpty { _ = try await add(entries, ending: [], app: app, in: trail) }
  }

  /// `mark`: of the act that has ended; empty: of none. False: it was not at work any more, and nothing was added.
  private func add(
    _ entries: [AuditEntry], ending mark: [UInt8], app: AppID, in trail: AuditTrailName, onlyIfAtWork: Bool = false
  ) async throws(StoreError) -> Bool {
    let reply = try await ask(
      Scripts.addAudit, keys: [keys.auditTrail(app, trail), keys.actsAtWork(app)],
      [
        .bytes(mark), onlyIfAtWork ? 1 : 0, .number(Int64(entries.count)),
        .bytes(PackedAudit.pack(entries, at: loop.wallNow)),
      ] + bounds(trail), partition: keys.auditHome(app))
    return reply.integer == 1
  }

  /// Most entries, the time before which they may go, and how long they are kept.
  private func bounds(_ trail: AuditTrailName) -> [RedisArgument] {
    let kept = settings.auditSeconds * 1_000
    return [
      .number(Int64(trail == .sends ? settings.auditSends : settings.auditActs)),
      .number(max(0, loop.wallNow.milliseconds - kept)), .number(kept),
    ]
  }

  // MARK: Acts that never ended

  /// Milliseconds. An act that began so long ago has mostly lost its process; if it goes on, its end comes as well.
  private static let longestAct: Int64 = 600_000

  /// Enters acts whose process ended before them as unknown, and lets old entries go that no newer one pushes out.
  package func tidy(_ app: AppID) async throws(StoreError) {
    let now = loop.wallNow
    let oldest = max(0, now.milliseconds - settings.auditSeconds * 1_000)
    for (mark, trail, entry) in try await actsAtWork(app) where now - entry.beganAt > Self.longestAct {
      var ended = entry
      (ended.outcome, ended.at) = (.unknown, now)
      _ = try await add([ended], ending: mark, app: app, in: trail, onlyIfAtWork: true)
    }
    _ = try await ask(
      AuditTrailName.allCases.map {
        RedisCommand("XTRIM", keys.auditTrail(app, $0), "MINID", "~", String(oldest))
      }, partition: keys.auditHome(app))
  }

  /// Those that have begun and not ended.
  func actsAtWork(
    _ app: AppID
  ) async throws(StoreError) -> [(mark: [UInt8], trail: AuditTrailName, entry: AuditEntry)] {
    let reply = try await ask(RedisCommand("HGETALL", keys.actsAtWork(app)), partition: keys.auditHome(app))
    return pairs(reply.array ?? []).compactMap { mark, framed in
      guard let (packed, beganAt) = Self.unframed(framed), let first = packed.first,
        Int(first) < AuditTrailName.allCases.count,
        let entry = try? PackedAudit.entries(Array(packed.dropFirst()), at: beganAt).first
      else { return nil }
      return (mark, AuditTrailName.allCases[Int(first)], entry)
    }
  }

  static func index(_ trail: AuditTrailName) -> Int { AuditTrailName.allCases.firstIndex(of: trail) ?? 0 }

  /// An act at work has no entry of a stream that tells its time.
  private static func framed(_ packed: [UInt8], _ time: WallTime) -> [UInt8] {
    var packer = Packer()
    packer.time(time.milliseconds)
    packer.append(packed)
    return packer.bytes
  }
  private static func unframed(_ bytes: [UInt8]) -> (packed: [UInt8], time: WallTime)? {
    var reader = Unpacker(bytes)
    guard let time = try? reader.time() else { return nil }
    return (Array(bytes[reader.place...]), WallTime(milliseconds: time))
  }
}
