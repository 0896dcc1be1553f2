import Audience
import Domain
import Loop
import RedisClient

/// The latest device of each user among those that a selection reaches; one that the message can go to comes before all that it
/// cannot (`carries`, by route; nil: it can go to all). Asked for when it is needed instead of kept as a set: a user's devices lie in
/// different partitions, and each sighting of one would have to write to another.
extension AudienceSearch {
  /// Devices that are read at a time.
  private static let latestPerStep = 1_000

  /// Users are spread over so many tables: one table of a million users would hold up the loop while it grows, and when
  /// it is let go.
  private static let tables = 256

  /// Calls `found` with those of these devices whose user has a later one among them; `places` are all that are reached
  /// of their users.
  func earlier(
    _ places: [DevicePlace], app: AppID, carries: ((Address) -> Bool)?, _ found: (StoredDevice) -> Void
  ) async throws(StoreError) {
    var latest = [[ExactText: StoredDevice]](repeating: [:], count: Self.tables)
    for start in stride(from: 0, to: places.count, by: Self.latestPerStep) {
      let step = Array(places[start..<min(places.count, start + Self.latestPerStep)])
      for stored in try await DeviceRecords(session).records(step, app: app) {
        await loop.giveWay()
        guard let stored = stored?.record.visible, let user = stored.device.user.map(ExactText.init) else { continue }
        let table = Int(UInt(bitPattern: user.hashValue) % UInt(Self.tables))
        guard let other = latest[table][user] else {
          latest[table][user] = stored
          continue
        }
        let isEarlier = stored.isEarlier(than: other, carries)
        found(isEarlier ? stored : other)
        if !isEarlier { latest[table][user] = stored }
      }
    }
    for table in latest.indices {
      await loop.giveWay()
      latest[table] = [:]
    }
  }

  /// Those of these devices whose user has a later one anywhere that the selection reaches.
  func earlier(
    _ places: [DevicePlace], _ selection: AudienceSelection, app: AppID, now: WallTime, carries: ((Address) -> Bool)?
  ) async throws(StoreError) -> [DevicePlace] {
    let today = Int(now.milliseconds / SetName.millisecondsPerDay)
    var earlier: [DevicePlace] = []
    for start in stride(from: 0, to: places.count, by: Self.latestPerStep) {
      let step = Array(places[start..<min(places.count, start + Self.latestPerStep)])
      let found = try await DeviceRecords(session).records(step, app: app).compactMap { $0 }.filter {
        $0.device.user != nil
      }
      let users = Array(Set(found.compactMap { $0.device.user.map(ExactText.init) }))
      let devices = try await UserIndex(session).devices(ofUsers: users.map(\.text), app: app) ?? []
      var latest: [ExactText: DeviceID] = [:]
      for (user, devices) in zip(users, devices) {
        latest[user] =
          devices.filter { selection.reaches($0, today: today) }
          .max { $0.isEarlier(than: $1, carries) }?.device.id
      }
      for device in found {
        guard let user = device.device.user, let last = latest[ExactText(user)] else { continue }
        if last != device.device.id { earlier.append(device.place) }
      }
    }
    return earlier
  }
}

extension StoredDevice {
  /// By when they were seen, or registered if they never were; of two at the same moment the smaller id counts as later.
  func isEarlier(than other: StoredDevice, _ carries: ((Address) -> Bool)?) -> Bool {
    if let carries {
      let (mine, others) = (carries(device.address), carries(other.device.address))
      if mine != others { return others }
    }
    let (mine, others) = (device.lastSeen ?? device.registeredAt, other.device.lastSeen ?? other.device.registeredAt)
    return mine == others ? device.id.rawValue > other.device.id.rawValue : mine < others
  }
}

extension AudienceSelection {
  /// What the sets say of all devices, said of one. Whatever the reach.
  func reaches(_ stored: StoredDevice, today: Int) -> Bool {
    guard stored.isLive, providers?.contains(stored.device.address.provider) ?? true else { return false }
    let sets = DeviceRecord(stored, bornAt: stored.device.registeredAt).sets
    let holds = expression.evaluate(everyone: [1]) { term in
      if let sole = TermSets.sole(term) { return sets.contains(sole) ? [1] : [0] }
      let values = sets.filter { $0.kind == TermSets.kindToList(term) }.map(\.value.text)
      return TermSets.names(term, among: values, today: today).isEmpty ? [0] : [1]
    }
    return holds == [1]
  }
}
