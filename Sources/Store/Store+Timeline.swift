package import Domain
import RedisClient

/// One message that was aimed at a device, and what became of it there.
package struct TimelineEntry: Sendable {
  package var message: MessageID
  package var kind: Kind
  package var toAudience: Bool
  package var delivery: DeliveryReport
}

private struct DeviceSearch {
  var partition: Int
  var device: DeviceID
  /// Of a registered device: members of audiences are found by it.
  var number: Int?
  var before: MessageID?
  var found: Set<MessageID> = []
  var steps = 0

  mutating func add(_ id: MessageID?) {
    if let id, before.map({ id < $0 }) ?? true { found.insert(id) }
  }
}

/// Every message aimed at a device within retention (design D17). Sending writes nothing for it: the partition of the device
/// is searched, in script runs of less than a millisecond. It costs about a millisecond of Redis for 2,000 finished messages
/// or waiting jobs of the partition, and the reading of a snapshot, 8 to 80 kB, for each audience.
extension Store {
  /// Parts, jobs or retries looked at by one script run.
  private static let partsPerStep = 200
  private static let listsPerStep = 20
  /// Steps of one call; an hour that was begun is finished.
  private static let stepsPerCall = 500

  /// Newest first; `cursor` is what the last call returned. A page may be short though more follow.
  package func timeline(_ device: DeviceID, app: AppID, cursor: String?, limit: Int) async throws(StoreError)
    -> (items: [TimelineEntry], next: String?)
  {
    let partition = partition(of: device, in: app)
    var search = DeviceSearch(
      partition: partition, device: device, number: try await number(of: device, app: app),
      before: cursor.flatMap { MessageID($0) })
    try await searchLive(&search)
    let listed = try await ask(RedisCommand("ZRANGE", keys.segments(partition), "0", "-1"), partition: partition)
    let hours = (listed.array ?? []).compactMap(\.integer).filter { $0 <= search.before?.hour ?? .max }.sorted(by: >)
    // All that is not older than this has been found.
    var bound: MessageID?
    for hour in hours {
      try await self.search(hour: hour, &search)
      bound = MessageID(acceptedAt: WallTime(seconds: hour * 3600), partition: 0, random: 0)
      if search.steps >= Self.stepsPerCall || search.found.filter({ $0 >= bound! }).count >= limit { break }
    }
    if bound?.hour == hours.last { bound = nil }
    let complete = search.found.filter { bound == nil || $0 >= bound! }.sorted(by: >)
    let page = Array(complete.prefix(limit))
    let items = try await entries(page, search, app)
    if page.count < complete.count { return (items, page.last?.description) }
    return (items, bound?.description)
  }

  /// What has not ended: jobs, retries, audiences at work.
  private func searchLive(_ search: inout DeviceSearch) async throws(StoreError) {
    let partition = search.partition
    try await scan(keys.singles(partition), ["1"], &search)
    for (stream, _) in try await streams(of: partition) {
      var from = "-"
      while true {
        let reply =
          try await ask(
            Scripts.scanStream, keys: [keys.stream(partition, stream.name)],
            [.text(from), .number(Int64(Self.listsPerStep)), .text(search.device.rawValue)], partition: partition
          ).array ?? []
        search.steps += 1
        guard let last = reply.first?.text, !last.isEmpty else { break }
        for id in reply.dropFirst() { search.add(id.bytes.flatMap { MessageID(raw: $0) }) }
        from = "(" + last
      }
    }
    var waiting: Set<MessageID> = []
    var first = 0
    while true {
      let members =
        try await ask(
          RedisCommand("ZRANGE", keys.retry(partition), String(first), String(first + Self.partsPerStep - 1)),
          partition: partition
        ).array ?? []
      search.steps += 1
      for member in members.compactMap(\.bytes) {
        if let id = MessageID(raw: Array(member.prefix(16))) { waiting.insert(id) }
      }
      guard members.count == Self.partsPerStep else { break }
      first += members.count
    }
    let atWork = try await ask(RedisCommand("ZRANGE", keys.ends(partition), "0", "-1"), partition: partition).array
    for id in atWork ?? [] { if let id = id.bytes.flatMap({ MessageID(raw: $0) }) { waiting.insert(id) } }
    try await look(at: waiting.subtracting(search.found), &search)
  }

