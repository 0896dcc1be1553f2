package import Domain
import Loop
import RedisClient

extension DeviceRegistry {
  /// Pruned devices are found too, with their tombstones; nil where there is none of this id.
  package func device(_ id: DeviceID, app: AppID) async throws(StoreError) -> StoredDevice? {
    try await devices([id], app: app)[0]
  }

  /// In the order asked for; nil where there is none.
  package func devices(_ ids: [DeviceID], app: AppID) async throws(StoreError) -> [StoredDevice?] {
    try await DeviceRecords(session).find(ids, app: app).map { $0?.record.visible }
  }

  /// True if there was one.
  /// Numbers that devices of the app have: those of deleted and pruned ones are free a retention time later.
  package func count(app: AppID) async throws(StoreError) -> Int {
    let partitions = 0..<settings.partitions
    let last = try await ask(partitions.map { RedisCommand("GET", keys.lastNumber($0, app)) })
    let free = try await ask(partitions.map { RedisCommand("ZCARD", keys.freeNumbers($0, app)) })
    return zip(last, free).reduce(0) { $0 + Int($1.0.integer ?? 0) - Int($1.1.integer ?? 0) }
  }

  package func removeDevice(_ id: DeviceID, app: AppID) async throws(StoreError) -> Bool {
    for _ in 0..<DeviceRecords.writeAttempts {
      guard let found = try await DeviceRecords(session).find([id], app: app)[0] else { return false }
      guard try await remove(found, app: app) else { continue }
      return true
    }
    throw DeviceRecords.tooBusy
  }

  /// False: it has changed meanwhile.
  func remove(_ found: FoundDevice, app: AppID) async throws(StoreError) -> Bool {
    let token = DeviceID.derived(of: found.device.address, in: app)
    let entries = try await TokenOwners(session).entries(of: [(token, found.place)], app: app)[0]
    let write = DeviceWrite(place: found.place, id: found.device.id, before: found, after: nil)
    guard try await DeviceRecords(session).write([write], app: app)[0].isDone else { return false }
    try await TokenOwners(session).unpoint(entries.map { (token, $0) }, app: app)
    if let user = found.device.user { try await UserIndex(session).leave([(user, found.place)], app: app) }
    return true
  }

  /// Changes a device's own tags; those of its user stay.
  package func changeTags(of id: DeviceID, _ change: TagChange, app: AppID) async throws(StoreError)
    -> TagChange.Result
  {
    try session.checkCondition()
    var tooMany: Int?
    let changed = try await DeviceRecords(session).rewrite(id, app: app) { record in
      let tags = change.applied(to: record.stored.device.tags)
      tooMany = tags.count > Tag.maximumPerDevice ? tags.count : nil
      guard tooMany == nil, tags.map(ExactText.init) != record.stored.device.tags.map(ExactText.init) else {
        return nil
      }
      var new = record
      new.stored.device.tags = tags
      return new
    }
    if let tooMany { return .tooMany(tooMany) }
    return changed.map { .changed($0.after.stored.device.tags) } ?? .noDevice
  }
}
