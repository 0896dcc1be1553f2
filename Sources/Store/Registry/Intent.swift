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
  /// Beside it: how many scripts have filled its sets.
  var filled: String { "#" + raw }
  var raw: String { "\(begun.milliseconds):\(random):\(app.rawValue)" }
}

/// What an import is about to enter into sets for devices that have no record yet. It is written down first, so that
/// whoever finds an import that was cut off can take out again what it entered.
struct Intent {
  struct Newcomer {
    var number: Int
    /// Of its id, as in the index.
    var hash: UInt32
    var user: String?
  }
  var newcomers: [Newcomer] = []
  var sets: [SetChanges] = []

  init() {}

  /// By ascending number.
  mutating func append(_ device: DeviceRecord, at place: DevicePlace, hash: UInt32) {
    newcomers.append(Newcomer(number: place.number, hash: hash, user: device.stored.device.user))
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
    var packer = Packer()
    packer.reserve(64 * newcomers.count)
    packer.number(newcomers.count)
    for newcomer in newcomers {
      packer.append(raw32(newcomer.number))
      packer.append(raw32(Int(newcomer.hash)))
      packer.optional(newcomer.user)
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
    return packer.bytes
  }

  init(packed: [UInt8]) throws(Corrupt) {
    var reader = Unpacker(packed)
    for _ in 0..<(try reader.int()) {
      let number = from32(try reader.take(4)[...])
      let hash = UInt32(from32(try reader.take(4)[...]))
      newcomers.append(Newcomer(number: number, hash: hash, user: try reader.optional()))
    }
    for _ in 0..<(try reader.int()) {
      let block = try reader.int()
      var changes: [SetChanges.Change] = []
      for _ in 0..<(try reader.int()) {
        guard let name = SetName(text: try reader.text()) else { throw Corrupt() }
        changes.append(SetChanges.Change(name: name, add: try reader.blob()))
      }
      sets.append(SetChanges(block: block, changes))
    }
  }
}
