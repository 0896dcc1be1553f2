package import Domain
import Loop

/// What `DeviceRegistry.put` would make of many devices at this moment, by the same rules, without writing anything. Holds
/// nothing but its session, on whose loop it is used.
package struct ImportForecast: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// In order, as if they were registered one behind the other. `merging` as for `DeviceRegistry.put`.
  package func results(
    of devices: [Device], app: AppID, merging: (_ at: Int, _ known: Device) -> Device?
  ) async throws(StoreError) -> [PutResult] {
    var results: [PutResult] = []
    results.reserveCapacity(devices.count)
    var world = try await world(of: devices, app)
    for at in devices.indices {
      await loop.giveWay()
      results.append(world.take(devices[at], derived: world.derived[at]) { merging(at, $0) })
    }
    return results
  }

  /// What the registry has of these devices, their tokens and their users.
  private func world(of devices: [Device], _ app: AppID) async throws(StoreError) -> ForeseenWorld {
    var derived: [DeviceID] = []
    derived.reserveCapacity(devices.count)
    for device in devices {
      await loop.giveWay()
      derived.append(DeviceID.derived(of: device.address, in: app))
    }
    var world = ForeseenWorld(app: app, derived: derived, mostOfUser: settings.devicesPerUser)
    for start in stride(from: 0, to: devices.count, by: Self.atOnce) {
      let part = start..<min(devices.count, start + Self.atOnce)
      let owners = try await TokenOwners(session).findOwners(
        of: part.map { devices[$0].address }, derived: part.map { derived[$0] }, app: app)
      var ids: [DeviceID] = []
      for (at, owner) in zip(part, owners) {
        if let owner { world.know(owner, holding: derived[at]) }
        let id = devices[at].id
        ids.append(id.rawValue.isEmpty ? owner?.device.id ?? derived[at] : id)
      }
      for found in try await DeviceRecords(session).find(ids, app: app) {
        if let found { world.know(found) }
      }
      await loop.giveWay()
      // A device keeps its user where its line has none and missing fields are kept.
      let users = Set((part.compactMap { devices[$0].user } + ids.compactMap(world.user)).map { ExactText($0) })
      let names = users.map(\.text)
      for (user, entry) in zip(names, try await UserIndex(session).entries(ofUsers: names, app: app)) {
        world.know(user, entry)
      }
    }
    return world
  }
  private static let atOnce = 1_000
}

/// The registry as it would be behind some lines of an import.
private struct ForeseenWorld {
  let app: AppID
  let derived: [DeviceID]
  let mostOfUser: Int
  private var known: [DeviceID: Known] = [:]
  /// The device that holds a token, by the id that the token gives.
  private var owners: [DeviceID: DeviceID] = [:]
  private var users: [ExactText: Members] = [:]

  private struct Known {
    var device: Device
    /// Nobody sees it: it is being registered, or a fault has left it.
    var isVisible: Bool
    var isDead: Bool
    /// Nil: it would be new.
    var place: DevicePlace?
    var isLiving: Bool { isVisible && !isDead }
  }

  /// Devices that a user's entry names.
  private struct Members {
    var count: Int
    var places: Set<DevicePlace>
    /// Devices that would be new.
    var added: Set<DeviceID> = []
  }

  init(app: AppID, derived: [DeviceID], mostOfUser: Int) {
    (self.app, self.derived, self.mostOfUser) = (app, derived, mostOfUser)
  }

  /// `holding`: the id of the token that it has.
  mutating func know(_ found: FoundDevice, holding token: DeviceID? = nil) {
    let visible = found.record.visible
    known[found.device.id] = Known(
      device: found.device, isVisible: visible != nil, isDead: found.record.stored.tombstone != nil,
      place: found.place)
    if let token { owners[token] = found.device.id }
  }

  mutating func know(_ user: String, _ entry: UserEntry) {
    users[ExactText(user)] = Members(count: entry.places.count, places: Set(entry.places))
  }

  func user(of id: DeviceID) -> String? { known[id]?.device.user }

  mutating func take(_ device: Device, derived: DeviceID, merging: (Device) -> Device?) -> PutResult {
    let owner = owners[derived]
    let id = device.id.rawValue.isEmpty ? owner ?? derived : device.id
    let before = known[id]
    var after = device
    if let before {
      guard let merged = merging(before.device) else { return .leftAlone }
      after = merged
    }
    after.id = id
    guard enter(id, before?.place, for: after.user) else { return .userIsFull }
    if let before, let user = before.device.user, after.user.map(ExactText.init) != ExactText(user) {
      leave(id, before.place, user)
    }
    var registration = Registration.created
    if let before, before.isVisible { registration = before.isDead ? .revived : .updated }
    if let owner, owner != id, let former = known[owner], former.isLiving {
      registration = .moved(from: FormerOwner(former.device))
      known[owner]?.isDead = true
    }
    if let before {
      let left = DeviceID.derived(of: before.device.address, in: app)
      if left != derived, owners[left] == id { owners[left] = nil }
    }
    owners[derived] = id
    known[id] = Known(device: after, isVisible: true, isDead: false, place: before?.place)
    return .stored(id, registration)
  }

  /// False: the user has too many already.
  private mutating func enter(_ id: DeviceID, _ place: DevicePlace?, for user: String?) -> Bool {
    guard let user = user.map(ExactText.init) else { return true }
    var members = users[user] ?? Members(count: 0, places: [])
    if place.map(members.places.contains) ?? false || members.added.contains(id) { return true }
    guard members.count < mostOfUser || members.count == 0 else { return false }
    members.count += 1
    if let place { members.places.insert(place) } else { members.added.insert(id) }
    users[user] = members
    return true
  }

  private mutating func leave(_ id: DeviceID, _ place: DevicePlace?, _ user: String) {
    guard var members = users[ExactText(user)] else { return }
    let wasThere = place.map { members.places.remove($0) != nil } ?? (members.added.remove(id) != nil)
    if wasThere { members.count -= 1 }
    users[ExactText(user)] = members
  }
}
