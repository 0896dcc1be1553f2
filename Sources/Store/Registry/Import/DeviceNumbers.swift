import Domain
import Loop
import RedisClient
import TLS

/// Devices of one partition that are written together.
struct DevicePart {
  let partition: Int
  /// Where they stand in the list that was given.
  fileprivate(set) var devices: [Int] = []
  /// Of those the ones that get numbers.
  fileprivate(set) var new: [Int] = []
  /// Of an import that has new devices here, or devices that change their user.
  fileprivate(set) var intent: OpenIntent?
  var writes: [DeviceWrite] = []
}

/// A device that is about to be written.
struct DeviceToPlace {
  var id: DeviceID
  /// Where it is already.
  var found: DevicePlace?
  /// Whom it comes to, and whom it leaves; none if it stays.
  var users: [String]
}

/// Gives out the numbers that devices have in their partitions, and takes them back. Holds nothing but its session, on whose
/// loop it is used. A number that is lost on the way is found by `RegistryCheck`.
struct DeviceNumbers: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Where devices are, or numbers for those that are nowhere; and in which parts they are written. `intends`: what is about to happen
  /// is written down with the numbers. Where it is not, only `reindex` finds the numbers of a process that dies before it writes records.
  func places(
    of devices: [DeviceToPlace], _ app: AppID, intends: Bool
  ) async throws(StoreError) -> (places: [DevicePlace], parts: [DevicePart]) {
    var places: [DevicePlace] = []
    places.reserveCapacity(devices.count)
    var parts: [DevicePart] = []
    var intents: [Intent] = []
    var open: [Int: Int] = [:]
    for (at, device) in devices.enumerated() {
      let home = device.found?.partition ?? session.partition(of: device.id, in: app)
      places.append(device.found ?? DevicePlace(partition: home, number: 0))
      var part = open[home] ?? parts.count
      if part == parts.count || parts[part].devices.count == Self.itemsPerPart {
        part = parts.count
        parts.append(DevicePart(partition: home))
        intents.append(Intent())
        open[home] = part
      }
      parts[part].devices.append(at)
      if device.found == nil { parts[part].new.append(at) }
      guard intends, device.found == nil || !device.users.isEmpty else { continue }
      let hash = IndexPlace(device.id, app, keys).hash
      let subject = Intent.Subject(number: places[at].number, hash: hash, users: device.users)
      if device.found == nil { intents[part].newcomers.append(subject) } else { intents[part].moving.append(subject) }
    }
    let asking = parts.indices.filter { !parts[$0].new.isEmpty || !intents[$0].moving.isEmpty }
    guard !asking.isEmpty else { return (places, parts) }
    let names = asking.map { _ in IntentName(app: app, begun: loop.wallNow, random: SecureRandom.word()) }
    let own = Set(names)
    let replies = try await allocate(
      asking.map { (parts[$0].partition, parts[$0].new.count) }, intends ? asking.map { intents[$0] } : [], names, app)
    for (part, (name, reply)) in zip(asking, zip(names, replies)) {
      let new = parts[part].new
      let numbers = reply.prefix(new.count).compactMap { $0.integer.flatMap { UInt32(exactly: $0) }.map { Int($0) } }
      guard numbers.count == new.count else {
        throw .unavailable("Redis gave no numbers for devices", retryAfter: 1)
      }
      for (at, number) in zip(new, numbers) { places[at].number = number }
      guard intends else { continue }
      for at in numbers.indices { intents[part].newcomers[at].number = numbers[at] }
      let others = reply.dropFirst(new.count).compactMap { $0.text.flatMap(IntentName.init(raw:)) }
      parts[part].intent = OpenIntent(
        name: name, partition: parts[part].partition, intents[part],
        others: others.filter { $0.app == app && !own.contains($0) })
    }
    return (places, parts)
  }

  /// Numbers in partitions, and with intents, one for each, behind them the fields of those that are there already.
  private func allocate(
    _ wanted: [(partition: Int, count: Int)], _ intents: [Intent], _ names: [IntentName], _ app: AppID
  ) async throws(StoreError) -> [[RedisReply]] {
    let rest = max(settings.retentionSeconds, CapCounts.shortestRest)
    let before = loop.wallNow.milliseconds - rest * 1000
    var next = wanted.indices.makeIterator()
    return try await ask(Scripts.allocate) {
      guard let at = next.next() else { return nil }
      let (partition, count) = wanted[at]
      var run = ScriptRun(
        keys: [keys.lastNumber(partition, app), keys.freeNumbers(partition, app)],
        [.number(before), .number(Int64(count))])
      if !intents.isEmpty {
        run.keys.append(keys.intents(partition))
        run.arguments.append(names[at].raw)
        let (head, tail) = intents[at].packedAroundNumbers
        run.arguments.append(head)
        run.arguments.append(tail)
      }
      return run
    }.map { $0.array ?? [] }
  }

  /// A number that no record ever had may be used again at once.
  func release(_ place: DevicePlace, _ app: AppID) async throws(StoreError) {
    _ = try await ask(
      Scripts.free,
      keys: [keys.freeNumbers(place.partition, app), keys.record(place.partition, app, place.number)],
      [.number(Int64(place.number)), 0], partition: place.partition)
  }
}
