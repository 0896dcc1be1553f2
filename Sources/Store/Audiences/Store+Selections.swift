import Audience
package import Domain
import RedisClient

/// The members of a selection within one block.
private struct BlockMembers {
  var words: [UInt64]
  var routes: [(route: RouteClass, words: [UInt64])]
  var platforms: [(platform: String, words: [UInt64])]
  /// By class of zone; those of none have told no zone.
  var zones: [(zoneClass: Int, words: [UInt64])]
}

/// Audiences over the sets (design D8). Each block is read at one moment; of a store that changes meanwhile, blocks may be of
/// different moments.
extension Store {

  package func count(_ selection: AudienceSelection, app: AppID, now: WallTime) async throws(StoreError)
    -> AudienceCount
  {
    var count = AudienceCount()
    for (partition, blocks) in try await blockCounts(app: app).enumerated() {
      for block in 0..<blocks {
        let members = try await evaluate(selection, app: app, partition: partition, block: block, now: now)
        let total = SetBlock.count(members.words)
        guard total > 0 else { continue }
        count.total += total
        count.byPartition[partition, default: 0] += total
        for (route, words) in members.routes {
          let some = SetBlock.count(words, and: members.words)
          if some > 0 { count.byProvider[route.provider, default: 0] += some }
        }
        var unknown = total
        for (platform, words) in members.platforms {
          let some = SetBlock.count(words, and: members.words)
          if some > 0 { count.byPlatform[platform, default: 0] += some }
          unknown -= some
        }
        if unknown > 0 { count.byPlatform["", default: 0] += unknown }
      }
    }
    return count
  }

  /// The numbers of one partition's members. Pruned and disabled are out. `zoneClass`: which zones are treated alike; nil: all.
  package func members(
    _ selection: AudienceSelection, app: AppID, partition: Int, now: WallTime, zoneClass: ((String?) -> Int)? = nil
  ) async throws(StoreError) -> [AudienceGroup] {
    var groups: [AudienceGroup] = []
    func add(_ words: [UInt64], _ route: RouteClass, _ platform: String?, _ zone: Int, block: Int) {
      let numbers = SetBlock.numbers(words).map { UInt32($0 + block * SetBlock.size) }
      guard !numbers.isEmpty else { return }
      if let place = groups.firstIndex(where: {
        $0.route == route && $0.platform == platform && $0.zoneClass == zone
      }) {
        groups[place].numbers += numbers
      } else {
        var group = AudienceGroup(route: route, platform: platform, numbers: numbers)
        group.zoneClass = zone
        groups.append(group)
      }
    }
    let unknown = zoneClass?(nil) ?? 0
    for block in 0..<(try await blockCount(partition: partition, app: app)) {
      let members = try await evaluate(
        selection, app: app, partition: partition, block: block, now: now, zoneClass: zoneClass)
      func split(_ words: [UInt64], _ route: RouteClass, _ platform: String?) {
        var left = words
        for (zone, words) in members.zones {
          add(SetBlock.and(words, left), route, platform, zone, block: block)
          for place in left.indices { left[place] &= ~words[place] }
        }
        add(left, route, platform, unknown, block: block)
      }
      for (route, words) in members.routes {
        var left = SetBlock.and(words, members.words)
        for (platform, words) in members.platforms {
          split(SetBlock.and(words, left), route, platform)
          for place in left.indices { left[place] &= ~words[place] }
        }
        split(left, route, nil)
      }
    }
    return groups
  }

