import Domain
import Loop
import RedisClient
import TLS

/// A registration that the alias of its token names.
struct TokenClaim {
  var id: DeviceID
  var place: DevicePlace
  var address: Address
  /// The id that the token gives.
  var derived: DeviceID
  /// Who came before it.
  var told: Pointed
  var way: RegistrationWay
  /// Whoever has the token or is about to keeps it.
  var yields = false
  /// Whether its own record is as it was when it was entered.
  var isStill: (FoundDevice) -> Bool
}

enum ContestResult {
  /// No other one lives with the token. `gone`: entries that name nobody who could. `from`: who had it.
  case won(gone: [AliasEntry], from: DeviceID?)
  /// Another registration of the same device, or one that came behind it, has taken its place.
  case overtaken
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
extension Store {
  func contest(_ claim: TokenClaim, _ app: AppID) async throws(StoreError) -> ContestResult {
    var gone: [AliasEntry] = []
    var from: DeviceID?
    var places = claim.told.own
    for entry in claim.told.entries where !places.contains(entry.place) { places.append(entry.place) }
    for place in places {
      let entries = claim.told.entries.filter { $0.place == place }
      guard place != claim.place else {
        // Of earlier registrations of the device, which are over or are refused.
        gone += entries
        continue
      }
      var isSettled = false
      for _ in 0..<Self.writeAttempts where !isSettled {
        let other = try await records([place], app: app)[0]
        // Behind it: if this one is as it was, all that the other one had come to by then came before.
        guard let own = try await records([claim.place], app: app)[0], claim.isStill(own) else { return .overtaken }
        switch verdict(on: other, entries, claim, app) {
        case .leave: isSettled = true
        case .forget:
          gone += entries
          isSettled = true
        case .yield(let id): return .yielded(to: id)
        case .write(let before, let after, let isFrom, let forgets):
          let write = DeviceWrite(place: place, id: before.device.id, before: before, after: after)
          guard try await self.write([write], app: app)[0].isDone else { continue }
          if forgets { gone += entries }
          if isFrom { from = from ?? before.device.id }
          isSettled = true
        }
      }
      guard isSettled else { throw Self.tooBusy }
    }
    return .won(gone: gone, from: from)
  }

  private enum Treatment {
    case leave
    case forget
    case yield(DeviceID)
    case write(FoundDevice, DeviceRecord, isFrom: Bool, forgets: Bool)
  }

  private func verdict(on other: FoundDevice?, _ entries: [AliasEntry], _ claim: TokenClaim, _ app: AppID) -> Treatment
  {
    guard let other else { return .forget }
    let holds = other.device.address.holdsSameToken(as: claim.address)
    // Another token may have the same hash: then the entry is that one's.
    let isForeign = !holds && names(other, as: claim.derived, app)
    if let mark = other.record.mark, mark.isArriving {
      guard holds else { return isForeign ? .leave : .forget }
      if claim.yields { return .yield(other.device.id) }
      // One that is not entered yet comes behind this.
      guard entries.contains(where: { $0.tag == mark.tag }), claim.way != .keeps else { return .leave }
      return .write(other, buried(other.record, for: claim.id), isFrom: false, forgets: true)
    }
    guard other.record.stored.tombstone == nil else { return isForeign ? .leave : .forget }
    if holds {
      if claim.yields { return .yield(other.device.id) }
      return .write(other, buried(other.record, for: claim.id), isFrom: true, forgets: true)
    }
    guard !entries.isEmpty, claim.way != .keeps else { return .leave }
    return .write(other, shaken(other), isFrom: false, forgets: !isForeign)
  }

  private func names(_ other: FoundDevice, as derived: DeviceID, _ app: AppID) -> Bool {
    let (own, asked) = (alias(Self.derivedID(of: other.device.address, in: app), app), alias(derived, app))
    return own.key == asked.key && own.hash == asked.hash
  }

  func buried(_ device: DeviceRecord, for owner: DeviceID) -> DeviceRecord {
    var record = device
    record.stored.tombstone = Tombstone(reason: "moved:\(owner.rawValue)", at: loop.wallNow)
    record.mark = nil
    return record
  }

  /// Says the same, and yet what another process would write in its place is refused.
  func shaken(_ device: FoundDevice) -> DeviceRecord {
    var record = device.record
    record.mark = DeviceRecord.Mark(nonce: SecureRandom.word(), isArriving: false)
    return record
  }
}
