package import Domain
import Loop
import RedisClient

/// A device on its way into the registry.
struct Incoming {
  var device: Device
  /// What it becomes on top of what is known, where that counts.
  var merge: ((Device) -> Device)?
}

extension Store {
  /// Devices that one step of an import looks up and writes together.
  private static let devicesPerStep = 1_000

  /// Registers or replaces a device (design D5: record, alias, tombstone of the former owner of the token; repeatable).
  /// `device.id` empty: by token, under the id that already holds it, or the derived one; the result tells which. `merging`
  /// gets what is known of the device at the moment of writing; without it the registration replaces that.
  package func put(
    _ device: Device, app: AppID, merging: ((_ known: Device) -> Device)? = nil
  ) async throws(StoreError) -> PutResult {
    try checkCondition()
    return try await put([Incoming(device: device, merge: merging)], app: app)[0]
  }

  /// Registers many, in order: what comes later wins. After an error some are stored; repeating all is safe.
  package func put(_ devices: [Device], app: AppID) async throws(StoreError) -> [PutResult] {
    var results: [PutResult] = []
    results.reserveCapacity(devices.count)
    for start in stride(from: 0, to: devices.count, by: Self.devicesPerStep) {
      try checkCondition()
      let step = devices[start..<min(devices.count, start + Self.devicesPerStep)]
      results += try await put(step.map { Incoming(device: $0) }, app: app)
    }
    return results
  }

  private func put(_ incoming: [Incoming], app: AppID) async throws(StoreError) -> [PutResult] {
    let derived = incoming.map { Self.derivedID(of: $0.device.address, in: app) }
    var results = [PutResult](repeating: .userIsFull, count: incoming.count)
    var left = Array(incoming.indices)
    while !left.isEmpty {
      // Ids are asked for anew in each round, as those before may have moved them.
      let nameless = left.filter { incoming[$0].device.id.rawValue.isEmpty }
      let owners = try await findOwners(of: nameless.map { incoming[$0].device.address }, app: app)
      var ids = Dictionary(uniqueKeysWithValues: left.map { ($0, incoming[$0].device.id) })
      for (at, owner) in zip(nameless, owners) { ids[at] = owner?.device.id ?? derived[at] }
      var taken = Set<DeviceID>()
      var round: [(at: Int, id: DeviceID)] = []
      var later: [Int] = []
      for at in left {
        guard let id = ids[at] else { continue }
        // One that shares its id or its token with an earlier one waits for it.
        let isFree = !taken.contains(id) && !taken.contains(derived[at])
        taken.insert(id)
        taken.insert(derived[at])
        if isFree { round.append((at, id)) } else { later.append(at) }
      }
      let done = try await write(round.map { ($0.id, derived[$0.at], incoming[$0.at]) }, app: app)
      for (entry, result) in zip(round, done) { results[entry.at] = result }
      left = later
    }
    return results
  }

  /// What writing one device has come to.
  private struct Step {
    var id: DeviceID
    var derived: DeviceID
    var before: FoundDevice?
    var written: FoundDevice?
    var movedFrom: DeviceID?

    var result: PutResult {
      guard written != nil else { return .userIsFull }
      if let movedFrom { return .stored(id, .moved(from: movedFrom)) }
      guard let before else { return .stored(id, .created) }
      return .stored(id, before.record.stored.tombstone == nil ? .updated : .revived)
    }
  }

  /// Distinct ids and tokens.
  private func write(
    _ devices: [(id: DeviceID, derived: DeviceID, incoming: Incoming)], app: AppID
  ) async throws(StoreError) -> [PutResult] {
    var steps = devices.map { Step(id: $0.id, derived: $0.derived) }
    var left = Array(devices.indices)
    var attempts = 0
    while !left.isEmpty {
      attempts += 1
      guard attempts <= Self.writeAttempts else { throw Self.tooBusy }
      left = try await attempt(left, devices, &steps, app)
    }
    try await moveTokens(&steps, app)
    return steps.map(\.result)
  }

