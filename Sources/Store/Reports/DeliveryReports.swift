package import Domain
import RedisClient

/// Device by device: what became of a message. Snapshots that were read lately stand in the session; used on its loop. A page
/// of a message that is being sent is true of the moment of its reading.
package struct DeliveryReports: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Deliveries looked at in one call: where a filter takes few, a page may be shorter than asked for and yet not the
  /// last.
  private static let lookedAtPerCall = 50_000
  /// Deliveries read at a time.
  private static let window = 1_000

  /// In the order of partition and place; `cursor` is what the last call returned. What the bound of bytes has dropped
  /// is left out, though the report still counts it, and so are audiences that were not started. A page may be short or
  /// empty though more follow: nil as `next` is the end. `tellsUsers`: of a direct send the devices are read for it,
  /// all of the page at once; those of an audience are read anyway.
  package func page(
    _ id: MessageID, app: AppID, filter: DeliveryFilter = DeliveryFilter(), cursor: DeliveryPlace?, limit: Int,
    tellsUsers: Bool = false
  ) async throws(StoreError) -> (items: [DeliveryReport], next: DeliveryPlace?)? {
    guard let parts = try await MessageArchive(session).find([id])[0], parts.text("app") == app.rawValue else {
      return nil
    }
    var page = try await listed(id, parts, app, filter, cursor: cursor, limit: limit)
    if tellsUsers, parts.text("an") == nil {
      let devices = try await DeviceRegistry(session).devices(page.items.map(\.device), app: app)
      for (place, stored) in devices.enumerated() { page.items[place].user = stored?.device.user }
    }
    let moved = tellsUsers ? page.items.indices.filter { page.items[$0].reason == SkipReason.moved.rawValue } : []
    if !moved.isEmpty {
      let devices = try await DeviceRegistry(session).devices(moved.map { page.items[$0].device }, app: app)
      for (place, stored) in zip(moved, devices) { page.items[place].movedTo = stored?.tombstone?.newOwner }
    }
    return page
  }

  private func listed(
    _ id: MessageID, _ parts: StoredMessageHashes, _ app: AppID, _ filter: DeliveryFilter, cursor: DeliveryPlace?,
    limit: Int
  ) async throws(StoreError) -> (items: [DeliveryReport], next: DeliveryPlace?) {
    let partitions = parts.partitions.filter { (0..<settings.partitions).contains($0) }.sorted()
    var (partition, index) = (cursor?.partition ?? partitions.first ?? 0, cursor?.index ?? 0)
    let conditions = try await CredentialConditions(session).all()
    var items: [DeliveryReport] = []
    var left = Self.lookedAtPerCall
    while items.count < limit, left > 0 {
      guard let current = partitions.first(where: { $0 >= partition }) else { return (items, nil) }
      if current != partition { (partition, index) = (current, 0) }
      var found = [(id: id, parts: parts)]
      try await MessageArchive(session).readWork(&found) { $1 == partition }
      let work = found[0].parts.work[partition] ?? [:]
      let room = limit - items.count
      let next: Int?
      if work[Self.audienceField] != nil {
        let members = Members(id: id, app: app, partition: partition, work: work)
        next = try await list(members, filter, conditions, from: index, into: &items, limit: room, left: &left)
      } else {
        let list = TargetList(work: work) ?? TargetList()
        let range = min(index, list.entries.count)..<min(list.entries.count, index + max(room, Self.window))
        next = try await add(
          list, range, of: found[0].parts, id, partition, filter, conditions, to: &items, limit: room)
        left -= range.count
      }
      if let next { index = next } else { (partition, index) = (partition + 1, 0) }
    }
    let ended = !partitions.contains { $0 >= partition }
    return (items, ended ? nil : DeliveryPlace(partition: partition, index: index))
  }
  private static let audienceField = Array("a".utf8)

  /// Of a direct send. The index to go on at; nil: the part has no more.
  private func add(
    _ list: TargetList, _ range: Range<Int>, of parts: StoredMessageHashes, _ id: MessageID, _ partition: Int,
    _ filter: DeliveryFilter, _ conditions: [CredentialID: CredentialCondition], to items: inout [DeliveryReport],
    limit: Int
  ) async throws(StoreError) -> Int? {
    let records = try await records(id, parts, partition, range)
    let open = zip(range, records).filter { $1 == nil }.map(\.0)
    let tried = try await OutcomeWriter(session).tried(id, partition, open)
    let split = parts.split
    let full = items.count + limit
    for (index, record) in zip(range, records) {
      guard items.count < full else { return index }
      let entry = list.entries[index]
      let delivery = DeliveryID(message: id, partition: partition, index: index)
      var report = DeliveryReport(
        delivery, entry.device, record, condition: entry.credential.flatMap { conditions[$0] }, tried: tried[index])
      report.provider = report.provider ?? entry.provider
      report.platform = entry.platform
      report.variant = entry.variant(split)
      if filter.takes(report) { items.append(report) }
    }
    return range.upperBound < list.entries.count ? range.upperBound : nil
  }

  func records(_ id: MessageID, _ parts: StoredMessageHashes, _ partition: Int, _ range: Range<Int>)
    async throws(StoreError) -> [DeliveryRecord?]
  {
    guard !range.isEmpty else { return [] }
    var live = RedisCommand("HMGET", keys.deliveries(partition, id))
    for index in range { live.append(index) }
    var archived = RedisCommand("HGET", keys.segment(partition, id.hour))
    archived.append(Array("d".utf8) + id.raw)
    let replies = try await ask([live, archived])
    let fields = parts.deliveries[partition] ?? replies[1].bytes.map { StoredMessageHashes.fields($0) }
    let found = replies[0].array ?? []
    return range.enumerated().map { place, index in
      let packed = fields.map { $0[Array(String(index).utf8)] } ?? found[place].bytes
      return packed.flatMap { try? DeliveryRecord(packed: $0) }
    }
  }
}

extension DeliveryReport {
  /// As its record has it; without one it is pending or blocked, with what stands against its credential. One that
  /// waits for its time, and was never attempted, is pending as well.
  init(
    _ delivery: DeliveryID, _ device: DeviceID, _ record: DeliveryRecord?, condition: CredentialCondition?,
    tried: TriedRecord? = nil
  ) {
    self.init(
      device: device, provider: record?.provider, platform: nil, variant: nil, state: DeliveryState.pending.rawValue,
      reason: nil,
      attempts: record?.attempts ?? tried?.attempts ?? [], providerID: nil, requestID: nil, nextAttemptAt: nil,
      overtaken: record?.overtaken ?? false)
    if !attempts.isEmpty { requestID = record?.slice ?? tried?.slice ?? delivery.requestID }
    switch record?.state {
    case .final(let outcome, let reason, let providerID):
      state = outcome.rawValue
      self.reason = reason
      self.providerID = providerID
    case .retrying(let due, let reason, _, _, _):
      if !attempts.isEmpty { state = DeliveryState.retrying.rawValue }
      self.reason = reason
      nextAttemptAt = due < JobQueue.parked ? due : nil
    case nil:
      reason = attempts.last?.reason
      guard let condition else { break }
      if condition.blocks { state = DeliveryState.blocked.rawValue }
      reason = condition.reason
      nextAttemptAt = condition.nextTry
    }
  }
}