  /// Those in a hash whose value holds the device. `last`: of the script's arguments.
  private func scan(_ key: String, _ last: [RedisArgument], _ search: inout DeviceSearch) async throws(StoreError) {
    var cursor = "0"
    repeat {
      let reply =
        try await ask(
          Scripts.scanSegment, keys: [key],
          [.text(cursor), .number(Int64(Self.partsPerStep)), .text(search.device.rawValue)] + last,
          partition: search.partition
        ).array ?? []
      search.steps += 1
      cursor = reply.first?.text ?? "0"
      for id in reply.dropFirst() { search.add(id.bytes.flatMap { MessageID(raw: $0) }) }
    } while cursor != "0"
  }

  private func search(hour: Int64, _ search: inout DeviceSearch) async throws(StoreError) {
    let partition = search.partition
    try await scan(keys.segment(partition, hour), [], &search)
    var cursor = "0"
    repeat {
      let page =
        try await ask(
          RedisCommand("SSCAN", keys.kept(partition, hour), cursor, "COUNT", String(Self.partsPerStep)),
          partition: partition
        ).array ?? []
      search.steps += 1
      cursor = page.first?.text ?? "0"
      let ids = (page.last?.array ?? []).compactMap { $0.bytes.flatMap { MessageID(raw: $0) } }
      try await look(at: Set(ids), &search)
    } while cursor != "0"
  }

  /// Parts whose keys stand where they were made.
  private func look(at ids: Set<MessageID>, _ search: inout DeviceSearch) async throws(StoreError) {
    var rest = Array(ids)[...]
    while !rest.isEmpty {
      let step = Array(rest.prefix(Self.listsPerStep))
      rest = rest.dropFirst(step.count)
      let kinds =
        try await ask(
          Scripts.aimedParts, keys: step.map { keys.work(search.partition, $0) }, [.text(search.device.rawValue)],
          partition: search.partition
        ).array ?? []
      search.steps += 1
      for (id, kind) in zip(step, kinds.map(\.integer)) {
        if kind == 1 {
          search.add(id)
        } else if kind == 2, let number = search.number, let snapshot = try await snapshot(id, search.partition),
          snapshot.index(of: number) != nil
        {
          search.add(id)
        }
      }
    }
  }

  private func entries(_ ids: [MessageID], _ search: DeviceSearch, _ app: AppID) async throws(StoreError)
    -> [TimelineEntry]
  {
    var found: [(id: MessageID, parts: MessageParts)] = []
    for (id, parts) in zip(ids, try await find(ids)) {
      if let parts, parts.text("app") == app.rawValue { found.append((id, parts)) }
    }
    let partition = search.partition
    try await readWork(&found) { $1 == partition }
    let blocked = try await blockedCredentials()
    var entries: [TimelineEntry] = []
    for (id, parts) in found {
      guard let kind = parts.text("k").flatMap({ Kind(rawValue: $0) }), let work = parts.work[partition] else {
        continue
      }
      let members = Members(id: id, app: app, partition: partition, work: work)
      if members.isStarted, let number = search.number, let snapshot = try await snapshot(id, partition),
        let index = snapshot.index(of: number), let segment = snapshot.segment(of: index)
      {
        for delivery in try await reports([index], members, segment, blocked) where delivery.device == search.device {
          entries.append(TimelineEntry(message: id, kind: kind, toAudience: true, delivery: delivery))
        }
      } else if let list = work[Array("t".utf8)].flatMap({ try? TargetList(packed: $0) }) {
        for (index, entry) in list.entries.enumerated() where entry.device == search.device {
          let record = try await records(id, parts, partition, index..<index + 1)[0]
          var delivery = DeliveryReport(
            DeliveryID(message: id, partition: partition, index: index), entry.device, record,
            blocked: entry.credential.flatMap { blocked[$0] })
          delivery.provider = delivery.provider ?? entry.provider
          delivery.platform = entry.platform
          delivery.variant = entry.variant(parts.split)
          entries.append(TimelineEntry(message: id, kind: kind, toAudience: false, delivery: delivery))
        }
      }
    }
    return entries
  }

  private func number(of device: DeviceID, app: AppID) async throws(StoreError) -> Int? {
    try await find([device], app: app)[0]?.place.number
  }
}
