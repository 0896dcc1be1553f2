package import Domain
import RedisClient

/// What the owner of a partition needs of claimed targets: addresses, the message, slices.
extension JobQueue {
  /// Addresses of registered devices as they stand now.
  /// `apps`: of their messages, as far as they are known.
  func readAddresses(_ targets: inout [ClaimedTarget], _ lease: Lease, apps known: [MessageID: AppID] = [:])
    async throws(StoreError)
  {
    let places = targets.indices.filter {
      targets[$0].registered && session.owned.audiences[lease.partition]?[targets[$0].delivery.message] == nil
    }
    guard !places.isEmpty else { return }
    let apps = try await apps(of: Set(places.map { targets[$0].delivery.message }).filter { known[$0] == nil })
      .merging(known) { $1 }
    var byApp: [AppID: [Int]] = [:]
    for place in places {
      guard let app = apps[targets[place].delivery.message] else {
        targets[place].gone = Self.deletedReason
        continue
      }
      byApp[app, default: []].append(place)
    }
    for (app, places) in byApp {
      let found = try await DeviceRecords(session).find(places.map { targets[$0].device }, app: app)
      for (place, found) in zip(places, found) {
        targets[place].number = found?.place.number
        Self.fill(&targets[place], found?.record.visible)
      }
    }
  }

  private static func fill(_ target: inout ClaimedTarget, _ stored: StoredDevice?) {
    if let stored, stored.tombstone == nil, stored.device.enabled {
      target.address = stored.device.address
      target.facts = stored.device.facts
    } else {
      target.gone = stored.map { $0.tombstone?.deliveryReason ?? disabledReason } ?? deletedReason
    }
  }

  /// Members of an audience are found by their number: one that was given to another device since is gone.
  func readMembers(_ targets: inout [ClaimedTarget], at places: [Int], _ part: AudienceShard, _ lease: Lease)
    async throws(StoreError)
  {
    let born = bornBefore(part)
    let numbers = places.map { part.snapshot.number(of: targets[$0].delivery.index) ?? -1 }
    let devices = try await DeviceRecords(session).devices(
      numbers: numbers.filter { $0 >= 0 }, partition: lease.partition, app: part.app, bornBefore: born)
    var rest = devices[...]
    for (place, number) in zip(places, numbers) {
      let stored = number >= 0 ? rest.popFirst() ?? nil : nil
      if let stored {
        targets[place].device = stored.device.id
        targets[place].number = number
      }
      Self.fill(&targets[place], stored)
    }
  }

  /// Who got its number later is another device. Clocks may differ, and a number rests for the whole of retention
  /// before another device gets it.
  func bornBefore(_ part: AudienceShard) -> WallTime { part.snapshot.takenAt + settings.retentionSeconds * 500 }

  static let deletedReason = SkipReason.deviceDeleted.rawValue
  private static let disabledReason = SkipReason.deviceDisabled.rawValue

  private func apps(of messages: Set<MessageID>) async throws(StoreError) -> [MessageID: AppID] {
    let ids = Array(messages)
    let replies = try await ask(ids.map { RedisCommand("HGET", keys.message($0), "app") })
    var apps: [MessageID: AppID] = [:]
    for (id, reply) in zip(ids, replies) { apps[id] = reply.text.map { AppID(rawValue: $0) } }
    return apps
  }

  /// The message of claimed jobs; nil when it has ended.
  package func message(_ id: MessageID) async throws(StoreError) -> StoredMessage? {
    let command = RedisCommand("HMGET", keys.message(id), "app", "b", "ctl", "au", "re", "at", VariantSplit.field)
    let replies = try await ask([InlineMessages(session).inline(id), command])
    if let packed = replies[0].bytes, let inline = try? InlineMessage(packed: packed, hasEnded: false) {
      return StoredMessage(id, inline)
    }
    let fields = replies[1].array ?? []
    guard fields.count == 7, let app = fields[0].text, let body = fields[1].bytes else { return nil }
    let reach = fields[4].text.flatMap { Reach(rawValue: $0) } ?? .allDevices
    return StoredMessage(
      id: id, app: AppID(rawValue: app), body: body, acceptedAt: id.acceptedAt,
      startedAt: fields[5].integer.map { WallTime(milliseconds: $0) } ?? id.acceptedAt,
      control: fields[2].text.flatMap { Control(packed: $0) },
      split: fields[6].bytes.flatMap { try? VariantSplit(packed: $0) },
      audience: fields[3].text.map { StoredAudience(expression: $0, reach: reach) })
  }

  /// Stores the members of a new slice; when it returns, its first attempt may be made. A revision above 0 replaces.
  package func storeSlice(_ lease: Lease, _ slice: StoredSlice) async throws(StoreError) {
    let partition = lease.partition
    if session.owned.inlineMessages[partition]?.isInline(slice.message) == true {
      try await InlineMessages(session).unfold([slice.message])
      session.owned.inlineMessages[partition]?.unfolded(slice.message)
    }
    _ = try await ask(
      Scripts.storeSlice,
      keys: [keys.lease(partition), keys.slices(partition, slice.message), keys.work(partition, slice.message)],
      [.number(Int64(slice.number)), .bytes(slice.packed)], under: lease)
    session.owned.audiences[partition]?[slice.message]?.stored(slice)
  }

  /// The members of a stored slice whose deliveries have no outcome yet.
  package func unfinishedMembers(of slice: StoredSlice) async throws(StoreError) -> Set<Int> {
    guard let first = slice.members.min(), let last = slice.members.max() else { return [] }
    let codes = try await AudienceMembers(session).codes(slice.message, slice.partition, first..<last + 1)
    return Set(slice.members.filter { codes[$0].outcome == nil })
  }

  /// What cannot be read is left out.
  func slices(_ reply: RedisReply, of message: MessageID, _ partition: Int) -> [StoredSlice] {
    pairs(reply.array ?? []).compactMap { name, value in
      StoredNumber.index(name).flatMap {
        try? StoredSlice(message: message, partition: partition, number: $0, packed: value)
      }
    }
  }

  /// The slice of each member by its index.
  func slicesByMember(_ reply: RedisReply, of message: MessageID, _ partition: Int) -> [Int: StoredSlice] {
    var byMember: [Int: StoredSlice] = [:]
    for slice in slices(reply, of: message, partition) {
      for member in slice.members { byMember[member] = slice }
    }
    return byMember
  }
}
