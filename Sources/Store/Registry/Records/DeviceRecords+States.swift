import Domain
import RedisClient

/// What becomes of a device whose own data and the tags of its user stay: it lands, loses its token, or gets a mark. So its
/// record is neither packed anew nor compared with anything but what it must be.
struct StateChange {
  let place: DevicePlace
  let id: DeviceID
  /// What the record must end with: all of its entry, or the mark by which it is arriving.
  fileprivate let expected: ArraySlice<UInt8>
  /// Of the record's first byte, its flags and its last bytes.
  fileprivate let head: UInt8
  fileprivate let gets: DeviceRecord.Flags
  fileprivate let cut: UInt8
  fileprivate let behind: [UInt8]
  fileprivate let isLanding: Bool
  fileprivate let diesAt: WallTime?
  /// The device loses its token.
  var isDying: Bool { diesAt != nil }
  fileprivate let isActive: (before: Bool, after: Bool)
  fileprivate let isOneOfSeveral: (before: Bool, after: Bool)

  /// A device that is arriving holds its token from now on.
  init(landing id: DeviceID, at place: DevicePlace, _ mark: DeviceRecord.Mark, isEnabled: Bool) {
    (self.id, self.place) = (id, place)
    (expected, head, gets) = (mark.raw[...], DeviceRecord.version, [])
    (cut, behind) = (UInt8(DeviceRecord.Mark.length), [])
    (isLanding, diesAt) = (true, nil)
    (isActive, isOneOfSeveral) = ((false, isEnabled), (false, false))
  }

  /// What was found is no tombstone.
  init(of found: FoundDevice, to after: DeviceRecord.State) {
    let before = found.record
    (id, place) = (before.stored.device.id, found.place)
    (expected, head, behind) = (found.entry, after.head, after.packedEnd)
    cut = before.mark == nil ? 0 : UInt8(DeviceRecord.Mark.length)
    var gets: DeviceRecord.Flags = after.tombstone == nil ? [] : [.tombstone]
    if after.isOneOfSeveral { gets.insert(.several) }
    self.gets = gets
    (isLanding, diesAt) = (false, after.tombstone?.at)
    isActive = (before.isLive, before.stored.device.enabled && after.isLiving)
    isOneOfSeveral = (before.isOneOfSeveral, after.isOneOfSeveral)
  }

  fileprivate func note(in sets: inout SetChanges) {
    sets.note(.active, isActive.before, isActive.after, number: place.number)
    sets.note(.several, isOneOfSeveral.before, isOneOfSeveral.after, number: place.number)
  }
}

extension DeviceRecords {
  /// Of one script, and the rest of their bucket of records: what keeps it within a millisecond.
  private static let statesPerScript = 48

  /// Which of them were made; of the others somebody else has changed the devices. A device comes once.
  func change(_ changes: [StateChange], app: AppID) async throws(StoreError) -> [Bool] {
    var made = [Bool](repeating: true, count: changes.count)
    var left: [[Int]] = []
    var last: DevicePlace?
    for at in changes.indices.sorted(by: { changes[$0].place < changes[$1].place }) {
      let place = changes[at].place
      let isFull = last.map { last in
        last.partition != place.partition
          || (left[left.count - 1].count >= Self.statesPerScript && last.bucket != place.bucket)
      }
      if isFull ?? true { left.append([]) }
      left[left.count - 1].append(at)
      last = place
    }
    while !left.isEmpty {
      var again: [[Int]] = []
      let chunks = left
      try await inParts(of: chunks.count, each: Self.runsPerPart) { part async throws(StoreError) in
        var rest = chunks[part]
        let replies = try await ask(Scripts.changeStates) {
          rest.popFirst().map { chunk in run(of: chunk.map { changes[$0] }, app) }
        }
        for (chunk, reply) in zip(chunks[part], replies) {
          guard let answer = reply.array, answer.first?.integer == 1 else { continue }
          // Nothing of this run was made: the others go without those.
          let refused = Set(answer.dropFirst().compactMap { $0.integer.map { chunk[Int($0) - 1] } })
          for place in refused { made[place] = false }
          let others = chunk.filter { !refused.contains($0) }
          if !others.isEmpty { again.append(others) }
        }
      }
      left = again
    }
    return made
  }

  /// Of one partition, by number.
  private func run(of changes: [StateChange], _ app: AppID) -> ScriptRun {
    let partition = changes[0].place.partition
    var script = ScriptRun()
    script.keys.append(keys.arrivals(partition))
    script.keys.append(keys.buried(partition))
    var (bucket, buckets) = (-1, 0)
    var heads: [UInt8] = []
    heads.reserveCapacity(changes.count * 8)
    var (ends, landing, dying) = (RedisCommand(), RedisCommand(), RedisCommand())
    var sets: [SetChanges] = []
    for change in changes {
      if change.place.bucket != bucket {
        bucket = change.place.bucket
        buckets += 1
        script.keys.append(keys.record(partition, app, change.place.number))
      }
      heads.append(UInt8(buckets))
      heads.append32(change.place.number)
      heads += [change.head, change.gets.rawValue, change.cut]
      ends.append(change.expected)
      ends.append(change.behind)
      if change.isLanding { landing.append(Tombstones.buriedMember(change.id, app)) }
      if let time = change.diesAt {
        dying.append(time.milliseconds)
        dying.append(Tombstones.buriedMember(change.id, app))
      }
      if sets.last?.block != change.place.block { sets.append(SetChanges(block: change.place.block)) }
      change.note(in: &sets[sets.count - 1])
    }
    script.arguments.append(changes.count)
    script.arguments.append(buckets)
    script.arguments.append(landing.count)
    script.arguments.append(dying.count / 2)
    var devices = RedisCommand()
    devices.append(heads)
    for part in [ends, landing, dying] { devices.append(part) }
    append(sets, of: partition, to: &script, between: devices, app)
    return script
  }
}
