import Domain
import Store

/// Claimed members of a message that heeds each device's own clock, told apart by their clocks as they are now. Almost
/// always these agree, as members of one time were claimed together: each zone is asked once.
struct LocalTimeGroups {
  /// Members for whom sending began at the same time.
  struct Group {
    var message: LoadedMessage
    /// The first of their quiet hours begin then.
    var until: WallTime?
    var places: [Int]
  }

  /// `others`: not now, or not without a closer look.
  static func of(_ members: ClaimedMembers, _ message: LoadedMessage, now: WallTime) -> (groups: [Group], others: [Int])
  {
    var groups: [Group] = []
    var others: [Int] = []
    var known: [ArraySlice<UInt8>: Int?] = [:]
    var last: (zone: ArraySlice<UInt8>, group: Int?)?
    for place in 0..<members.count {
      let member = members.member(at: place)
      guard let zone = member.packedZone else {
        others.append(place)
        continue
      }
      let group: Int?
      if let last, last.zone == zone {
        group = last.group
      } else if let found = known[zone] {
        group = found
      } else {
        group = add(member, message, to: &groups, now)
        known[zone] = .some(group)
      }
      last = (zone, group)
      if let group { groups[group].places.append(place) } else { others.append(place) }
    }
    return (groups, others)
  }

  private static func add(
    _ member: ClaimedMembers.Member, _ message: LoadedMessage, to groups: inout [Group], _ now: WallTime
  ) -> Int? {
    guard let facts = member.facts, let way = message.localTimeGroup(facts.timeZone, now: now) else { return nil }
    guard let known = groups.firstIndex(where: { $0.message === way.message }) else {
      groups.append(Group(message: way.message, until: way.until, places: []))
      return groups.count - 1
    }
    groups[known].until = [groups[known].until, way.until].compactMap(\.self).min()
    return known
  }
}
