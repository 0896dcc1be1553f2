import Domain

/// The name of an intent: whose, since when.
struct IntentName: Hashable {
  var app: AppID
  var begun: WallTime
  private var random: UInt64

  init(app: AppID, begun: WallTime, random: UInt64) {
    (self.app, self.begun, self.random) = (app, begun, random)
  }
  init?(raw: String) {
    let parts = raw.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let begun = StoredNumber.read(String(parts[0])),
      let random = Whole.read(parts[1], in: 0...UInt64.max)
    else { return nil }
    self.init(app: AppID(rawValue: String(parts[2])), begun: WallTime(milliseconds: begun), random: random)
  }
  /// Beside it: how far it has come. 0: its newcomers have numbers; 1: it says which sets they enter; and one more for each script
  /// that has entered them.
  var progress: String { "#" + raw }
  var raw: String { "\(begun.milliseconds):\(random):\(app.rawValue)" }
}

/// What an import is about to do in a partition. It is written down with the numbers of its new devices, as these are given, and
/// again with their sets before it enters any. So whoever finds an import that was cut off can bring it to an end.
struct Intent {
  struct Subject {
    var number: Int
    /// Of its id, as in the index.
    var hash: UInt32
    /// Whose entries may name it though its record is not theirs: the user that it comes to, and the one that it leaves.
    var users: [String] = []
  }
  /// They have no records yet.
  var newcomers: [Subject] = []
  /// Devices that have records and change their user.
  var moving: [Subject] = []
  var sets: [SetChanges] = []

  var subjects: [Subject] { newcomers + moving }

  init() {}

  /// Notes the sets of one of the newcomers. By ascending number.
  mutating func enter(_ device: DeviceRecord, at place: DevicePlace) {
    if sets.last?.block != place.block { sets.append(SetChanges(block: place.block)) }
    sets[sets.count - 1].note(hidden: true, of: device, number: place.number)
  }

  /// What takes these numbers out of all sets again.
  func withdrawing(_ numbers: [Int]) -> [SetChanges] {
    let byBlock = Dictionary(grouping: numbers, by: { $0 / SetBlock.size })
    return sets.map { changes in
      changes.withdrawing(Set((byBlock[changes.block] ?? []).map { $0 % SetBlock.size }))
    }
  }

  // MARK: As stored

  var packed: [UInt8] {
    let (before, behind) = packedAroundNumbers
    return before + newcomers.flatMap { raw32($0.number) } + behind
  }

  /// What stands before and behind the numbers of the newcomers: the script that gives them writes them between.
  var packedAroundNumbers: (before: [UInt8], behind: [UInt8]) {
    var (count, packer) = (Packer(), Packer())
    count.number(newcomers.count)
    packer.reserve(64 * newcomers.count)
    for newcomer in newcomers { Self.pack(newcomer, &packer) }
    packer.number(moving.count)
    for device in moving {
      packer.append(raw32(device.number))
      Self.pack(device, &packer)
    }
    packer.number(sets.count)
    for block in sets {
      packer.number(block.block)
      packer.number(block.changes.count)
      for change in block.changes {
        packer.text(change.name.text)
        packer.blob(change.add)
      }
    }
    return (count.bytes, packer.bytes)
  }

  private static func pack(_ subject: Subject, _ packer: inout Packer) {
    packer.append(raw32(Int(subject.hash)))
    packer.number(subject.users.count)
    for user in subject.users { packer.text(user) }
  }

  init(packed: [UInt8]) throws(Corrupt) {
    var reader = Unpacker(packed)
    try readSubjects(&reader)
    for _ in 0..<(try reader.int()) {
      let block = try reader.int()
      var changes: [SetChanges.Change] = []
      for _ in 0..<(try reader.int()) {
        guard let name = SetName(text: try reader.text()) else { throw Corrupt() }
        let add = try reader.blob()
        guard SetBlock.isList(add) else { throw Corrupt() }
        changes.append(SetChanges.Change(name: name, add: add))
      }
      sets.append(SetChanges(block: block, changes))
    }
  }

  /// Without the sets.
  init(subjectsOf packed: [UInt8]) throws(Corrupt) {
    var reader = Unpacker(packed)
    try readSubjects(&reader)
  }

  private mutating func readSubjects(_ reader: inout Unpacker) throws(Corrupt) {
    for _ in 0..<(try reader.int()) { newcomers.append(Subject(number: from32(try reader.take(4)[...]), hash: 0)) }
    for at in newcomers.indices { try Self.read(&newcomers[at], &reader) }
    for _ in 0..<(try reader.int()) {
      moving.append(Subject(number: from32(try reader.take(4)[...]), hash: 0))
      try Self.read(&moving[moving.count - 1], &reader)
    }
  }

  private static func read(_ subject: inout Subject, _ reader: inout Unpacker) throws(Corrupt) {
    subject.hash = UInt32(from32(try reader.take(4)[...]))
    for _ in 0..<(try reader.int()) { subject.users.append(try reader.text()) }
  }
}
