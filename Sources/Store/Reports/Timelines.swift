package import Domain
import RedisClient

/// One message that was aimed at a device, and what became of it there.
package struct TimelineEntry: Sendable {
  package var message: MessageID
  /// Of the message.
  package var name: String?
  package var kind: Kind
  package var toAudience: Bool
  package var delivery: DeliveryReport
}

/// A page of a timeline.
package struct TimelinePage: Sendable {
  /// Newest first.
  package var items: [TimelineEntry]
  /// Where the next page begins; nil: there is none.
  package var next: TimelinePlace?
  /// There was too much to search for this call: pages that follow may hold what is newer than this one.
  package var isPartial = false
}

/// Every message sent to a device within retention. Sending writes nothing for it: the partition of the device
/// is searched, in script runs of less than a millisecond. It costs about a millisecond of Redis for 2,000 finished messages
/// or waiting jobs of the partition, and the reading of a snapshot, 8 to 80 kB, for each audience. Holds nothing but its
/// session, on whose loop it is used.
package struct Timelines: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Newest first; `cursor` is what the last call returned. A page may be short though more follow. A call searches for
  /// no more than `timelineSteps`. Where that does not reach through all that waits in the partition, or through one of
  /// its hours, the search goes on in parts, in the order in which things are stored.
  package func page(
    _ device: DeviceID, app: AppID, cursor: TimelinePlace? = nil, limit: Int
  ) async throws(StoreError) -> TimelinePage {
    let partition = session.partition(of: device, in: app)
    let search = DeviceSearch(
      partition: partition, device: device, number: try await number(of: device, app: app), before: cursor?.before,
      within: cursor?.within)
    if cursor?.spot == nil, let page = try await newest(search, app, limit: limit) { return page }
    return try await part(search, from: cursor?.spot ?? Self.searchStart, app, limit: limit)
  }

  /// All that waits, and then hour by hour. Nil: that is too much for one call.
  private func newest(_ start: DeviceSearch, _ app: AppID, limit: Int) async throws(StoreError) -> TimelinePage? {
    var search = start
    var spot: TimelinePlace.Spot? = Self.searchStart
    // All that is not older than this has been found.
    var bound: MessageID?
    func isComplete(_ id: MessageID) -> Bool { bound.map { id >= $0 } ?? false }
    while let now = spot {
      let next = try await step(now, &search)
      if let hour = now.hour, next?.hour != hour {
        bound = MessageID(acceptedAt: WallTime(seconds: hour * 3600), partition: 0, random: 0)
        if search.found.count(where: isComplete) >= limit {
          spot = next
          break
        }
      }
      spot = next
      if spot != nil, search.steps >= session.timelineSteps {
        if bound == nil { return nil }
        break
      }
    }
    let complete = search.found.filter { spot == nil || isComplete($0) }.sorted(by: >)
    let page = Array(complete.prefix(limit))
    let items = try await entries(page, search, app)
    if page.count < complete.count { return TimelinePage(items: items, next: TimelinePlace(before: page.last)) }
    return TimelinePage(items: items, next: spot == nil ? nil : TimelinePlace(before: bound))
  }

  /// Some steps of the search, in the order in which things are stored.
  private func part(
    _ start: DeviceSearch, from: TimelinePlace.Spot, _ app: AppID, limit: Int
  ) async throws(StoreError) -> TimelinePage {
    var search = start
    var spot: TimelinePlace.Spot? = from
    var place = TimelinePlace(before: start.before)
    var told: [MessageID] = []
    while let now = spot, search.steps < session.timelineSteps, told.count < limit {
      let before = search.found
      spot = try await step(now, &search)
      let new = search.found.subtracting(before).sorted(by: >)
      search.within = nil
      told += new.prefix(limit - told.count)
      place.spot = spot
      if let last = told.last, new.last.map({ $0 < last && new.contains(last) }) == true {
        // More of this step comes with the next page.
        place.spot = now
        place.within = last
        spot = now
        break
      }
    }
    let items = try await entries(told.sorted(by: >), search, app)
    return TimelinePage(items: items, next: spot == nil ? nil : place, isPartial: true)
  }

  private func entries(_ ids: [MessageID], _ search: DeviceSearch, _ app: AppID) async throws(StoreError)
    -> [TimelineEntry]
  {
    var found: [(id: MessageID, parts: StoredMessageHashes)] = []
    for (id, parts) in zip(ids, try await MessageArchive(session).find(ids)) {
      if let parts, parts.text("app") == app.rawValue { found.append((id, parts)) }
    }
    let partition = search.partition
    try await MessageArchive(session).readWork(&found) { $1 == partition }
    let conditions = try await CredentialConditions(session).all()
    var entries: [TimelineEntry] = []
    for (id, parts) in found {
      guard let kind = parts.text("k").flatMap({ Kind(rawValue: $0) }), let work = parts.work[partition] else {
        continue
      }
      let name = parts.labels.name
      let members = Members(id: id, app: app, partition: partition, work: work)
      if members.isStarted, let number = search.number,
        let snapshot = try await DeliveryReports(session).snapshot(id, partition),
        let index = snapshot.index(of: number), let segment = snapshot.segment(of: index)
      {
        var timeReason: String?
        if segment.wave != nil { timeReason = try await MessageArchive(session).timeReason(of: id, app: app) }
        for delivery in try await DeliveryReports(session).reports(
          [index], members, segment, conditions, timeReason: timeReason)
        where delivery.device == search.device {
          entries.append(TimelineEntry(message: id, name: name, kind: kind, toAudience: true, delivery: delivery))
        }
      } else if let list = TargetList(work: work) {
        for (index, entry) in list.entries.enumerated() where entry.device == search.device {
          let record = try await DeliveryReports(session).records(id, parts, partition, index..<index + 1)[0]
          let tried = record == nil ? try await OutcomeWriter(session).tried(id, partition, [index])[index] : nil
          var delivery = DeliveryReport(
            DeliveryID(message: id, partition: partition, index: index), entry.device, record,
            condition: entry.credential.flatMap { conditions[$0] }, tried: tried)
          delivery.provider = delivery.provider ?? entry.provider
          delivery.platform = entry.platform
          delivery.variant = entry.variant(parts.split)
          // A small audience is stored as a list.
          entries.append(
            TimelineEntry(
              message: id, name: name, kind: kind, toAudience: parts.labels.audience != nil, delivery: delivery))
        }
      }
    }
    return entries
  }

  private func number(of device: DeviceID, app: AppID) async throws(StoreError) -> Int? {
    try await DeviceRecords(session).find([device], app: app)[0]?.place.number
  }
}
