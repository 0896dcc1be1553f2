import Domain
import Store

/// Gathers deliveries that share a request (design D17): one message, one partition, one class of recipients. A new slice
/// closes when it is full or has gathered long enough; a stored one goes again when all its members are back.
struct SlicePlan<Ticket> {
  struct Closed {
    var slice: StoredSlice
    /// In the order of their index, so that the same members make the same body.
    var members: [Ticket]
    /// It was stored before: its request may have been made.
    var stored: Bool
    /// Members of a stored slice of whom nothing is known: they have ended, or come too late.
    var missing = 0
  }

  private struct Key: Hashable {
    var message: MessageID
    var partition: Int
    var recipientClass: String
  }
  /// A stored slice without its members, for cheap look-up.
  private struct Name: Hashable {
    var message: MessageID
    var partition: Int
    var number: Int
    var revision: Int
    init(_ slice: StoredSlice) {
      message = slice.message
      partition = slice.partition
      number = slice.number
      revision = slice.revision
    }
  }
  private struct Gathering {
    var slice: StoredSlice?
    var members: [(index: Int, ticket: Ticket)] = []
    var absent = 0
    var since: Instant
  }

  private var fresh: [Key: Gathering] = [:]
  private var reunions: [Name: Gathering] = [:]
  /// Members of a slice that closes from now on.
  var limit: Int
  private let settings: SliceSettings

  init(limit: Int, settings: SliceSettings) {
    self.limit = limit
    self.settings = settings
  }

  var isEmpty: Bool { fresh.isEmpty && reunions.isEmpty }
  /// Members of stored slices that wait for the others.
  private(set) var reuniting = 0

  mutating func add(_ ticket: Ticket, _ delivery: DeliveryID, recipientClass: String, now: Instant) -> Closed? {
    let key = Key(message: delivery.message, partition: delivery.partition, recipientClass: recipientClass)
    fresh[key, default: Gathering(since: now)].members.append((delivery.index, ticket))
    guard fresh[key]!.members.count >= limit else { return nil }
    return close(key)
  }

  /// Several at once, with their indexes.
  mutating func add(
    _ tickets: [(index: Int, ticket: Ticket)], of message: MessageID, partition: Int, recipientClass: String,
    now: Instant
  ) -> [Closed] {
    let key = Key(message: message, partition: partition, recipientClass: recipientClass)
    var closed: [Closed] = []
    var rest = tickets[...]
    while !rest.isEmpty {
      let free = max(1, limit - (fresh[key]?.members.count ?? 0))
      fresh[key, default: Gathering(since: now)].members += rest.prefix(free)
      rest = rest.dropFirst(free)
      if fresh[key]!.members.count >= limit { closed.append(close(key)) }
    }
    return closed
  }

  /// A member of a slice whose request may have been made before.
  mutating func add(_ ticket: Ticket, _ delivery: DeliveryID, of slice: StoredSlice, now: Instant) -> Closed? {
    reunions[Name(slice), default: Gathering(slice: slice, since: now)].members.append((delivery.index, ticket))
    reuniting += 1
    return complete(Name(slice))
  }

  /// A member that will never come again: its device is gone.
  mutating func absent(from slice: StoredSlice, now: Instant) -> Closed? {
    reunions[Name(slice), default: Gathering(slice: slice, since: now)].absent += 1
    return complete(Name(slice))
  }

  /// What has gathered long enough.
  mutating func due(now: Instant) -> [Closed] {
    var closed: [Closed] = []
    for (key, gathering) in fresh where gathering.since + settings.gather <= now { closed.append(close(key)) }
    for (name, gathering) in reunions where gathering.since + settings.reunion <= now {
      if let some = reunite(name) { closed.append(some) }
    }
    return closed
  }

  var nextDue: Instant? {
    let first = fresh.values.map { $0.since + settings.gather }.min()
    let second = reunions.values.map { $0.since + settings.reunion }.min()
    guard let first, let second else { return first ?? second }
    return min(first, second)
  }

  /// Takes out what meets the condition.
  mutating func remove(where condition: (Ticket) -> Bool) -> [Ticket] {
    var removed: [Ticket] = []
    for (key, gathering) in fresh {
      removed += gathering.members.map(\.ticket).filter(condition)
      fresh[key]!.members.removeAll { condition($0.ticket) }
      if fresh[key]!.members.isEmpty { fresh[key] = nil }
    }
    for (name, gathering) in reunions {
      let leaving = gathering.members.map(\.ticket).filter(condition)
      removed += leaving
      reuniting -= leaving.count
      reunions[name]!.members.removeAll { condition($0.ticket) }
      if !leaving.isEmpty, reunions[name]!.members.isEmpty { reunions[name] = nil }
    }
    return removed
  }

  /// A slice is named by the least index of its members: no delivery is in two slices at a time, so no two slices of a
  /// message in a partition have the same name.
  private mutating func close(_ key: Key) -> Closed {
    let members = fresh.removeValue(forKey: key)!.members.sorted { $0.index < $1.index }
    let slice = StoredSlice(
      message: key.message, partition: key.partition, number: members[0].index, revision: 0,
      members: members.map(\.index))
    return Closed(slice: slice, members: members.map(\.ticket), stored: false)
  }

  private mutating func complete(_ name: Name) -> Closed? {
    guard let gathering = reunions[name], let slice = gathering.slice,
      gathering.members.count + gathering.absent >= slice.members.count
    else { return nil }
    return reunite(name)
  }

  private mutating func reunite(_ name: Name) -> Closed? {
    guard let gathering = reunions.removeValue(forKey: name), let slice = gathering.slice else { return nil }
    reuniting -= gathering.members.count
    guard !gathering.members.isEmpty else { return nil }
    let members = gathering.members.sorted { $0.index < $1.index }
    return Closed(
      slice: slice, members: members.map(\.ticket), stored: true,
      missing: max(0, slice.members.count - members.count - gathering.absent))
  }
}
