import Domain
import Loop
import RedisClient
import TLS

/// How a registration comes to hold its token.
enum RegistrationWay {
  /// The device lives and holds it already.
  case keeps
  /// Under the id that the token gives, at once, unless an alias of the token names anybody.
  case alone
  /// The device lives with another token: the alias names it first, and then one write puts this token in the other's place.
  case changes
  /// The device is new or dead: its record tells who comes, the alias names it, and only then it is a recipient.
  case arrives
}

/// What writing one device has come to. Loop thread only.
final class Step {
  /// In the list that was given.
  let at: Int
  let id: DeviceID
  /// The id that its token gives.
  let derived: DeviceID
  /// As last looked up; once it is written: as it was before.
  var found: FoundDevice?
  /// Numbers that the index has under the hash of its id.
  var numbers: [Int]
  /// An alias of its token may name somebody.
  private var isContested = false
  /// New with each attempt. The record carries it while the device is about to get its token, so that nothing that others write
  /// meanwhile, also what stood there before, can be taken for it.
  private(set) var mark = DeviceRecord.Mark(nonce: 0, isArriving: true)
  private(set) var way = RegistrationWay.keeps
  /// As it was written, and where.
  fileprivate var write: DeviceWrite?
  /// Whom the alias of its token named before it.
  fileprivate var told = Pointed()
  /// What the alias of the token that it had says of it.
  fileprivate var left: (derived: DeviceID, entries: [AliasEntry])?
  /// Entries that name nobody who could have the token.
  fileprivate var gone: [AliasEntry] = []
  fileprivate var movedFrom: FormerOwner?
  /// Of its user's devices those that lost the token to it.
  fileprivate(set) var buried: [DevicePlace: Int] = [:]
  /// The sweep left its token to another one: it is to be registered again.
  fileprivate(set) var isSweptAside = false
  /// The caller saw what is known of the device, and wants nothing changed.
  var isLeftAlone = false
  /// What was made of it before, without an answer; and when this began.
  let untold: Untold.Registered?
  let since: WallTime

  init(
    at: Int, id: DeviceID, derived: DeviceID, found: FoundDevice?, numbers: [Int], untold: Untold.Registered?,
    now: WallTime
  ) {
    (self.at, self.id, self.derived, self.found, self.numbers) = (at, id, derived, found, numbers)
    (self.untold, since) = (untold, untold?.since ?? now)
  }

  /// Others came between, or the sweep behind the write; this is what stands there now. What was written does not count: another
  /// attempt may be refused, and must not take this device for one that it has changed.
  func refused(_ found: FoundDevice?, _ numbers: [Int]) {
    (self.found, self.numbers) = (found, numbers)
    (write, buried, isContested) = (nil, [:], true)
  }

  /// Decides how it becomes `record`.
  func way(to record: DeviceRecord) -> RegistrationWay {
    (told, left, gone, isSweptAside) = (Pointed(), nil, [], false)
    let isLiving = found?.record.isLiving ?? false
    let keeps = found?.device.address.holdsSameToken(as: record.stored.device.address) ?? false
    way = isLiving && keeps ? .keeps : id == derived && !isContested ? .alone : isLiving ? .changes : .arrives
    mark = DeviceRecord.Mark(nonce: SecureRandom.word(), isArriving: way == .arrives)
    return way
  }

  /// If it comes to another user: that one, and the one that it leaves.
  func users(besides user: String?) -> [String] {
    let before = found?.device.user
    return before.map(ExactText.init) == user.map(ExactText.init) ? [] : [user, before].compactMap { $0 }
  }

  func written(_ write: DeviceWrite, _ aliased: [AliasEntry], _ pointed: Pointed?) {
    self.write = write
    if let pointed { told = pointed }
    told.entries += aliased
  }

  var isWritten: Bool { write != nil }
  var result: PutResult {
    isWritten ? .stored(id, registration) : isLeftAlone ? .leftAlone : .userIsFull
  }
  /// What it comes to, written or not.
  var registration: Registration {
    if let movedFrom { return .moved(from: movedFrom) }
    if let untold { return untold.registration }
    guard let before = found?.record.visible else { return .created }
    return before.tombstone == nil ? .updated : .revived
  }

  /// Nil: `write` is a deletion.
  fileprivate func claim(of write: DeviceWrite) -> TokenClaim? {
    guard let address = write.after?.stored.device.address else { return nil }
    return TokenClaim(
      address, of: write.user, as: id, at: write.place, derived: derived, told: told, way: way,
      mark: way == .arrives || way == .changes ? mark : nil, since: way == .keeps ? untold?.since : since)
  }
}

