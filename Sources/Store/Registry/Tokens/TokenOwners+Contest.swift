import Domain
import Loop
import RedisClient
import TLS

/// A registration that the alias of its token names.
final class TokenClaim {
  let id: DeviceID
  let place: DevicePlace
  let address: Address
  let user: String?
  /// The id that the token gives.
  let derived: DeviceID
  /// Who came before it.
  let told: Pointed
  let way: RegistrationWay
  /// Whoever has the token or is about to keeps it.
  let yields: Bool
  /// When its registration began, or the first try of one that is repeated: whom it has buried since then has lost the
  /// token to it, even if the sweep brought that to its end. Nil: it did not take the token from anybody.
  let since: WallTime?
  /// What its record carried when it was entered, and carries while nobody comes between; nil: it lives with the token already.
  let mark: DeviceRecord.Mark?

  init(
    _ address: Address, of user: String?, as id: DeviceID, at place: DevicePlace, derived: DeviceID, told: Pointed,
    way: RegistrationWay, mark: DeviceRecord.Mark?, yields: Bool = false, since: WallTime? = nil
  ) {
    (self.id, self.place, self.address, self.user) = (id, place, address, user)
    (self.derived, self.told, self.way, self.mark) = (derived, told, way, mark)
    (self.yields, self.since) = (yields, since)
  }
}

enum ContestResult {
  /// No other one lives with the token. `gone`: entries that name nobody who could. `from`: who had it. `buried`: devices of its user,
  /// which know that there are several, and the versions of the user's tags that they hold.
  case won(gone: [AliasEntry], from: FormerOwner?, buried: [DevicePlace: Int])
  /// Another registration of the same device, or one that came behind it, has taken its place.
  case overtaken
  /// The sweep took the registration for one that was cut off, and the device lives with the token already. `from`: who had it.
  case swept(from: FormerOwner?)
  /// The sweep took it for one that was cut off before the alias named it, and left the token to whoever had it.
  case sweptAside
  case yielded(to: DeviceID)
}

/// Of several that want one token, the one that the token's alias names last has it. Alias and records are in different partitions,
/// so this goes in steps, and none of them makes a second living owner:
///
/// 1. The device's record says that it is arriving, or still tells of its former token: it does not hold this one.
/// 2. The alias names it (`point`), behind all that came before it, and tells who they are.
/// 3. Those before it are buried. What may be about to write the token into its record is changed, so that it is refused.
/// 4. The device lives with the token, if its record is as it was in step 1.
///
/// Of two, the later one in step 2 knows of the other, and stops it or finds it done; so whoever passes step 4 is alone. A process that
/// dies leaves a device that is arriving and no recipient; the next registration or the sweep brings it to its end (`settleArrivals`).
///
/// Many go together, a place of each at a time: to one another they are as to the registrations of other processes. What is read
/// of those before them waits as it was read, and is opened a part at a time.
extension TokenOwners {
  func contest(_ claims: [TokenClaim], _ app: AppID) async throws(StoreError) -> [ContestResult] {
    let contests = claims.map(Contest.init)
    // By where those before them are: a bucket of records that holds several is read and written once for all of them.
    let sorted = contests.sorted { $0.first < $1.first }
    while try await goOn(sorted, app) {}
    try await inParts(of: sorted.count) { part async throws(StoreError) in
      try await self.findSwept(sorted[part], app)
    }
    return contests.map { $0.result ?? .overtaken }
  }

  /// One step of each that is not over; false: all are.
  private func goOn(_ contests: [Contest], _ app: AppID) async throws(StoreError) -> Bool {
    var open: [(contest: Contest, place: DevicePlace)] = []
    var taken = Set<DevicePlace>(minimumCapacity: contests.count)
    for contest in contests {
      // Of several that come after one device, one at a time.
      guard let place = contest.next(), taken.insert(place).inserted else { continue }
      open.append((contest, place))
    }
    guard !open.isEmpty else { return false }
    let all = open
    var others: [[(bucket: RecordBucket, part: RecordBucket.Part?)]] = Array(
      repeating: [], count: (all.count + Self.itemsPerPart - 1) / Self.itemsPerPart)
    try await inParts(of: all.count) { part async throws(StoreError) in
      let places = all[part].map(\.place)
      others[part.lowerBound / Self.itemsPerPart] = try await DeviceRecords(session).parts(places, app: app)
    }
    // Behind them: if these are as they were, all that the others had come to by then came before.
    let owns = try await areStill(all.map(\.contest.claim), app)
    try await inParts(of: all.count) { part async throws(StoreError) in
      let held = others[part.lowerBound / Self.itemsPerPart]
      let found = try await DeviceRecords(session).open(
        zip(all[part], held).map { ($0.place, $1.bucket, $1.part) }, app: app)
      try await self.settle(all[part].map(\.contest), found, owns[part], app)
    }
    return true
  }

