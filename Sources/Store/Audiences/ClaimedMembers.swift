package import Domain

/// Members of an audience as claimed: their device records as they stand in the store, opened one by one when it is a
/// member's turn. What needs more than a look goes on as a `ClaimedTarget`.
package struct ClaimedMembers: Sendable {
  package let message: MessageID
  package let partition: Int
  package let credential: CredentialID
  /// Ascending.
  private(set) var indexes: [UInt32] = []
  /// Of their devices.
  private var numbers: [UInt32] = []
  /// In the buckets in which they were read.
  private var records: [(bucket: RecordBucket, header: DeviceRecordHeader)] = []
  /// Those who are not there any more, or whose records have to be read whole.
  package private(set) var others: [ClaimedTarget] = []
  /// The first of the job, and its sequence.
  private let first: Int
  private let base: UInt64
  private let words: StringTable

  init(of part: AudienceShard, _ job: Snapshot.Job, partition: Int, words: StringTable) {
    message = part.id
    self.partition = partition
    credential = job.credential
    first = job.range.lowerBound
    base = part.sequence(of: first, in: job)
    self.words = words
  }

  package var count: Int { indexes.count }
  package var whole: Int { indexes.count + others.count }
  /// The member's index in its audience's snapshot, by its place among those claimed.
  package func index(at place: Int) -> Int { Int(indexes[place]) }
  /// The delivery's name, by the same place.
  package func id(at place: Int) -> DeliveryID {
    DeliveryID(message: message, partition: partition, index: Int(indexes[place]))
  }

  mutating func add(_ index: Int, number: UInt32, _ bucket: RecordBucket, _ header: DeviceRecordHeader) {
    indexes.append(UInt32(index))
    numbers.append(number)
    records.append((bucket, header))
  }
  mutating func add(_ other: ClaimedTarget) { others.append(other) }

  /// Those at these places, ascending, and no others.
  package func picked(_ places: [Int]) -> ClaimedMembers {
    guard places.count < count else { return self }
    var picked = self
    picked.others = []
    picked.indexes = places.map { indexes[$0] }
    picked.numbers = places.map { numbers[$0] }
    picked.records = places.map { records[$0] }
    return picked
  }

  /// One member, opened.
  package func member(at place: Int) -> Member {
    Member(header: records[place].header, packed: records[place].bucket.bytes, words: words)
  }

  /// What the slow path needs. Nil: its record needs words that are not known here, `AudienceMembers.target` reads it. `wholly`:
  /// not without the facts.
  package func target(at place: Int, wholly: Bool = true) -> ClaimedTarget? {
    let member = member(at: place)
    guard let address = member.address,
      let device = try? member.header.deviceID(member.packed)
    else { return nil }
    let facts = member.facts
    if wholly, facts == nil { return nil }
    var target = bare(at: place)
    target.device = device
    target.address = address
    target.facts = facts
    target.number = Int(numbers[place])
    return target
  }

  /// Without address, facts and device.
  package func bare(at place: Int) -> ClaimedTarget {
    ClaimedTarget(
      delivery: id(at: place), device: DeviceID(rawValue: ""), registered: true, credential: credential,
      sequence: base &+ UInt64(Int(indexes[place]) - first), address: nil, gone: nil, facts: nil, attempts: [],
      slice: nil)
  }

  /// A member's record, read in place: nothing is decoded before it is asked for.
  package struct Member {
    let header: DeviceRecordHeader
    let packed: [UInt8]
    let words: StringTable

    /// The same for devices that share provider, kind of token and bundle id.
    package var route: [UInt8] { Array(packed[header.route]) }
    /// True if `Member.route` is the same, without making it.
    package func isOn(_ route: [UInt8]) -> Bool {
      header.route.count == route.count && packed[header.route].elementsEqual(route)
    }
    /// As it stands: the same for devices of one zone. Nil: it cannot be read.
    package var packedZone: ArraySlice<UInt8>? { (try? header.zone(packed)).map { packed[$0] } }
    /// Replaces `bytes` by the token's; false: it cannot be read.
    package func token(into bytes: inout [UInt8]) -> Bool { (try? header.token(packed, into: &bytes)) != nil }
    /// Without the token of a Live Activity.
    package var address: Address? { try? header.address(packed, words) }
    package var facts: DeviceFacts? { try? header.facts(packed, words) }
  }
}

extension AudienceMembers {
  /// A claimed member, read anew and whole.
  package func target(_ members: ClaimedMembers, at place: Int, _ lease: Lease) async throws(StoreError)
    -> ClaimedTarget
  {
    var targets = [members.bare(at: place)]
    guard let part = try await AudienceShards(session).shard(members.message, lease) else {
      targets[0].gone = JobQueue.deletedReason
      return targets[0]
    }
    try await JobQueue(session).readMembers(&targets, at: [0], part, lease)
    return targets[0]
  }
}
