import Domain
import RedisClient

/// What a provider has said of a token, carried out (design D13): each word counts only for the token it was about.
extension Flush.Prune {
  enum Effect: Hashable {
    /// It is not about what is registered there now.
    case none
    /// The device is dead by this very word: a repeated flush finds its own work.
    case stands
    case changes(DeviceRecord)
  }

  func effect(on record: DeviceRecord) -> Effect {
    var new = record
    if record.stored.device.liveActivityToken == token {
      new.stored.device.liveActivityToken = nil
      return .changes(new)
    }
    guard record.stored.device.address.token == token else { return .none }
    let tombstone = Tombstone(reason: reason, at: at, credential: credential, message: message)
    guard record.stored.tombstone == nil else { return record.stored.tombstone == tombstone ? .stands : .none }
    if let since, record.stored.device.registeredAt >= since { return .none }
    new.stored.tombstone = tombstone
    new.mark = nil
    return .changes(new)
  }
}

/// Removes the devices of dead tokens, and brings them back when an operator undoes it (design D13). Holds nothing but its
/// session, on whose loop it is used. Which tokens are dead is decided by the caller.
package struct Prunes: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Prunes what these words are still about; how many devices are dead by them now. Repeating it is harmless. `lease`: only while
  /// that is held; a device and its deliveries are of one partition, so that this covers all that a worker has to prune.
  func apply(_ prunes: [Flush.Prune], under lease: Lease?) async throws(StoreError) -> Int {
    var pruned = 0
    for (app, prunes) in Dictionary(grouping: prunes, by: \.app) {
      pruned += try await apply(prunes, app, lease)
    }
    return pruned
  }

  private func apply(_ prunes: [Flush.Prune], _ app: AppID, _ lease: Lease?) async throws(StoreError) -> Int {
    var left = Dictionary(grouping: prunes, by: \.device)
    var dead = Set<DeviceID>()
    for _ in 0..<DeviceRecords.writeAttempts {
      let ids = Array(left.keys)
      var writes: [DeviceWrite] = []
      for (id, found) in zip(ids, try await DeviceRecords(session).find(ids, app: app)) {
        guard let found, lease == nil || found.place.partition == lease?.partition else {
          left[id] = nil
          continue
        }
        var record = found.record
        dead.remove(id)
        for prune in left[id] ?? [] {
          switch prune.effect(on: record) {
          case .none: break
          case .stands: dead.insert(id)
          case .changes(let new):
            record = new
            if new.stored.tombstone != nil { dead.insert(id) }
          }
        }
        if record == found.record {
          left[id] = nil
        } else {
          writes.append(DeviceWrite(place: found.place, id: id, before: found, after: record))
        }
      }
      guard !writes.isEmpty else { return dead.count }
      for (write, done) in zip(writes, try await DeviceRecords(session).write(writes, app: app, under: lease))
      where done.isDone {
        left[write.id] = nil
      }
      if left.isEmpty { return dead.count }
    }
    throw DeviceRecords.tooBusy
  }

  // MARK: Putting aside

  /// Prunes that one credential may have put aside in one partition. Of those beyond it the next send tells again.
  static let heldAtMost = 10_000
  private static let heldPerScript = 100

  /// Puts aside what would take effect now; how many were not before.
  func hold(_ prunes: [Flush.Prune], _ lease: Lease) async throws(StoreError) -> Int {
    var held = 0
    for (app, prunes) in Dictionary(grouping: prunes, by: \.app) {
      let found = try await DeviceRecords(session).find(prunes.map(\.device), app: app)
      let fitting = zip(prunes, found).filter { prune, found in
        guard let found, case .changes = prune.effect(on: found.record) else { return false }
        return true
      }.map(\.0)
      for (credential, prunes) in Dictionary(grouping: fitting, by: \.credential) {
        guard let credential else { continue }
        for start in stride(from: 0, to: prunes.count, by: Self.heldPerScript) {
          var arguments: [RedisArgument] = [
            .number(Int64(Self.heldAtMost)), .number(settings.retentionSeconds),
          ]
          for prune in prunes[start..<min(prunes.count, start + Self.heldPerScript)] {
            arguments += [.text(prune.device.rawValue), .bytes(prune.packed)]
          }
          let reply = try await ask(
            Scripts.holdPrunes, keys: [keys.lease(lease.partition), keys.held(lease.partition, credential)],
            arguments, under: lease)
          held += Int(reply.array?.first?.integer ?? 0)
        }
      }
    }
    return held
  }
}

// MARK: Stored form

extension Flush.Prune {
  /// What is kept of a prune that was put aside; its device is the name it stands under.
  var packed: [UInt8] {
    var packer = Packer()
    packer.text(token)
    packer.text(reason)
    packer.time(at.milliseconds)
    packer.byte(since == nil ? 0 : 1)
    if let since { packer.time(since.milliseconds) }
    packer.byte(message == nil ? 0 : 1)
    if let message { packer.append(message.raw) }
    return packer.bytes
  }

  init(held packed: [UInt8], _ device: DeviceID, _ credential: CredentialID, app: AppID) throws(Corrupt) {
    var reader = Unpacker(packed)
    let token = try reader.text()
    let reason = try reader.text()
    let at = WallTime(milliseconds: try reader.time())
    let since = try reader.flag() ? WallTime(milliseconds: try reader.time()) : nil
    self.init(app: app, device: device, token: token, reason: reason, since: since, at: at)
    self.credential = credential
    if try reader.flag() { message = MessageID(raw: try reader.take(16)) }
    guard reader.isAtEnd else { throw Corrupt() }
  }
}