  /// `others`: those that they are at. `owns`: whether nobody has come between.
  private func settle(
    _ contests: [Contest], _ others: [FoundDevice?], _ owns: ArraySlice<Bool>, _ app: AppID
  ) async throws(StoreError) {
    var writes: [(contest: Contest, change: StateChange, before: FoundDevice, isFrom: Bool, forgets: Bool)] = []
    for (contest, (other, owns)) in zip(contests, zip(others, owns)) {
      await loop.giveWay()
      guard owns else {
        contest.result = .overtaken
        continue
      }
      switch verdict(on: other, contest.entries, contest.claim, app) {
      case .leave: contest.settled()
      case .forget(let from): contest.settled(forgets: true, from: from)
      case .yield(let id): contest.result = .yielded(to: id)
      case .write(let before, let after, let isFrom, let forgets):
        writes.append((contest, StateChange(of: before, to: after), before, isFrom, forgets))
      }
    }
    for (written, isMade) in zip(writes, try await DeviceRecords(session).change(writes.map(\.change), app: app)) {
      if isMade {
        if written.change.isDying { written.contest.buried(written.before) }
        written.contest.settled(
          forgets: written.forgets, from: written.isFrom ? FormerOwner(written.before.device) : nil)
      } else if !written.contest.triesAgain() {
        throw DeviceRecords.tooBusy
      }
    }
  }

  /// Of those that others came between: which the sweep has brought to an end. It does so for a registration that takes longer
  /// than its patience.
  private func findSwept(_ contests: ArraySlice<Contest>, _ app: AppID) async throws(StoreError) {
    let lost = contests.filter { contest in
      guard case .overtaken? = contest.result else { return false }
      return contest.claim.way == .arrives
    }
    guard !lost.isEmpty else { return }
    let places = lost.flatMap { [$0.claim.place] + $0.all }
    var found = try await DeviceRecords(session).records(places, app: app)[...]
    for contest in lost {
      await loop.giveWay()
      let (own, others) = (found.first ?? nil, found.dropFirst().prefix(contest.all.count).compactMap { $0 })
      found = found.dropFirst(1 + contest.all.count)
      let claim = contest.claim
      guard let own, own.device.id == claim.id, own.device.address.holdsSameToken(as: claim.address) else { continue }
      if own.record.isLiving {
        let from = others.first { wasBuried($0, by: claim) }
        contest.result = .swept(from: contest.from ?? from.map { FormerOwner($0.device) })
      } else if let owner = own.record.stored.tombstone?.newOwner, others.contains(where: { $0.device.id == owner }) {
        contest.result = .sweptAside
      }
    }
  }

  private func wasBuried(_ other: FoundDevice, by claim: TokenClaim) -> Bool {
    guard let tombstone = other.record.stored.tombstone, let since = claim.since else { return false }
    return tombstone.reason == Tombstone.moved(to: claim.id) && since <= tombstone.at
  }

  /// Whether their own records are as they were when they were entered.
  private func areStill(_ claims: [TokenClaim], _ app: AppID) async throws(StoreError) -> [Bool] {
    var are = [Bool](repeating: false, count: claims.count)
    // By where they are: those that came before them are elsewhere, and each bucket would be read many times.
    let sorted = claims.indices.sorted { claims[$0].place < claims[$1].place }
    try await inParts(of: sorted.count) { part async throws(StoreError) in
      let answers = try await self.areStill(together: sorted[part].map { claims[$0] }, app)
      for (at, isStill) in zip(sorted[part], answers) { are[at] = isStill }
    }
    return are
  }

  /// What carries a mark is not read further than that.
  private func areStill(together claims: [TokenClaim], _ app: AppID) async throws(StoreError) -> [Bool] {
    let parts = try await DeviceRecords(session).parts(claims.map(\.place), app: app)
    var are = zip(claims, parts).map { claim, held in
      guard let mark = claim.mark, let part = held.part else { return false }
      return DeviceRecord.mark(of: held.bucket.bytes[part.record]) == mark
    }
    let unmarked = claims.indices.filter { claims[$0].mark == nil }
    let found = try await DeviceRecords(session).open(
      unmarked.map { (claims[$0].place, parts[$0].bucket, parts[$0].part) }, app: app)
    for (at, found) in zip(unmarked, found) {
      are[at] = found.map { $0.record.isLiving && $0.device.address.holdsSameToken(as: claims[at].address) } ?? false
    }
    return are
  }

