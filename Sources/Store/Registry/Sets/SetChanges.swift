/// What one script changes in the sets of one block.
struct SetChanges {
  struct Change {
    var name: SetName
    /// Numbers of two bytes, ascending.
    var add: [UInt8] = []
    var remove: [UInt8] = []

    /// Of fewer numbers no words are shorter.
    private static let wordsFrom = 4

    /// The numbers to add as words of 32 bits behind the number of the first one; empty where they lie far apart.
    var words: [UInt8] {
      // Most are short.
      guard add.count >= 2 * Self.wordsFrom else { return [] }
      let numbers = SetBlock.numbers(listed: add)
      guard let first = numbers.first, let last = numbers.last else { return [] }
      let low = first / 32
      let count = last / 32 - low + 1
      guard count <= numbers.count else { return [] }
      var words = [UInt8](repeating: 0, count: 2 + count * 4)
      words[0] = UInt8(low >> 8)
      words[1] = UInt8(low & 255)
      for number in numbers { words[2 + number / 8 - low * 4] |= 0x80 >> UInt8(number & 7) }
      return words
    }
  }

  let block: Int
  private(set) var changes: [Change] = []
  private var places: [SetName: Int] = [:]
  /// Of each change for a tag the place of its key's, once it was asked for.
  private var keyPlaces: [KeyPlace] = []
  private enum KeyPlace {
    case unknown
    case keyless
    case at(Int)
  }

  init(block: Int, _ changes: [Change] = []) {
    self.block = block
    self.changes = changes
    keyPlaces = Array(repeating: .unknown, count: changes.count)
  }

  /// Numbers must come ascending. A name that is given twice for one number counts once.
  mutating func note(_ before: DeviceRecord?, _ after: DeviceRecord?, number: Int) {
    // Most devices are new, and then there is nothing to compare.
    guard let before else {
      if let after { enter(after, number, butActive: false) }
      return
    }
    let (old, new) = (before.sets, after?.sets ?? [])
    for name in new where !old.contains(name) { Self.put(number, &changes[place(name)].add) }
    for name in old where !new.contains(name) { Self.put(number, &changes[place(name)].remove) }
  }

  /// Of a device of which nothing else changes.
  mutating func note(_ kind: SetKind, _ before: Bool, _ after: Bool, number: Int) {
    guard before != after else { return }
    let at = place(SetName(kind))
    if after { Self.put(number, &changes[at].add) } else { Self.put(number, &changes[at].remove) }
  }

  /// Of a new device what may be in sets before its record is there: all that shows it to nobody. Or only the rest.
  mutating func note(hidden: Bool, of record: DeviceRecord, number: Int) {
    guard hidden else {
      if record.isLive { Self.put(number, &changes[place(SetName(.active))].add) }
      return
    }
    enter(record, number, butActive: true)
  }

  private mutating func enter(_ record: DeviceRecord, _ number: Int, butActive: Bool) {
    record.forEachSetBesideTags { name in
      if !butActive || name.kind != .active { Self.put(number, &changes[place(name)].add) }
    }
    record.forEachTag { tag in
      let place = place(SetName(.tag, tag))
      Self.put(number, &changes[place].add)
      if case .unknown = keyPlaces[place] {
        keyPlaces[place] = SetName.key(ofTag: tag).map { .at(self.place(SetName(.tagKey, $0))) } ?? .keyless
      }
      if case .at(let key) = keyPlaces[place] { Self.put(number, &changes[key].add) }
    }
  }

  /// Those of one bucket one behind the other.
  var byBucket: [(bucket: SetBucket, change: Change)] {
    let buckets = changes.map(\.name.bucket)
    return changes.indices.sorted { buckets[$0].number < buckets[$1].number }.map { (buckets[$0], changes[$0]) }
  }

  /// Takes out what was added of these numbers of the block.
  func withdrawing(_ numbers: Set<Int>) -> SetChanges {
    let undone: [Change] = changes.compactMap { change in
      let some = SetBlock.numbers(listed: change.add).filter(numbers.contains)
      return some.isEmpty ? nil : Change(name: change.name, remove: SetBlock.packed(some))
    }
    return SetChanges(block: block, undone)
  }

  private static func put(_ number: Int, _ numbers: inout [UInt8]) {
    let offset = number % SetBlock.size
    let (high, low) = (UInt8(offset >> 8), UInt8(offset & 255))
    let count = numbers.count
    if count > 0, numbers[count - 1] == low, numbers[count - 2] == high { return }
    numbers.append(high)
    numbers.append(low)
  }

  private mutating func place(_ name: SetName) -> Int {
    if let place = places[name] { return place }
    places[name] = changes.count
    changes.append(Change(name: name))
    keyPlaces.append(.unknown)
    return changes.count - 1
  }
}
