package import Domain
import Loop
import RedisClient

/// A device on its way into the registry.
struct Incoming {
  var device: Device
  /// What it becomes on top of what is known, where that counts.
  var merge: ((Device) -> Device)?

  fileprivate func derivedID(in app: AppID) -> DeviceID { Store.derivedID(of: device.address, in: app) }
}

extension Store {
  /// Devices that one step of an import looks up and writes together: the more, the fewer changes of sets, and the longer
  /// others wait for Redis.
  static let usualStep = 2_000
  /// Steps of one import at work at once. With two, devices that shared a token over two steps ended otherwise on a busy machine
  /// than one by one, and an import was no quicker (decision 0030).
  private static let stepsAbreast = 1

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
    let count = (devices.count + devicesPerStep - 1) / devicesPerStep
    let size = (devices.count + count - 1) / max(1, count)
    let convoy = Convoy(count)
    await loop.abreast(count, width: Self.stepsAbreast) { [self] step in
      await convoy.run(step) { () async throws(StoreError) in
        try checkCondition()
        let some = devices[step * size..<min(devices.count, (step + 1) * size)]
        return try await put(some.map { Incoming(device: $0) }, app: app, in: convoy, step: step)
      }
    }
    if let error = convoy.error { throw error }
    return convoy.results.flatMap { $0 }
  }

  private func put(
    _ incoming: [Incoming], app: AppID, in convoy: Convoy? = nil, step: Int = 0
  ) async throws(StoreError) -> [PutResult] {
    let derived = incoming.map { $0.derivedID(in: app) }
    var results = [PutResult](repeating: .userIsFull, count: incoming.count)
    var left = Array(incoming.indices)
    while !left.isEmpty {
      // Looked up anew in each round, as those before may have moved ids.
      let known = try await whoHolds(left, incoming, derived, app)
      var taken = Set<DeviceID>(minimumCapacity: 2 * left.count)
      var round: [Step] = []
      round.reserveCapacity(left.count)
      var later: [Int] = []
      for (at, known) in zip(left, known) {
        // One that shares its id or its token with an earlier one waits for it.
        let isFirst = !taken.contains(known.id) && !taken.contains(derived[at])
        taken.insert(known.id)
        taken.insert(derived[at])
        guard isFirst, convoy?.holds(known.id, derived[at], before: step) != true else {
          later.append(at)
          continue
        }
        round.append(Step(at: at, id: known.id, derived: derived[at], found: known.found, numbers: known.numbers))
      }
      convoy?.claim(taken, for: step, isAll: later.isEmpty)
      try await write(&round, incoming, app, convoy)
      for step in round { results[step.at] = step.result }
      if !later.isEmpty { await convoy?.lead(step) }
      left = later
    }
    return results
  }

  /// The id that each of the devices in `left` has or will have, and what stands under it.
  private func whoHolds(
    _ left: [Int], _ incoming: [Incoming], _ derived: [DeviceID], _ app: AppID
  ) async throws(StoreError) -> [(id: DeviceID, found: FoundDevice?, numbers: [Int])] {
    var known: [(id: DeviceID, found: FoundDevice?, numbers: [Int])] = []
    known.reserveCapacity(left.count)
    for at in left { known.append((incoming[at].device.id, nil, [])) }
    let nameless = known.indices.filter { known[$0].id.rawValue.isEmpty }
    let owners = try await aliased(
      nameless.map { derived[left[$0]] }, nameless.map { incoming[left[$0]].device.address }, app: app)
    for (at, owners) in zip(nameless, owners) {
      known[at].found = owners.max { $0.rank < $1.rank }
      known[at].id = known[at].found?.device.id ?? derived[left[at]]
    }
    let asked = known.indices.filter { known[$0].found == nil }
    for (at, looked) in zip(asked, try await lookUp(asked.map { known[$0].id }, app: app)) {
      (known[at].found, known[at].numbers) = looked
    }
    return known
  }

  /// Distinct ids and tokens.
  private func write(
    _ steps: inout [Step], _ incoming: [Incoming], _ app: AppID, _ convoy: Convoy?
  ) async throws(StoreError) {
    var left = Array(steps.indices)
    for _ in 0..<Self.writeAttempts {
      left = try await attempt(left, &steps, incoming, app, convoy)
      guard !left.isEmpty else { return try await moveTokens(&steps, app) }
      let looked = try await lookUp(left.map { steps[$0].id }, app: app)
      for (at, looked) in zip(left, looked) { (steps[at].found, steps[at].numbers) = looked }
    }
    throw Self.tooBusy
  }

  /// Those that others came between, to be tried again.
  private func attempt(
    _ left: [Int], _ steps: inout [Step], _ incoming: [Incoming], _ app: AppID, _ convoy: Convoy?
  ) async throws(StoreError) -> [Int] {
    let places = try await places(of: left.map { (steps[$0].id, steps[$0].found?.place) }, app)
    let now = loop.wallNow
    var writes: [DeviceWrite] = []
    writes.reserveCapacity(left.count)
    for (at, place) in zip(left, places) {
      let step = steps[at]
      let given = incoming[step.at]
      let old = step.found?.record
      var record = DeviceRecord(
        StoredDevice(device: old.flatMap { given.merge?($0.stored.device) } ?? given.device, tombstone: nil),
        bornAt: old?.bornAt ?? now)
      record.stored.device.id = step.id
      if let old, let user = record.stored.device.user, old.stored.device.user == user {
        record.userVersion = old.userVersion
        record.stored.userTags = old.stored.userTags
        record.isOneOfSeveral = old.isOneOfSeveral
      }
      writes.append(
        DeviceWrite(
          place: place, id: step.id, before: step.found, after: record, expected: step.numbers,
          tellsAliases: step.id == step.derived))
    }
    var (users, full) = try await enter(&writes, app)
    // As there is no room for them, their numbers go back.
    let unused = full.filter { writes[$0].before == nil }.map { places[$0] }
    let writing = full.isEmpty ? Array(writes.indices) : writes.indices.filter { !full.contains($0) }
    // Moved and not copied: a copy of all that is known of thousands of devices takes its time.
    if !full.isEmpty { writes = writing.map { writes[$0] } }
    let intents = try await intend(&writes, app, convoy)
    let written = try await write(writes, app: app)
    var again: [Int] = []
    var refused: [DeviceWrite] = []
    for (index, result) in written.enumerated() {
      let at = writing[index]
      guard case .done(let aliased) = result else {
        again.append(left[at])
        users.forget(places[at])
        guard writes[index].before == nil else { continue }
        if let user = writes[index].user { try await leave([(user, places[at])], app: app) }
        // The number of one that was overtaken is the other's.
        guard case .refused = result else { continue }
        if writes[index].intent == nil { try await giveBack(places[at], app) } else { refused.append(writes[index]) }
        continue
      }
      steps[left[at]].written(writes[index], aliased: aliased)
    }
    try await end(intents, refused: refused, app)
    for place in unused { try await giveBack(place, app) }
    try await settle(users, app)
    return again
  }

  /// Where devices are, or numbers for those that are nowhere.
  func places(of devices: [(id: DeviceID, found: DevicePlace?)], _ app: AppID) async throws(StoreError)
    -> [DevicePlace]
  {
    var new: [Int: [Int]] = [:]
    var places: [DevicePlace] = []
    for (at, device) in devices.enumerated() {
      let home = partition(of: device.id, in: app)
      places.append(device.found ?? DevicePlace(partition: home, number: 0))
      if device.found == nil { new[home, default: []].append(at) }
    }
    let homes = Array(new.keys)
    guard !homes.isEmpty else { return places }
    let rest = max(settings.retentionSeconds, Self.shortestRest)
    let before = loop.wallNow.milliseconds - rest * 1000
    let replies = try await ask(
      Scripts.allocate,
      homes.map { home in
        (
          keys: [keys.lastNumber(home, app), keys.freeNumbers(home, app)],
          arguments: [.number(before), .number(Int64(new[home]?.count ?? 0))]
        )
      })
    for (home, reply) in zip(homes, replies) {
      let numbers = (reply.array ?? []).compactMap { $0.integer.flatMap { UInt32(exactly: $0) }.map { Int($0) } }
      guard let devices = new[home], numbers.count == devices.count else {
        throw .unavailable("Redis gave no numbers for devices", retryAfter: 1)
      }
      for (at, number) in zip(devices, numbers) { places[at].number = number }
    }
    return places
  }

}
