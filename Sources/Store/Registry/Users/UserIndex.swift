package import Domain
import RedisClient

/// What is kept of a user beside its devices' records.
struct UserEntry: Hashable {
  /// Of the tags; 0: none were ever set.
  var version = 0
  /// Where its devices are. May name too many; the records tell.
  var places: [DevicePlace] = []
  var tags: [String] = []
  var packedTags: [UInt8] = []
  /// Version and places, as they are stored.
  var head: [UInt8] {
    var head: [UInt8] = []
    head.reserveCapacity(Self.firstPlace + places.count * DevicePlace.rawLength)
    append(to: &head)
    return head
  }
  private static let firstPlace = 6
  /// Of a user with one device and no tags.
  static let shortestLength = firstPlace + DevicePlace.rawLength
  func append(to head: inout [UInt8]) {
    head.append32(version)
    head.append16(places.count)
    for place in places { place.append(to: &head) }
  }

  init() {}
  /// Of a user without tags who has this device.
  init(only place: DevicePlace) {
    places = [place]
  }
  init(packed: [UInt8]) {
    guard packed.count >= Self.firstPlace else { return }
    version = from32(packed[..<4])
    let end = Self.firstPlace + from32(packed[4..<6]) * DevicePlace.rawLength
    guard end <= packed.count else { return }
    places = DevicePlace.list(Array(packed[Self.firstPlace..<end]))
    guard packed.count > end else { return }
    packedTags = Array(packed[end...])
    tags = (try? Self.unpack(packedTags)) ?? []
  }

  static func pack(_ tags: [String]) -> [UInt8] {
    var packer = Packer()
    for tag in tags { packer.text(tag) }
    return packer.bytes
  }
  private static func unpack(_ packed: [UInt8]) throws(Corrupt) -> [String] {
    var tags: [String] = []
    var reader = Unpacker(packed)
    while !reader.isAtEnd { tags.append(try reader.text()) }
    return tags
  }
}

/// A user as clients see it.
package struct StoredUser: Hashable, Sendable {
  package var tags: [String]
  package var devices: [StoredDevice]
}