  /// One claim on its way through those that came before it. Loop thread only.
  private final class Contest {
    let claim: TokenClaim
    /// Of those before it.
    let all: [DevicePlace]
    private var places: ArraySlice<DevicePlace>
    private var gone: [AliasEntry] = []
    private(set) var from: FormerOwner?
    private var buried: [DevicePlace: Int] = [:]
    private var attempts = 0
    /// Nil: it goes on.
    var result: ContestResult?

    init(_ claim: TokenClaim) {
      self.claim = claim
      var all = claim.told.own
      for entry in claim.told.entries where !all.contains(entry.place) { all.append(entry.place) }
      self.all = all
      places = all[...]
    }

    /// The place to look at; nil: it is over.
    func next() -> DevicePlace? {
      guard result == nil else { return nil }
      if places.first == claim.place {
        // Of earlier registrations of the device, which are over or are refused.
        settled(forgets: true)
      }
      guard let place = places.first else {
        result = .won(gone: gone, from: from, buried: buried)
        return nil
      }
      return place
    }

    /// Where it begins.
    var first: DevicePlace { places.first ?? claim.place }

    /// Those of the place that it is at.
    var entries: [AliasEntry] { claim.told.entries.filter { $0.place == places.first } }

    func buried(_ device: FoundDevice) {
      guard let user = claim.user, device.device.isOf(user) else { return }
      buried[device.place] = device.record.userVersion
    }

    func settled(forgets: Bool = false, from other: FormerOwner? = nil) {
      if forgets { gone += entries }
      from = from ?? other
      places = places.dropFirst()
      attempts = 0
    }

    /// Another one came between.
    func triesAgain() -> Bool {
      attempts += 1
      return attempts < DeviceRecords.writeAttempts
    }
  }

  private enum Treatment {
    case leave
    case forget(from: FormerOwner?)
    case yield(DeviceID)
    case write(FoundDevice, DeviceRecord.State, isFrom: Bool, forgets: Bool)
  }

  private func verdict(on other: FoundDevice?, _ entries: [AliasEntry], _ claim: TokenClaim, _ app: AppID) -> Treatment
  {
    guard let other else { return .forget(from: nil) }
    let holds = other.device.address.holdsSameToken(as: claim.address)
    // Another token may have the same hash: then the entry is that one's.
    let isForeign = !holds && names(other, as: claim.derived, app)
    if let mark = other.record.mark, mark.isArriving {
      guard holds else { return isForeign ? .leave : .forget(from: nil) }
      if claim.yields { return .yield(other.device.id) }
      // One that is not entered yet comes behind this.
      guard entries.contains(where: { $0.tag == mark.tag }), claim.way != .keeps else { return .leave }
      return .write(other, burial(of: other, for: claim), isFrom: false, forgets: true)
    }
    if other.record.stored.tombstone != nil {
      guard !isForeign else { return .leave }
      return .forget(from: wasBuried(other, by: claim) ? FormerOwner(other.device) : nil)
    }
    if holds {
      if claim.yields { return .yield(other.device.id) }
      return .write(other, burial(of: other, for: claim), isFrom: true, forgets: true)
    }
    guard !entries.isEmpty, claim.way != .keeps else { return .leave }
    return .write(other, shaken(other), isFrom: false, forgets: !isForeign)
  }

  private func names(_ other: FoundDevice, as derived: DeviceID, _ app: AppID) -> Bool {
    let (own, asked) = (alias(DeviceID.derived(of: other.device.address, in: app), app), alias(derived, app))
    return own.key == asked.key && own.hash == asked.hash
  }

  /// A user whose device comes under another id has several: this record need not be written again for that.
  private func burial(of device: FoundDevice, for claim: TokenClaim) -> DeviceRecord.State {
    var state = burial(of: device.record, for: claim.id)
    if let user = claim.user, device.device.isOf(user) { state.isOneOfSeveral = true }
    return state
  }

  func burial(of record: DeviceRecord, for owner: DeviceID) -> DeviceRecord.State {
    DeviceRecord.State(
      tombstone: Tombstone(reason: Tombstone.moved(to: owner), at: loop.wallNow), isOneOfSeveral: record.isOneOfSeveral)
  }

  /// Says the same, and yet what another process would write in its place is refused.
  func shaken(_ device: FoundDevice) -> DeviceRecord.State {
    var state = device.record.state
    state.mark = DeviceRecord.Mark(nonce: SecureRandom.word(), isArriving: false)
    return state
  }
}