  /// Those that others came between, to be tried again.
  private func attempt(
    _ left: [Int], _ devices: [(id: DeviceID, derived: DeviceID, incoming: Incoming)], _ steps: inout [Step],
    _ app: AppID
  ) async throws(StoreError) -> [Int] {
    let found = try await lookUp(left.map { devices[$0].id }, app: app)
    let places = try await places(of: zip(left, found).map { (devices[$0].id, $1.found) }, app)
    let now = loop.wallNow
    var records: [DeviceRecord] = []
    for (at, known) in zip(left, found) {
      let incoming = devices[at].incoming
      var device = known.found.flatMap { incoming.merge?($0.device) } ?? incoming.device
      device.id = devices[at].id
      var record = DeviceRecord(
        StoredDevice(device: device, tombstone: nil), bornAt: known.found?.record.bornAt ?? now)
      if let old = known.found?.record, device.user != nil, old.stored.device.user == device.user {
        record.userVersion = old.userVersion
        record.stored.userTags = old.stored.userTags
        record.isOneOfSeveral = old.isOneOfSeveral
      }
      records.append(record)
    }
    // The user's entry comes before the record and may name too many; readers compare with the record.
    let joining = left.indices.filter { records[$0].stored.device.user != nil }
    let entries = try await join(
      joining.map { (records[$0].stored.device.user ?? "", places[$0]) }, app: app)
    var full = Set<Int>()
    for (at, entry) in zip(joining, entries) {
      if let entry { records[at].take(entry) } else { full.insert(at) }
    }
    let writing = left.indices.filter { !full.contains($0) }
    let written = try await write(
      writing.map { at in
        DeviceWrite(
          place: places[at], id: devices[left[at]].id, before: found[at].found, after: records[at],
          expected: found[at].numbers)
      }, app: app)
    var again: [Int] = []
    for (at, success) in zip(writing, written) {
      let step = left[at]
      if success {
        steps[step].before = found[at].found
        steps[step].written = FoundDevice(place: places[at], record: records[at], packed: [])
        continue
      }
      again.append(step)
      guard found[at].found == nil else { continue }
      if let user = records[at].stored.device.user { try await leave([(user, places[at])], app: app) }
      try await giveBack(places[at], app)
    }
    for at in full where found[at].found == nil { try await giveBack(places[at], app) }
    let refused = Set(again)
    let stands = joining.filter { !full.contains($0) && !refused.contains(left[$0]) }
    try await settle(stands, zip(joining, entries).map { ($0, $1) }, records, places, app)
    return again
  }

  /// Users whose entries changed meanwhile, or who have several devices, which must know of each other.
  private func settle(
    _ joined: [Int], _ entries: [(at: Int, entry: UserEntry?)], _ records: [DeviceRecord], _ places: [DevicePlace],
    _ app: AppID
  ) async throws(StoreError) {
    let names = joined.compactMap { records[$0].stored.device.user }
    let now = try await self.entries(ofUsers: names, app: app)
    let known = Dictionary(uniqueKeysWithValues: entries.map { ($0.at, $0.entry) })
    var moved: [String] = []
    var lost: [(user: String, place: DevicePlace)] = []
    for ((at, user), entry) in zip(zip(joined, names), now) {
      // A repair of the registry took it for one that was left behind.
      if !entry.places.contains(places[at]) { lost.append((user, places[at])) }
      if entry.places.count > 1 || entry.version != (known[at] ?? nil)?.version { moved.append(user) }
    }
    if !lost.isEmpty { _ = try await join(lost, app: app) }
    let users = Set(moved.map(ExactText.init)).map(\.text)
    if !users.isEmpty { try await settle(users, app: app) }
  }