/// Which devices a user has, and the tags of users. Holds nothing but its session, on whose loop it is used. An entry may
/// be out of date; the record of the device tells.
package struct UserIndex: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  func entries(ofUsers users: [String], app: AppID) async throws(StoreError) -> [UserEntry] {
    let replies = try await ask(users.map { RedisCommand("HGET", keys.user(app, $0).key, $0) })
    return replies.map { $0.bytes.map(UserEntry.init(packed:)) ?? UserEntry() }
  }

  /// The entries of users after these devices were noted; nil where a user has too many already. `told` is called for each
  /// partition of users, maybe more than once, with its edition before and after.
  func join(
    _ joins: [(user: String, place: DevicePlace)], app: AppID,
    told: @escaping (_ partition: Int, _ before: Int64, _ after: Int64) -> Void = { _, _, _ in }
  ) async throws(StoreError) -> [UserEntry?] {
    let homes = joins.map { keys.user(app, $0.user) }
    func tell(_ partition: Int, _ editions: [RedisReply]) {
      if editions.count == 2, let before = editions[0].integer, let after = editions[1].integer {
        told(partition, before, after)
      }
    }
    let replies = try await askBatched(Scripts.join, homes.map(\.partition), rest: tell) { [keys, settings] chunk in
      var run = ScriptRun()
      run.keys.append(keys.userEdition(homes[chunk[0]].partition, app))
      run.arguments.append(settings.devicesPerUser)
      for at in chunk {
        run.keys.append(homes[at].key)
        run.arguments.append(joins[at].user)
        run.arguments.append(length: UserEntry.shortestLength, UserEntry(only: joins[at].place).append)
      }
      return run
    }
    return zip(joins, replies).map { join, reply in
      reply == .integer(1) ? UserEntry(only: join.place) : reply.bytes.map(UserEntry.init(packed:))
    }
  }

  func leave(_ leaves: [(user: String, place: DevicePlace)], app: AppID) async throws(StoreError) {
    _ = try await ask(
      Scripts.leave,
      leaves.map { user, place in
        let home = keys.user(app, user)
        return (
          keys: [keys.userEdition(home.partition, app), home.key], arguments: [.text(user), .bytes(place.raw)]
        )
      })
  }

  /// Users whose devices are brought to what their entries say together.
  private static let settledAtOnce = 512

  /// Brings the records of users' devices to what their users' entries say. A record takes only newer tags, so that
  /// repeated and crossing calls end alike.
  func settle(_ users: [String], app: AppID) async throws(StoreError) {
    try await inParts(of: users.count, each: Self.settledAtOnce) { part async throws(StoreError) in
      var left = Array(users[part])
      var attempts = 0
      while !left.isEmpty {
        guard attempts < DeviceRecords.writeAttempts else { throw DeviceRecords.tooBusy }
        left = try await self.settleOnce(left, app)
        attempts += 1
      }
    }
  }

  /// Those of `users` one of whose devices was changed meanwhile.
  private func settleOnce(_ users: [String], _ app: AppID) async throws(StoreError) -> [String] {
    let entries = try await entries(ofUsers: users, app: app)
    let found = try await DeviceRecords(session).records(entries.flatMap(\.places), app: app)
    var at = 0
    var writes: [(user: String, write: DeviceWrite)] = []
    var taken = Set<DevicePlace>()
    for (user, entry) in zip(users, entries) {
      for record in found[at..<at + entry.places.count] {
        guard let record, record.device.isOf(user), record.record.takes(entry), taken.insert(record.place).inserted
        else { continue }
        var after = record.record
        after.take(entry)
        writes.append((user, DeviceWrite(place: record.place, id: record.device.id, before: record, after: after)))
      }
      at += entry.places.count
    }
    guard !writes.isEmpty else { return [] }
    let results = try await DeviceRecords(session).write(writes.map(\.write), app: app)
    return Set(zip(writes, results).filter { !$1.isDone }.map { ExactText($0.0.user) }).map(\.text)
  }

  // MARK: Reading

  /// Users whose entries are read before their devices are counted.
  private static let usersPerStep = 100

  /// Sorted by id, pruned ones with their tombstones. A user without devices has an empty list.
  package func devices(ofUser user: String, app: AppID) async throws(StoreError) -> [StoredDevice] {
    try await devices(ofUsers: [user], app: app)?.first ?? []
  }

  /// By user, in order; a user's devices by id. Nil, and no device was read, where the users' entries name more than
  /// `maximum`.
  package func devices(
    ofUsers users: [String], app: AppID, atMost maximum: Int = .max
  ) async throws(StoreError) -> [[StoredDevice]]? {
    var entries: [UserEntry] = []
    var named = 0
    for start in stride(from: 0, to: users.count, by: Self.usersPerStep) {
      let step = Array(users[start..<min(users.count, start + Self.usersPerStep)])
      entries += try await self.entries(ofUsers: step, app: app)
      named += entries[start...].reduce(0) { $0 + $1.places.count }
      guard named <= maximum else { return nil }
    }
    let found = try await DeviceRecords(session).records(entries.flatMap(\.places), app: app)
    var at = 0
    return zip(users, entries).map { user, entry in
      defer { at += entry.places.count }
      return found[at..<at + entry.places.count].compactMap { $0?.record.visible }.filter { $0.device.isOf(user) }
        .sorted { $0.device.id.rawValue < $1.device.id.rawValue }
    }
  }

  /// Nil if nothing is kept of it.
  package func user(_ user: String, app: AppID) async throws(StoreError) -> StoredUser? {
    let entry = try await entries(ofUsers: [user], app: app)[0]
    let devices = try await devices(ofUser: user, app: app)
    return devices.isEmpty && entry.tags.isEmpty ? nil : StoredUser(tags: entry.tags, devices: devices)
  }

  // MARK: Writing

  /// Tags on all devices of a user, also those registered later. Worth repeating after an error: it ends the same.
  package func changeTags(ofUser user: String, _ change: TagChange, app: AppID) async throws(StoreError)
    -> TagChange.Result
  {
    try session.checkCondition()
    let home = keys.user(app, user)
    for _ in 0..<DeviceRecords.writeAttempts {
      let entry = try await entries(ofUsers: [user], app: app)[0]
      let tags = change.applied(to: entry.tags)
      guard tags.count <= Tag.maximumPerDevice else { return .tooMany(tags.count) }
      let reply = try await ask(
        Scripts.tagUser, keys: [keys.userEdition(home.partition, app), home.key],
        [.text(user), .bytes(entry.packedTags), .bytes(UserEntry.pack(tags))])
      guard reply.integer == 1 else { continue }
      try await settle([user], app: app)
      return .changed(tags)
    }
    throw DeviceRecords.tooBusy
  }

  /// Deletes all devices and tags of a user; returns how many devices. Repeating it is harmless.
  package func remove(_ user: String, app: AppID) async throws(StoreError) -> Int {
    var removed = 0
    let home = keys.user(app, user)
    for _ in 0..<DeviceRecords.writeAttempts {
      let entry = try await entries(ofUsers: [user], app: app)[0]
      if !entry.packedTags.isEmpty {
        _ = try await ask(
          Scripts.tagUser, keys: [keys.userEdition(home.partition, app), home.key],
          [.text(user), .bytes(entry.packedTags), ""])
      }
      let found = try await DeviceRecords(session).records(entry.places, app: app)
      for (place, record) in zip(entry.places, found) {
        if let record, record.device.isOf(user) {
          if try await DeviceRegistry(session).removeDevice(record.device.id, app: app) { removed += 1 }
        } else if record == nil {
          try await leave([(user, place)], app: app)
        }
      }
      let left = try await entries(ofUsers: [user], app: app)[0]
      // A device that is just being registered may come again; then so does this loop.
      if left.places.isEmpty && left.tags.isEmpty { return removed }
      if !found.contains(where: { $0?.device.isOf(user) ?? false }) && left.tags.isEmpty { return removed }
    }
    return removed
  }
}

extension DeviceRecord {
  /// True if the user's entry says something newer.
  func takes(_ entry: UserEntry) -> Bool {
    entry.version > userVersion || (entry.places.count > 1 && !isOneOfSeveral)
  }
  mutating func take(_ entry: UserEntry) {
    if entry.version >= userVersion {
      userVersion = entry.version
      stored.userTags = entry.tags
    }
    if entry.places.count > 1 { isOneOfSeveral = true }
  }
}

extension Device {
  func isOf(_ user: String) -> Bool { self.user.map { ExactText($0) == ExactText(user) } ?? false }
}