/// A token has one living owner: the device that registered it last. Holds nothing but its session, on whose loop it is
/// used. While a registration is under way, a token may have no owner.
package struct TokenOwners: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Before anything is written: what aliases say of devices that lose a token; devices that are about to arrive are listed; and
  /// those that change their token are marked and entered for it, and those before them buried.
  func claimTokens(
    _ writes: some Sequence<DeviceWrite>, _ steps: [Step], _ app: AppID
  ) async throws(StoreError) {
    var losing: [(step: Step, derived: DeviceID, place: DevicePlace)] = []
    var changing: [DeviceWrite] = []
    var arriving: [(place: DevicePlace, id: DeviceID)] = []
    for write in writes {
      await loop.giveWay()
      if let before = write.before {
        let derived = DeviceID.derived(of: before.device.address, in: app)
        if derived != write.derived { losing.append((steps[write.step], derived, write.place)) }
      }
      if write.way == .changes { changing.append(write) }
      if write.way == .arrives { arriving.append((write.place, write.id)) }
    }
    for (loser, entries) in zip(losing, try await entries(of: losing.map { ($0.derived, $0.place) }, app: app)) {
      loser.step.left = (loser.derived, entries)
    }
    try await DeviceArrivals(session).announce(arriving, app)
    changing = try await mark(changing, steps, app)
    let pointed = try await point(
      changing.map { write in
        let step = steps[write.step]
        return Pointer(derived: step.derived, entry: AliasEntry(place: write.place, tag: step.mark.tag))
      }, app: app)
    var claims: [(write: DeviceWrite, claim: TokenClaim)] = []
    for (write, pointed) in zip(changing, pointed) {
      await loop.giveWay()
      let step = steps[write.step]
      step.told = pointed
      if let claim = step.claim(of: write) { claims.append((write, claim)) }
    }
    for (claimed, result) in zip(claims, try await contest(claims.map(\.claim), app)) {
      if !steps[claimed.write.step].ended(result) { claimed.write.isRefused = true }
    }
  }

  /// Puts their marks on devices that are about to change their tokens; where others came before, the write is refused.
  private func mark(_ changing: [DeviceWrite], _ steps: [Step], _ app: AppID) async throws(StoreError) -> [DeviceWrite]
  {
    guard !changing.isEmpty else { return [] }
    let marks = changing.compactMap { write in
      write.before.map { found in
        var state = found.record.state
        state.mark = steps[write.step].mark
        return StateChange(of: found, to: state)
      }
    }
    _ = try await DeviceRecords(session).change(marks, app: app)
    for (write, found) in zip(changing, try await DeviceRecords(session).records(changing.map(\.place), app: app)) {
      let isMarked = found?.record.mark == steps[write.step].mark
      if isMarked { write.before = found } else { write.isRefused = true }
    }
    return changing.filter { !$0.isRefused }
  }

  /// Of registrations that were written; for those that are alone or were entered before there is nothing to point.
  func pointTokens(of writes: [DeviceWrite], _ results: [DeviceWrite.Result], _ steps: [Step], app: AppID)
    async throws(StoreError) -> [Pointed?]
  {
    var pointed = [Pointed?](repeating: nil, count: writes.count)
    var pointers: [(at: Int, pointer: Pointer)] = []
    for at in writes.indices where results[at].isDone && !writes[at].tellsAliases && writes[at].way != .changes {
      guard let derived = writes[at].derived else { continue }
      let entry = AliasEntry(place: writes[at].place, tag: steps[writes[at].step].mark.tag)
      pointers.append((at, Pointer(derived: derived, entry: entry, keepsAny: writes[at].way == .keeps)))
    }
    let answers = try await point(pointers.map(\.pointer), app: app)
    for (pointer, answer) in zip(pointers, answers) { pointed[pointer.at] = answer }
    return pointed
  }

  /// Tombstones for those whose tokens these are now; then those that arrive have them. Answers what the tokens' aliases are to
  /// name no longer (`unpoint`): an old owner is buried before that, so that what stops half-way is found again by the next
  /// registration.
  func moveTokens(
    _ steps: [Step], _ app: AppID
  ) async throws(StoreError) -> [(derived: DeviceID, entry: AliasEntry)] {
    var claims: [(step: Step, claim: TokenClaim)] = []
    for step in steps where step.way != .changes && !step.told.isEmpty {
      await loop.giveWay()
      if let claim = step.write.flatMap(step.claim) { claims.append((step, claim)) }
    }
    var lost = Set<ObjectIdentifier>()
    for (claimed, result) in zip(claims, try await contest(claims.map(\.claim), app)) {
      await loop.giveWay()
      if !claimed.step.ended(result) { lost.insert(ObjectIdentifier(claimed.step)) }
    }
    await loop.letGo(of: &claims)
    var landing: [Step] = []
    var landings: [StateChange] = []
    var unpointed: [(derived: DeviceID, entry: AliasEntry)] = []
    for step in steps {
      await loop.giveWay()
      if let left = step.left { unpointed += left.entries.map { (left.derived, $0) } }
      if step.way != .arrives {
        unpointed += step.gone.map { (step.derived, $0) }
      } else if let write = step.write, !lost.contains(ObjectIdentifier(step)) {
        landing.append(step)
        landings.append(
          StateChange(
            landing: step.id, at: write.place, step.mark, isEnabled: write.after?.stored.device.enabled ?? false))
      }
    }
    for (step, hasLanded) in zip(landing, try await DeviceRecords(session).change(landings, app: app)) where hasLanded {
      unpointed += step.gone.map { (step.derived, $0) }
    }
    return unpointed
  }

  /// Devices that changed their user leave the one before, once those they came to are settled: who is missing there is entered again.
  func leaveUsers(_ steps: [Step], _ app: AppID) async throws(StoreError) {
    for step in steps {
      await loop.giveWay()
      guard let before = step.found, let user = before.device.user, let write = step.write,
        write.user.map(ExactText.init) != ExactText(user)
      else { continue }
      try await UserIndex(session).leave([(user, before.place)], app: app)
    }
  }
}

extension Step {
  /// False: another one has the token, or will have it.
  @discardableResult
  fileprivate func ended(_ contest: ContestResult) -> Bool {
    switch contest {
    case .won(let gone, let from, let buried):
      (self.gone, self.buried) = (gone, buried)
      movedFrom = movedFrom ?? from
      return true
    case .swept(let from): movedFrom = movedFrom ?? from
    case .sweptAside: isSweptAside = true
    case .overtaken, .yielded: break
    }
    return false
  }
}
