package import Domain
import Loop
import RedisClient

/// Devices on their way into the registry.
private struct Incoming {
  var devices: [Device]
  /// What they become on top of what is known, where that counts.
  var merge: ((_ at: Int, _ known: Device) -> Device?)?
  var isImport: Bool { devices.count > 1 }
}

/// Registers, reads, changes and removes devices. What a caller was not told of a registration stands in the session; used
/// on its loop. Devices of one call are not stored at one moment.
package struct DeviceRegistry: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Devices that one step of an import looks up and writes together: the more, the fewer changes of sets.
  static let usualStep = 10_000

  /// Registers or replaces a device (decision 0051; it can be repeated).
  /// `device.id` empty: by token, under the id that already holds it, or the derived one; the result tells which. `merging`
  /// gets what is known of the device at the moment of writing; without it the registration replaces that. Where it gives
  /// nil, nothing is changed (`PutResult.leftAlone`).
  package func put(
    _ device: Device, app: AppID, merging: ((_ known: Device) -> Device?)? = nil
  ) async throws(StoreError) -> PutResult {
    try session.checkCondition()
    let incoming = Incoming(devices: [device], merge: merging.map { merge in { merge($1) } })
    return try await put(incoming, since: loop.wallNow, app: app)[0]
  }

  /// Registers many, in order: what comes later wins. After an error some are stored; repeating all is safe. `merging`
  /// gets the index of a device and what is known of it at the moment of writing.
  package func put(
    _ devices: [Device], app: AppID, merging: ((_ at: Int, _ known: Device) -> Device?)? = nil
  ) async throws(StoreError) -> [PutResult] {
    let count = (devices.count + session.registry.devicesPerStep - 1) / session.registry.devicesPerStep
    let size = (devices.count + count - 1) / max(1, count)
    let began = loop.wallNow
    var results: [PutResult] = []
    results.reserveCapacity(devices.count)
    for start in stride(from: 0, to: devices.count, by: max(1, size)) {
      try session.checkCondition()
      let step = count == 1 ? devices : Array(devices[start..<min(devices.count, start + size)])
      let merge = merging.map { merge in { (at: Int, known: Device) in merge(start + at, known) } }
      results += try await put(Incoming(devices: step, merge: merge), behind: results, since: began, app: app)
    }
    return results
  }

  /// `earlier`: of the same request. Nobody is told of these either if this fails.
  private func put(
    _ incoming: Incoming, behind earlier: [PutResult] = [], since began: WallTime, app: AppID
  ) async throws(StoreError) -> [PutResult] {
    var steps: [Step] = []
    do throws(StoreError) {
      let results = try await put(incoming, &steps, since: began, app: app)
      await loop.letGo(of: &steps)
      return results
    } catch {
      for case .stored(let id, let registration) in earlier {
        session.registry.untold.keep(
          Untold.Registered(registration: registration, since: began), of: id, app, now: loop.now)
      }
      for step in steps {
        session.registry.untold.keep(
          Untold.Registered(registration: step.registration, since: step.since), of: step.id, app, now: loop.now)
      }
      throw error
    }
  }

  private func put(
    _ incoming: Incoming, _ steps: inout [Step], since began: WallTime, app: AppID
  ) async throws(StoreError) -> [PutResult] {
    let derived = await derivedIDs(of: incoming.devices, app)
    var results = [PutResult](repeating: .userIsFull, count: derived.count)
    var left = Array(derived.indices)
    while !left.isEmpty {
      // Looked up anew in each round, as those before may have moved ids.
      let holders = try await holders(left, incoming.devices, derived, app)
      var taken = Set<DeviceID>(minimumCapacity: 2 * left.count)
      var round: [Step] = []
      round.reserveCapacity(left.count)
      var later: [Int] = []
      for (at, asked) in zip(left, holders.asked) {
        let holder = holders.all[asked]
        // One that shares its id or its token with an earlier one waits for it.
        let hasID = taken.insert(holder.id).inserted
        let hasToken = derived[at] == holder.id || taken.insert(derived[at]).inserted
        guard hasID, hasToken else {
          later.append(at)
          continue
        }
        round.append(
          Step(
            at: at, id: holder.id, derived: derived[at], found: holder.found, numbers: holder.numbers,
            untold: session.registry.untold.take(holder.id, app, now: loop.now), now: began))
      }
      steps += round
      try await write(round, incoming, app)
      for at in round.indices { results[round[at].at] = round[at].result }
      await loop.giveWay()
      left = later
    }
    return results
  }

  private func derivedIDs(of devices: [Device], _ app: AppID) async -> [DeviceID] {
    var derived: [DeviceID] = []
    derived.reserveCapacity(devices.count)
    for at in devices.indices {
      await loop.giveWay()
      derived.append(DeviceID.derived(of: devices[at].address, in: app))
    }
    return derived
  }

  /// The id that a device has or will have, and what stands under it.
  private struct Holder {
    var id = DeviceID(rawValue: "")
    var found: FoundDevice?
    var numbers: [Int] = []
  }

  /// Who holds the ids or tokens of the devices in `left`, and for each of those which one it is: several may ask for the same.
  private func holders(
    _ left: [Int], _ devices: [Device], _ derived: [DeviceID], _ app: AppID
  ) async throws(StoreError) -> (all: [Holder], asked: [Int]) {
    var byID: [DeviceID: Int] = [:]
    var byToken: [DeviceID: Int] = [:]
    var first: [Int] = []
    first.reserveCapacity(left.count)
    let asked = left.map { at in
      func ask(_ place: inout Int) -> Int {
        if place == first.count { first.append(at) }
        return place
      }
      let (id, next) = (devices[at].id, first.count)
      return id.rawValue.isEmpty ? ask(&byToken[derived[at], default: next]) : ask(&byID[id, default: next])
    }
    var all = [Holder](repeating: Holder(), count: first.count)
    let firsts = first
    try await inParts(of: all.count) { part async throws(StoreError) in
      let found = try await self.holders(of: Array(firsts[part]), devices, derived, app)
      for (at, holder) in zip(part, found) { all[at] = holder }
    }
    return (all, asked)
  }

  private func holders(
    of some: [Int], _ devices: [Device], _ derived: [DeviceID], _ app: AppID
  ) async throws(StoreError) -> [Holder] {
    var holders = some.map { Holder(id: devices[$0].id) }
    let nameless = some.indices.filter { holders[$0].id.rawValue.isEmpty }
    for at in nameless { holders[at].id = derived[some[at]] }
    let aliases = nameless.map { TokenOwners(session).alias(holders[$0].id, app) }
    let index = holders.map { IndexPlace($0.id, app, keys) }
    // Both at once: most tokens have no alias.
    let held = try await read(
      aliases.map { ($0.partition, $0.key) } + index.map { ($0.partition, keys.index($0.partition, app, $0.bucket)) })
    let owners = try await TokenOwners(session).aliased(
      aliases, Array(held.prefix(aliases.count)), nameless.map { devices[some[$0]].address }, app: app)
    for (at, owners) in zip(nameless, owners) {
      guard let found = owners.max(by: { $0.rank < $1.rank }) else { continue }
      holders[at] = Holder(id: found.device.id, found: found)
    }
    // Beside a dead device that the alias names one may live under the token's own id.
    let open = holders.indices.filter { !(holders[$0].found?.record.isLiving ?? false) }
    let ids = open.map { devices[some[$0]].id.rawValue.isEmpty ? derived[some[$0]] : devices[some[$0]].id }
    let looked = try await DeviceRecords(session).lookUp(
      ids, at: open.map { index[$0] }, held: open.map { held[aliases.count + $0] }, app: app)
    for ((at, id), looked) in zip(zip(open, ids), looked) {
      if let known = holders[at].found {
        guard let found = looked.found, found.device.address.holdsSameToken(as: known.device.address),
          known.rank.0 < found.rank.0
        else { continue }
      }
      holders[at] = Holder(id: id, found: looked.found, numbers: looked.numbers)
    }
    return holders
  }

  /// Distinct ids and tokens.
  private func write(_ steps: [Step], _ incoming: Incoming, _ app: AppID) async throws(StoreError) {
    var left = Array(steps.indices)
    for _ in 0..<DeviceRecords.writeAttempts {
      left = try await attempt(left, steps, incoming, app)
      guard !left.isEmpty else { return }
      let looked = try await DeviceRecords(session).lookUp(left.map { steps[$0].id }, app: app)
      for (at, looked) in zip(left, looked) { steps[at].refused(looked.found, looked.numbers) }
    }
    throw DeviceRecords.tooBusy
  }

  /// What is to be written, with places of its own and entered for its users.
  private func prepare(
    _ left: [Int], _ steps: [Step], _ incoming: Incoming, _ app: AppID
  ) async throws(StoreError) -> (parts: [DevicePart], users: JoinedUsers) {
    var placings: [DeviceToPlace] = []
    placings.reserveCapacity(left.count)
    for step in left.map({ steps[$0] }) {
      await loop.giveWay()
      let users = step.users(besides: incoming.devices[step.at].user)
      placings.append(DeviceToPlace(id: step.id, found: step.found?.place, users: users))
    }
    var (places, parts) = try await DeviceNumbers(session).places(of: placings, app, intends: incoming.isImport)
    var devices = incoming.devices
    if let merge = incoming.merge {
      for step in left.map({ steps[$0] }) {
        guard let known = step.found?.device else { continue }
        await loop.giveWay()
        let merged = merge(step.at, known)
        step.isLeftAlone = merged == nil
        if let merged { devices[step.at] = merged }
      }
    }
    var joins: [(user: String, place: DevicePlace)] = []
    joins.reserveCapacity(left.count)
    for (at, place) in zip(left, places) where !steps[at].isLeftAlone {
      if let user = devices[steps[at].at].user { joins.append((user, place)) }
    }
    var (users, full) = try await UserIndex(session).enter(joins, app)
    let others = parts.compactMap(\.intent).filter(\.hasOthers)
    if !full.isEmpty, !others.isEmpty {
      // What makes their entries too long may be the very devices, from an import that was cut off.
      for intent in others { try await ImportIntents(session).takeOver(besides: intent) }
      (users, full) = try await UserIndex(session).enter(joins, app)
    }
    for part in parts.indices {
      for at in parts[part].devices where !full.contains(places[at]) && !steps[left[at]].isLeftAlone {
        await loop.giveWay()
        let device = devices[steps[left[at]].at]
        parts[part].writes.append(write(device, left[at], steps, at: places[at], users, under: parts[part].intent))
      }
    }
    if !incoming.isImport {
      // As there is no room for it, its number goes back. Those of an import go with its intents.
      for (at, place) in zip(left, places) where full.contains(place) && steps[at].found == nil {
        try await DeviceNumbers(session).release(place, app)
      }
    }
    return (parts, users)
  }

  private func write(
    _ device: Device, _ at: Int, _ steps: [Step], at place: DevicePlace, _ users: JoinedUsers,
    under intent: OpenIntent?
  ) -> DeviceWrite {
    let step = steps[at]
    let old = step.found?.record
    var record = DeviceRecord(StoredDevice(device: device, tombstone: nil), bornAt: old?.bornAt ?? loop.wallNow)
    record.stored.device.id = step.id
    if let known = old?.stored.device, known.address.holdsSameToken(as: record.stored.device.address) {
      // An import may tell of an earlier registration: the later one goes on to keep the token from older verdicts.
      record.stored.device.registeredAt = max(known.registeredAt, record.stored.device.registeredAt)
    }
    let way = step.way(to: record)
    if way == .arrives { record.mark = step.mark }
    if let user = record.stored.device.user {
      if let old, old.stored.device.isOf(user) {
        record.userVersion = old.userVersion
        record.stored.userTags = old.stored.userTags
        record.isOneOfSeveral = old.isOneOfSeveral
      }
      if let entry = users.entry(of: user) { record.take(entry) }
    }
    return DeviceWrite(
      place: place, id: step.id, before: step.found, after: record, expected: step.numbers, derived: step.derived,
      way: way, step: at, under: intent)
  }

  /// Those that others came between, or the sweep, to be tried again.
  private func attempt(
    _ left: [Int], _ steps: [Step], _ incoming: Incoming, _ app: AppID
  ) async throws(StoreError) -> [Int] {
    let (parts, joined) = try await prepare(left, steps, incoming, app)
    try await TokenOwners(session).claimTokens(parts.lazy.flatMap(\.writes), steps, app)
    try await ImportIntents(session).foresee(parts, app)
    var refused: [DeviceWrite] = []
    var written = [[DeviceWrite.Result]?](repeating: nil, count: parts.count)
    // The next part begins when the records of one are there: what is left to do for them waits, or Redis would.
    var failure: StoreError?
    do throws(StoreError) {
      try await abreast(parts.count) { at async throws(StoreError) in
        written[at] = try await self.write(parts[at], app)
      }
    } catch {
      failure = error
    }
    // What was written before another part failed is brought to its end as well.
    try await abreast(parts.count) { at async throws(StoreError) in
      guard let results = written[at] else { return }
      let writes = parts[at].writes
      let lost = zip(writes, results).filter { $0.isNew && !$1.isDone }.map(\.0)
      try await UserIndex(session).leave(lost.compactMap { write in write.user.map { ($0, write.place) } }, app: app)
      let pointed = try await TokenOwners(session).pointTokens(of: writes, results, steps, app: app)
      for place in results.indices {
        let write = writes[place]
        if case .done(let aliased) = results[place] {
          steps[write.step].written(write, aliased, pointed[place])
        } else {
          refused.append(write)
        }
      }
    }
    let done = parts.flatMap(\.writes).map { steps[$0.step] }.filter(\.isWritten)
    await loop.giveWay()
    let unpointed = try await TokenOwners(session).moveTokens(done, app)
    await loop.giveWay()
    var users = joined
    for step in done where !step.buried.isEmpty {
      await loop.giveWay()
      users.know(step.buried)
    }
    for write in refused { users.forget(write.place) }
    for at in parts.indices where written[at] == nil { for write in parts[at].writes { users.forget(write.place) } }
    let settled = users
    try await abreast(2) { at async throws(StoreError) in
      if at == 0 {
        try await TokenOwners(session).unpoint(unpointed, app: app)
      } else {
        try await UserIndex(session).settle(settled, app)
      }
    }
    try await TokenOwners(session).leaveUsers(done, app)
    // Intents stand to the end, so that whoever finds one settles what is left. Those of parts that failed are left to that.
    try await abreast(parts.count) { at async throws(StoreError) in
      if let results = written[at] { try await self.end(parts[at], results, app) }
    }
    if let failure { throw failure }
    return refused.map(\.step) + parts.flatMap(\.writes).map(\.step).filter { steps[$0].isSweptAside }
  }

  /// Devices of one partition; many that are new enter their sets first.
  private func write(_ part: DevicePart, _ app: AppID) async throws(StoreError) -> [DeviceWrite.Result] {
    if let intent = part.intent { try await ImportIntents(session).intend(part.writes, under: intent, app) }
    let results = try await DeviceRecords(session).write(part.writes, app: app)
    for entering in part.intent?.entering ?? [] { _ = try await replies(entering) }
    return results
  }

  /// The numbers of new devices that got no records are free again, and the intent goes.
  private func end(_ part: DevicePart, _ results: [DeviceWrite.Result], _ app: AppID) async throws(StoreError) {
    let new = zip(part.writes, results).filter { $0.0.isNew }
    if let intent = part.intent {
      return try await ImportIntents(session).end(intent, stored: Set(new.filter { $0.1.isDone }.map(\.0.place.number)))
    }
    for (write, result) in new where !result.isDone { try await DeviceNumbers(session).release(write.place, app) }
  }
}
