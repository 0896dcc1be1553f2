import Audience
package import Domain
import RedisClient

/// The members of a selection within one block.
private struct BlockMembers {
  var words: [UInt64]
  /// Devices whose user has several.
  var several: [UInt64]
  var routes: [(route: RouteClass, words: [UInt64])]
  var platforms: [(platform: String, words: [UInt64])]
  /// By class of zone; those of none have told no zone.
  var zones: [(zoneClass: Int, words: [UInt64])]
  /// Tags of the expression that live devices of the block have.
  var usedTags: [ExactText]
}

/// Audiences over the sets (design D8): counts and members of an expression. Holds nothing but its session, on whose loop
/// it is used. Each block is read at one moment; of a store that changes meanwhile, blocks may be of different moments.
package struct AudienceSearch: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// `carries`: which devices the message can go to, by their route; of a user the latest of those. Nil: not known.
  package func count(
    _ selection: AudienceSelection, app: AppID, now: WallTime, carries: ((Address) -> Bool)? = nil
  ) async throws(StoreError) -> AudienceCount {
    var count = AudienceCount()
    // Of all partitions together, all members of a user are here: only those that may be one of several are looked at.
    var doubtful: [DevicePlace] = []
    var unusedTags = Set(selection.expression.terms.compactMap(\.tag))
    for (partition, blocks) in try await DeviceSets(session).blockCounts(app: app).enumerated() {
      for block in 0..<blocks {
        let members = try await evaluate(selection, app: app, partition: partition, block: block, now: now)
        unusedTags.subtract(members.usedTags)
        if selection.reach == .latestDevicePerUser {
          doubtful += Self.places(SetBlock.and(members.words, members.several), partition, block)
        }
        let total = SetBlock.count(members.words)
        guard total > 0 else { continue }
        count.total += total
        count.byPartition[partition, default: 0] += total
        for (route, words) in members.routes {
          let some = SetBlock.count(words, and: members.words)
          guard some > 0 else { continue }
          count.byProvider[route.provider, default: 0] += some
          count.byRoute[route, default: 0] += some
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
    try await earlier(doubtful, app: app, carries: carries) { stored in
      count.total -= 1
      count.byPartition[session.partition(of: stored.device.id, in: app), default: 0] -= 1
      count.byProvider[stored.device.address.provider, default: 0] -= 1
      count.byRoute[RouteClass(of: stored.device.address), default: 0] -= 1
      count.byPlatform[stored.device.platform ?? "", default: 0] -= 1
    }
    count.byPartition = count.byPartition.filter { $0.value > 0 }
    count.byProvider = count.byProvider.filter { $0.value > 0 }
    count.byPlatform = count.byPlatform.filter { $0.value > 0 }
    count.byRoute = count.byRoute.filter { $0.value > 0 }
    count.unusedTags = unusedTags.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return count
  }

  /// The zones of all members that the message can go to; nil among them: some have told none. Whatever the selection's
  /// reach: also those of devices that are not the latest of their user.
  package func zones(
    _ selection: AudienceSelection, app: AppID, now: WallTime, carries: (Address) -> Bool
  ) async throws(StoreError) -> Set<String?> {
    var zones: [String?] = [nil]
    var places: [String?: Int] = [nil: 0]
    var found: Set<Int> = []
    func place(_ zone: String?) -> Int {
      if let place = places[zone] { return place }
      places[zone] = zones.count
      zones.append(zone)
      return zones.count - 1
    }
    for (partition, blocks) in try await DeviceSets(session).blockCounts(app: app).enumerated() {
      for block in 0..<blocks {
        let members = try await evaluate(
          selection, app: app, partition: partition, block: block, now: now, zoneClass: place)
        var left = SetBlock.empty
        for (route, words) in members.routes where carries(route.address) { SetBlock.formUnion(&left, words) }
        left = SetBlock.and(left, members.words)
        for (zone, words) in members.zones where SetBlock.count(words, and: left) > 0 {
          found.insert(zone)
          SetBlock.subtract(&left, words)
        }
        if SetBlock.count(left) > 0 { found.insert(0) }
      }
    }
    return Set(found.map { zones[$0] })
  }

  /// The numbers of one partition's members. Pruned and disabled are out. `carries`: as in `count`. `zoneClass`: which zones are
  /// treated alike; nil: all.
  package func members(
    _ selection: AudienceSelection, app: AppID, partition: Int, now: WallTime, carries: ((Address) -> Bool)? = nil,
    zoneClass: ((String?) -> Int)? = nil
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
    for block in 0..<(try await DeviceSets(session).blockCount(partition: partition, app: app)) {
      var members = try await evaluate(
        selection, app: app, partition: partition, block: block, now: now, zoneClass: zoneClass)
      if selection.reach == .latestDevicePerUser {
        let doubtful = Self.places(SetBlock.and(members.words, members.several), partition, block)
        for place in try await earlier(doubtful, selection, app: app, now: now, carries: carries) {
          let offset = place.number % SetBlock.size
          members.words[offset >> 6] &= ~SetBlock.bit(offset)
        }
      }
      func split(_ words: [UInt64], _ route: RouteClass, _ platform: String?) {
        var left = words
        // Devices that have told no zone are of a class that others may be of, too: a group's numbers ascend.
        for (zone, words) in members.zones where zone != unknown {
          add(SetBlock.and(words, left), route, platform, zone, block: block)
          SetBlock.subtract(&left, words)
        }
        add(left, route, platform, unknown, block: block)
      }
      for (route, words) in members.routes {
        var left = SetBlock.and(words, members.words)
        for (platform, words) in members.platforms {
          split(SetBlock.and(words, left), route, platform)
          SetBlock.subtract(&left, words)
        }
        split(left, route, nil)
      }
    }
    return groups
  }

  private static func places(_ words: [UInt64], _ partition: Int, _ block: Int) -> [DevicePlace] {
    SetBlock.numbers(words).map { DevicePlace(partition: partition, number: $0 + block * SetBlock.size) }
  }

  /// Whatever the selection's reach.
  private func evaluate(
    _ selection: AudienceSelection, app: AppID, partition: Int, block: Int, now: WallTime,
    zoneClass: ((String?) -> Int)? = nil
  ) async throws(StoreError) -> BlockMembers {
    let terms = Array(selection.expression.terms)
    var listed = Set(terms.compactMap(TermSets.kindToList))
    let needsTags = listed.remove(.tag) != nil
    listed.formUnion(zoneClass == nil ? [.route, .platform] : [.route, .platform, .zone])
    var values = try await DeviceSets(session).values(Array(listed), block: block, partition: partition, app: app)
    if needsTags {
      let prefixes = terms.filter { TermSets.kindToList($0) == .tag }.map(\.valuePrefix)
      var tags = Set<ExactText>()
      for prefix in prefixes {
        tags.formUnion(
          try await DeviceSets(session).tags(beginning: prefix, block: block, partition: partition, app: app).map(
            ExactText.init))
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
    let words = try await DeviceSets(session).blocks(names, block: block, partition: partition, app: app)
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
    var byClass: [Int: [UInt64]] = [:]
    if let zoneClass {
      for (zone, place) in zones {
        SetBlock.formUnion(&byClass[zoneClass(zone), default: SetBlock.empty], words[place])
      }
    }
    let usedTags = terms.compactMap { term -> ExactText? in
      guard let tag = term.tag, let place = ofTerm[term]?.first, SetBlock.count(words[place], and: words[0]) > 0
      else { return nil }
      return tag
    }
    return BlockMembers(
      words: result, several: words[1], routes: routes.map { ($0.0, words[$0.1]) },
      platforms: platforms.map { ($0.0, words[$0.1]) },
      zones: byClass.map { ($0.key, $0.value) }, usedTags: usedTags)
  }
}

extension AudienceTerm {
  /// The tag that it names.
  fileprivate var tag: ExactText? {
    if case .tag(let tag) = self { ExactText(tag) } else { nil }
  }
}
