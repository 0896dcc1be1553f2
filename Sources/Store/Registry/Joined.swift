import Domain
import RedisClient

/// Users that devices were entered for: what their entries said when they were.
struct JoinedUsers {
  /// The last one counts: it names the devices before it as well.
  fileprivate var entries: [ExactText: UserEntry] = [:]
  fileprivate var places = Set<DevicePlace>()

  /// This device was not written after all.
  mutating func forget(_ place: DevicePlace) { places.remove(place) }
}

extension Store {
  /// Enters devices for their users, and gives their records what the users' entries say. The entry comes before the record and
  /// may name too many; readers compare with the record. Also answers the places in `writes` of those whose user has too
  /// many devices.
  func enter(_ writes: inout [DeviceWrite], _ app: AppID) async throws(StoreError) -> (
    users: JoinedUsers, full: Set<Int>
  ) {
    var users = JoinedUsers()
    var full = Set<Int>()
    var joins: [(user: String, place: DevicePlace)] = []
    var joining: [Int] = []
    for at in writes.indices {
      guard let user = writes[at].user else { continue }
      joins.append((user, writes[at].place))
      joining.append(at)
    }
    let entries = try await join(joins, app: app)
    for ((at, join), entry) in zip(zip(joining, joins), entries) {
      guard let entry else {
        full.insert(at)
        continue
      }
      users.entries[ExactText(join.user)] = entry
      users.places.insert(join.place)
    }
    for (at, join) in zip(joining, joins) {
      if let entry = users.entries[ExactText(join.user)] { writes[at].after?.take(entry) }
    }
    return (users, full)
  }

  /// Users whose entries changed meanwhile, or who have other devices as well, which must know of each other.
  func settle(_ users: JoinedUsers, _ app: AppID) async throws(StoreError) {
    let joined = users.entries.map { ($0.key.text, $0.value) }
    let homes = joined.map { keys.user(app, $0.0) }
    var moved: [String] = []
    var runs: [ScriptRun] = []
    var asked: [[Int]] = []
    for (_, some) in Dictionary(grouping: joined.indices, by: { homes[$0].partition }) {
      for start in stride(from: 0, to: some.count, by: Self.usersPerScript) {
        let chunk = Array(some[start..<min(some.count, start + Self.usersPerScript)])
        var run = ScriptRun()
        for at in chunk {
          run.keys.append(homes[at].key)
          run.arguments.append(joined[at].0)
          run.arguments.append(joined[at].1.head)
        }
        runs.append(run)
        asked.append(chunk)
      }
    }
    var changed = Set<Int>()
    for (chunk, reply) in zip(asked, try await ask(Scripts.crossed, runs)) {
      for place in reply.array ?? [] { if let place = place.integer { changed.insert(chunk[Int(place) - 1]) } }
    }
    for (at, user) in joined.enumerated() where changed.contains(at) || !users.places.isSuperset(of: user.1.places) {
      moved.append(user.0)
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
  private static let usersPerScript = 100
}
