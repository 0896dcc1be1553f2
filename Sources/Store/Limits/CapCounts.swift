package import Domain
import Loop
import RedisClient

/// What has been counted of one topic in one period.
package struct CapCount: Hashable, Sendable {
  package var app: AppID
  package var topic: String
  package var period: Cap.Period
  /// `Cap.Period.number`
  package var number: Int64
  /// The counter that is in force at `now`, of the wall clock.
  package init(_ cap: Cap, app: AppID, now: WallTime) {
    self.app = app
    topic = cap.topic
    period = cap.period
    number = cap.period.number(at: now)
  }
}

/// One delivery that counts, if it is accepted.
package struct CapUse: Hashable, Sendable {
  package var count: CapCount
  /// The device's.
  package var number: Int
  /// `number`: the device's own within its partition, not its id.
  package init(count: CapCount, number: Int) {
    self.count = count
    self.number = number
  }
}

/// Counters of caps: four bits for each device number, in one string per partition, topic and period (decision 0020). They
/// are written with the outcomes that they count, and are gone a day after their period. A device number rests for a week
/// or more before another device gets it, so none inherits a count. Holds nothing but its session, on whose loop it is
/// used; requests in flight are counted by the owner of the partition, not here.
package struct CapCounts: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  private static let lifeBehindPeriod: Int64 = 86_400
  /// What was counted of a device before its number was freed lies in an earlier week then.
  static let shortestRest: Int64 = 7 * 86_400

  /// By device number, as far as any was counted.
  package func counts(_ count: CapCount, partition: Int) async throws(StoreError) -> [UInt8] {
    let packed = try await ask(RedisCommand("GET", keys.caps(partition, count)), partition: partition).bytes ?? []
    return packed.flatMap { [$0 >> 4, $0 & 15] }
  }

  /// Those of these devices that have had as many of the topic as the cap allows, or more.
  package func full(_ cap: Cap, among devices: [DeviceID], app: AppID, now: WallTime) async throws(StoreError)
    -> Set<DeviceID>
  {
    let count = CapCount(cap, app: app, now: now)
    let found = try await DeviceRecords(session).find(devices, app: app).compactMap { $0 }
    var full: Set<DeviceID> = []
    for (partition, devices) in Dictionary(grouping: found, by: \.place.partition) {
      let counts = try await counts(count, partition: partition)
      for device in devices where device.place.number < counts.count && counts[device.place.number] >= cap.limit {
        full.insert(device.device.id)
      }
    }
    return full
  }

  /// What a flush takes: keys that are counted in, and for each delivery its key, that key's life, the place of its
  /// message, its index, and the device's number.
  func arguments(_ entries: [(id: MessageID, outcomes: MessageOutcomes)], _ partition: Int) -> (
    names: [String], packed: [UInt8]
  ) {
    var names: [String] = []
    var places: [CapCount: Int] = [:]
    var packed: [UInt8] = []
    for (entry, (_, outcomes)) in entries.enumerated() {
      for final in outcomes.finals {
        guard final.outcome == .accepted, let use = final.cap else { continue }
        let place = places[use.count] ?? names.count
        if place == names.count {
          names.append(keys.caps(partition, use.count))
          places[use.count] = place
        }
        let life = (use.count.period.end(of: use.count.number) - loop.wallNow) / 1_000 + Self.lifeBehindPeriod
        packed += raw32(place) + raw32(Int(max(1, life))) + raw32(entry + 1) + raw32(final.delivery.index)
        packed += raw32(use.number)
      }
    }
    return (names, packed)
  }
}
