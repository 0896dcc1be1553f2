import Domain
import RedisClient

/// Users that devices were entered for: what their entries said when they were.
struct JoinedUsers {
  /// The last one counts: it names the devices before it as well.
  fileprivate var entries: [ExactText: UserEntry] = [:]
  fileprivate var places = Set<DevicePlace>()
  /// Devices of these users that were buried meanwhile, and the versions of the tags that they hold.
  fileprivate var buried: [DevicePlace: Int] = [:]
  /// By partition of users: its edition before, and what this has changed in it.
  fileprivate var editions: [Int: (before: Int64, own: Int64)] = [:]

  func entry(of user: String) -> UserEntry? { entries[ExactText(user)] }

  /// This device was not written after all.
  mutating func forget(_ place: DevicePlace) { places.remove(place) }

  /// These know already that their users have several.
  mutating func know(_ buried: [DevicePlace: Int]) { self.buried.merge(buried) { $1 } }

  /// Its devices were written with what it says.
  fileprivate func haveAll(of entry: UserEntry) -> Bool {
    entry.places.allSatisfy { places.contains($0) || (buried[$0].map { entry.version <= $0 } ?? false) }
  }

  fileprivate mutating func told(_ partition: Int, _ before: Int64, _ after: Int64) {
    let known = editions[partition] ?? (before, 0)
    // A damaged count may be as large as can be: it must fit nothing, and end nothing.
    editions[partition] = (min(known.before, before), known.own &+ (after &- before))
  }
}

extension UserIndex {
  /// Enters devices for their users. The entry comes before the record and may name too many; readers compare with the record.
  /// Also answers the places of those whose user has too many devices.
  func enter(_ joins: [(user: String, place: DevicePlace)], _ app: AppID) async throws(StoreError) -> (
    users: JoinedUsers, full: Set<DevicePlace>
  ) {
    var users = JoinedUsers()
    var full = Set<DevicePlace>()
    guard !joins.isEmpty else { return (users, full) }
    let entries = try await join(joins, app: app) { users.told($0, $1, $2) }
    users.entries.reserveCapacity(joins.count)
    users.places.reserveCapacity(joins.count)
    for (join, entry) in zip(joins, entries) {
      guard let entry else {
        full.insert(join.place)
        continue
      }
      users.entries[ExactText(join.user)] = entry
      users.places.insert(join.place)
    }
    return (users, full)
  }

  /// Users whose entries changed meanwhile, or who have other devices as well, which must know of each other.
  func settle(_ users: JoinedUsers, _ app: AppID) async throws(StoreError) {
    guard !users.entries.isEmpty else { return }
    let changed = try await crossed(users, app)
    var moved: [String] = []
    for (user, entry) in users.entries
    where changed.contains(user) || !users.haveAll(of: entry) {
      moved.append(user.text)
    }
    guard !moved.isEmpty else { return }
    // A repair of the registry took a device for one that was left behind.
    var lost: [(user: String, place: DevicePlace)] = []
    for (user, entry) in zip(moved, try await entries(ofUsers: moved, app: app)) {
      for place in users.entries[ExactText(user)]?.places ?? [] where users.places.contains(place) {
        if !entry.places.contains(place) { lost.append((user, place)) }
      }
    }
    if !lost.isEmpty { _ = try await join(lost, app: app) }
    try await settle(moved, app: app)
  }

  /// Users whose entries are other ones by now. Where nobody else has changed any of a partition's, none is looked at.
  private func crossed(_ users: JoinedUsers, _ app: AppID) async throws(StoreError) -> Set<ExactText> {
    let partitions = Array(users.editions.keys)
    let editions = try await ask(partitions.map { RedisCommand("GET", keys.userEdition($0, app)) })
    var restless = Set<Int>()
    for (partition, edition) in zip(partitions, editions) {
      let known = users.editions[partition].map { $0.before &+ $0.own }
      if known != edition.integer ?? 0 { restless.insert(partition) }
    }
    guard !restless.isEmpty else { return [] }
    let joined = users.entries.map { ($0.key.text, $0.value) }
    let homes = joined.map { keys.user(app, $0.0) }
    let asked = joined.indices.filter { restless.contains(homes[$0].partition) }
    let replies = try await askBatched(Scripts.crossed, asked.map { homes[$0].partition }) { chunk in
      var run = ScriptRun()
      for at in chunk {
        run.keys.append(homes[asked[at]].key)
        run.arguments.append(joined[asked[at]].0)
        run.arguments.append(joined[asked[at]].1.head)
      }
      return run
    }
    return Set(zip(asked, replies).filter { $1.integer == 1 }.map { ExactText(joined[$0.0].0) })
  }
}