  private func evaluate(
    _ selection: AudienceSelection, app: AppID, partition: Int, block: Int, now: WallTime,
    zoneClass: ((String?) -> Int)? = nil
  ) async throws(StoreError) -> BlockMembers {
    let terms = Array(selection.expression.terms)
    var listed = Set(terms.compactMap(TermSets.kindToList))
    let needsTags = listed.remove(.tag) != nil
    listed.formUnion(zoneClass == nil ? [.route, .platform] : [.route, .platform, .zone])
    var values = try await values(Array(listed), block: block, partition: partition, app: app)
    if needsTags {
      let prefixes = terms.filter { TermSets.kindToList($0) == .tag }.map(\.valuePrefix)
      var tags = Set<ExactText>()
      for prefix in prefixes {
        tags.formUnion(
          try await self.tags(beginning: prefix, block: block, partition: partition, app: app).map(ExactText.init))
      }
      values[.tag] = tags.map(\.text)
    }
    let today = Int(now.milliseconds / SetName.millisecondsPerDay)
    var names: [SetName] = [SetName(.active), SetName(.several)]
    var places = [SetName(.active): 0, SetName(.several): 1]
    func place(_ name: SetName) -> Int {
      if let place = places[name] { return place }
      places[name] = names.count
      names.append(name)
      return names.count - 1
    }
    var ofTerm: [AudienceTerm: [Int]] = [:]
    for term in terms {
      let sets =
        TermSets.sole(term).map { [$0] }
        ?? TermSets.names(term, among: TermSets.kindToList(term).flatMap { values[$0] } ?? [], today: today)
      ofTerm[term] = sets.map(place)
    }
    let routes = (values[.route] ?? []).compactMap { name in
      RouteClass(name: name).map { ($0, place(SetName(.route, name))) }
    }
    let platforms = (values[.platform] ?? []).map { ($0, place(SetName(.platform, $0))) }
    let zones = zoneClass == nil ? [] : (values[.zone] ?? []).map { ($0, place(SetName(.zone, $0))) }
    let words = try await blocks(names, block: block, partition: partition, app: app)
    var result = selection.expression.evaluate(everyone: words[0]) { term in
      var union = SetBlock.empty
      for place in ofTerm[term] ?? [] { SetBlock.formUnion(&union, words[place]) }
      return union
    }
    result = SetBlock.and(result, words[0])
    if let providers = selection.providers {
      var wanted = SetBlock.empty
      for (route, place) in routes where providers.contains(route.provider) {
        SetBlock.formUnion(&wanted, words[place])
      }
      result = SetBlock.and(result, wanted)
    }
    if selection.reach == .latestDevicePerUser {
      let doubtful = SetBlock.numbers(SetBlock.and(result, words[1])).map { $0 + block * SetBlock.size }
      for number in try await earlier(doubtful, partition: partition, app: app) {
        let offset = number % SetBlock.size
        result[offset >> 6] &= ~SetBlock.bit(offset)
      }
    }
    var byClass: [Int: [UInt64]] = [:]
    if let zoneClass {
      for (zone, place) in zones {
        SetBlock.formUnion(&byClass[zoneClass(zone), default: SetBlock.empty], words[place])
      }
    }
    return BlockMembers(
      words: result, routes: routes.map { ($0.0, words[$0.1]) }, platforms: platforms.map { ($0.0, words[$0.1]) },
      zones: byClass.map { ($0.key, $0.value) })
  }

  // MARK: The latest device of a user

  /// Devices that are read at a time.
  private static let latestPerStep = 1_000

  /// Those of these devices whose user has a live device that was seen later. Asked for when it is needed instead of kept
  /// as a set: a user's devices lie in different partitions, and each sighting of one would have to write to another.
  private func earlier(_ numbers: [Int], partition: Int, app: AppID) async throws(StoreError) -> [Int] {
    var earlier: [Int] = []
    for start in stride(from: 0, to: numbers.count, by: Self.latestPerStep) {
      let step = numbers[start..<min(numbers.count, start + Self.latestPerStep)]
      let places = step.map { DevicePlace(partition: partition, number: $0) }
      let found = try await records(places, app: app).compactMap { $0 }.filter { $0.device.user != nil }
      let users = Array(Set(found.compactMap { $0.device.user.map(ExactText.init) }))
      let devices = try await devices(ofUsers: users.map(\.text), app: app)
      var latest: [ExactText: DeviceID] = [:]
      for (user, devices) in zip(users, devices) {
        latest[user] = devices.filter(\.isLive).max { $0.isEarlier(than: $1) }?.device.id
      }
      for device in found {
        guard let user = device.device.user, let last = latest[ExactText(user)] else { continue }
        if last != device.device.id { earlier.append(device.place.number) }
      }
    }
    return earlier
  }

  // MARK: Counts by provider

  /// Live devices by provider, from the sets.
  package func deviceCounts(app: AppID) async throws(StoreError) -> [ProviderName: Int] {
    try await count(AudienceSelection(expression: .everyone), app: app, now: WallTime(milliseconds: 0)).byProvider
  }
}

extension StoredDevice {
  /// By when they were seen, or registered if they never were; of two at the same moment the smaller id counts as later.
  func isEarlier(than other: StoredDevice) -> Bool {
    let (mine, others) = (device.lastSeen ?? device.registeredAt, other.device.lastSeen ?? other.device.registeredAt)
    return mine == others ? device.id.rawValue > other.device.id.rawValue : mine < others
  }
}
