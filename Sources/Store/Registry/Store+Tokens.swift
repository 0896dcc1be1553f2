import Domain
import Loop
import RedisClient

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
  /// As it was written, and where.
  private var write: DeviceWrite?
  /// Whom aliases of its token named then, and where there may be a device with the token's own id.
  fileprivate var aliased: [DevicePlace] = []
  fileprivate var own: [DevicePlace] = []
  fileprivate var movedFrom: DeviceID?

  init(at: Int, id: DeviceID, derived: DeviceID, found: FoundDevice?, numbers: [Int]) {
    (self.at, self.id, self.derived, self.found, self.numbers) = (at, id, derived, found, numbers)
  }

  func written(_ write: DeviceWrite, _ aliased: [DevicePlace], _ pointed: Pointed) {
    self.write = write
    self.aliased = aliased + pointed.aliases
    own = pointed.own
  }

  var isWritten: Bool { write != nil }
  var device: Device? { write?.after?.stored.device }
  var address: Address? { write?.after?.stored.device.address }

  var result: PutResult {
    guard isWritten else { return .userIsFull }
    if let movedFrom { return .stored(id, .moved(from: movedFrom)) }
    guard let found else { return .stored(id, .created) }
    return .stored(id, found.record.stored.tombstone == nil ? .updated : .revived)
  }
}

/// A token has one living owner: the device that registered it last.
extension Store {
  /// Of registrations that were written; for those under the id that their token gives there is nothing to point.
  func pointTokens(of writes: [DeviceWrite], _ results: [DeviceWrite.Result], app: AppID) async throws(StoreError)
    -> [Pointed]
  {
    var pointed = [Pointed](repeating: Pointed(), count: writes.count)
    var pointers: [(at: Int, derived: DeviceID, to: DevicePlace)] = []
    for at in writes.indices where results[at].isDone && !writes[at].tellsAliases {
      if let derived = writes[at].derived { pointers.append((at, derived, writes[at].place)) }
    }
    let answers = try await point(pointers.map { ($0.derived, $0.to) }, app: app)
    for (pointer, answer) in zip(pointers, answers) { pointed[pointer.at] = answer }
    return pointed
  }

  /// Tombstones for those whose tokens these are now, once all of them are written. An old owner is buried before its alias is
  /// lost, so that what stops half-way is found again by the next registration. A device under its token's own id learns of
  /// aliases with its own writing, one under a chosen id of all others with the writing of its alias: of two that
  /// come at once, the later one knows of the other, and it alone.
  func moveTokens(_ steps: [Step], _ app: AppID) async throws(StoreError) {
    // Whether the place is an alias of the token, or the device that the token itself has made.
    var others: [(step: Int, place: DevicePlace, isAlias: Bool)] = []
    for at in steps.indices {
      for place in steps[at].aliased { others.append((at, place, true)) }
      for place in steps[at].own { others.append((at, place, false)) }
    }
    var unpointed: [(derived: DeviceID, from: DevicePlace)] = []
    for (other, found) in zip(others, try await records(others.map(\.place), app: app)) {
      guard let address = steps[other.step].address else { continue }
      let holds = found?.device.address.holdsSameToken(as: address) ?? false
      if let found, holds, found.device.id != steps[other.step].id {
        try await bury(found, for: steps[other.step], app)
      }
      // What names no device was left behind; one of another token has the same hash.
      if other.isAlias, holds || found == nil { unpointed.append((steps[other.step].derived, other.place)) }
    }
    try await unpoint(unpointed, app: app)
    for at in steps.indices where steps[at].found != nil {
      if let device = steps[at].device, let before = steps[at].found {
        try await forget(before, keeping: device, app: app)
      }
    }
  }

  private func bury(_ other: FoundDevice, for step: Step, _ app: AppID) async throws(StoreError) {
    guard let address = step.address else { return }
    let owner = step.id
    var buried = false
    _ = try await rewrite(other.device.id, app: app) { record in
      buried = false
      guard record.stored.tombstone == nil, record.stored.device.address.holdsSameToken(as: address) else { return nil }
      buried = true
      var new = record
      new.stored.tombstone = Tombstone(reason: "moved:\(owner.rawValue)", at: loop.wallNow)
      return new
    }
    if buried, step.movedFrom == nil { step.movedFrom = other.device.id }
  }

  /// What the former state of a device left elsewhere: alias of its old token, place among its old user's devices.
  func forget(_ old: FoundDevice, keeping new: Device?, app: AppID) async throws(StoreError) {
    if let user = old.device.user, !(new?.isOf(user) ?? false) { try await leave([(user, old.place)], app: app) }
    let derived = Self.derivedID(of: old.device.address, in: app)
    if derived != old.device.id, derived != new.map({ Self.derivedID(of: $0.address, in: app) }) {
      try await unpoint([(derived, old.place)], app: app)
    }
  }
}