  private func places(of devices: [(id: DeviceID, found: FoundDevice?)], _ app: AppID) async throws(StoreError)
    -> [DevicePlace]
  {
    var new: [Int: [Int]] = [:]
    var places: [DevicePlace] = []
    for (at, device) in devices.enumerated() {
      let home = partition(of: device.id, in: app)
      places.append(device.found?.place ?? DevicePlace(partition: home, number: 0))
      if device.found == nil { new[home, default: []].append(at) }
    }
    let homes = Array(new.keys)
    let before = loop.wallNow.milliseconds - settings.retentionSeconds * 1000
    let replies = try await ask(
      Scripts.allocate,
      homes.map { home in
        (
          keys: [keys.lastNumber(home, app), keys.freeNumbers(home, app)],
          arguments: [.number(before), .number(Int64(new[home]?.count ?? 0))]
        )
      })
    for (home, reply) in zip(homes, replies) {
      let numbers = (reply.array ?? []).compactMap { $0.integer.map { Int($0) } }
      guard let devices = new[home], numbers.count == devices.count else {
        throw .unavailable("Redis gave no numbers for devices", retryAfter: 1)
      }
      for (at, number) in zip(devices, numbers) { places[at].number = number }
    }
    return places
  }

  // MARK: Tokens

  /// Aliases of tokens to their new owners, and tombstones for the old ones. An old owner is buried before its alias is
  /// lost, so that what stops half-way is found again by the next registration.
  private func moveTokens(_ steps: inout [Step], _ app: AppID) async throws(StoreError) {
    let written = steps.indices.filter { steps[$0].written != nil }
    guard !written.isEmpty else { return }
    let addresses = written.compactMap { steps[$0].written?.device.address }
    let aliased = try await aliased(written.map { steps[$0].derived }, addresses, app: app)
    let chosen = written.filter { steps[$0].id != steps[$0].derived }
    let derived = try await find(chosen.map { steps[$0].derived }, app: app)
    let owners = Dictionary(uniqueKeysWithValues: zip(chosen, derived))
    for (at, others) in zip(written, aliased) {
      // The owners by alias, and the device that the token itself may have made.
      for other in others + [owners[at] ?? nil].compactMap({ $0 }) where other.device.id != steps[at].id {
        try await bury(other, for: &steps[at], app)
      }
    }
    let pointers = chosen.compactMap { at in steps[at].written.map { (derived: steps[at].derived, to: $0.place) } }
    for (at, before) in zip(chosen, try await point(pointers, app: app)) {
      guard !before.isEmpty else { continue }
      // Another registration of this token came between.
      for other in try await records(before, app: app) {
        if let other, other.device.id != steps[at].id { try await bury(other, for: &steps[at], app) }
      }
    }
    var unpointed: [(derived: DeviceID, from: DevicePlace)] = []
    for (at, others) in zip(written, aliased) where steps[at].id == steps[at].derived {
      for other in others where other.device.id != steps[at].id { unpointed.append((steps[at].derived, other.place)) }
    }
    try await unpoint(unpointed, app: app)
    for at in written {
      if let before = steps[at].before { try await forget(before, keeping: steps[at].written?.device, app: app) }
    }
  }

  private func bury(_ other: FoundDevice, for step: inout Step, _ app: AppID) async throws(StoreError) {
    guard let address = step.written?.device.address else { return }
    let owner = step.id
    var buried = false
    _ = try await rewrite(other.device.id, app: app) { record in
      buried = false
      guard record.stored.tombstone == nil, record.stored.device.address.holdsSameToken(as: address) else { return nil }
      buried = true
      var new = record
      new.stored.tombstone = Tombstone(reason: "moved:\(owner.rawValue)", at: loop.wallNow)
      return new
    }
    if buried, step.movedFrom == nil { step.movedFrom = other.device.id }
  }

  /// What the former state of a device left elsewhere: alias of its old token, place among its old user's devices.
  func forget(_ old: FoundDevice, keeping new: Device?, app: AppID) async throws(StoreError) {
    if let user = old.device.user, user != new?.user { try await leave([(user, old.place)], app: app) }
    let derived = Self.derivedID(of: old.device.address, in: app)
    if derived != old.device.id, derived != new.map({ Self.derivedID(of: $0.address, in: app) }) {
      try await unpoint([(derived, old.place)], app: app)
    }
  }
}
