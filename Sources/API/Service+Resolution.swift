import Domain
import Intake
import Store

/// The id that a token has by itself, and the device that is registered with it.
typealias TokenOwner = (id: DeviceID, owner: StoredDevice?)

extension Service {
  /// Who is meant, each device once, in the order asked for, and what becomes of it.
  func resolve(
    _ message: Message, _ app: AppID, owners: [TokenOwner]? = nil
  ) async throws(Problem) -> (targets: [SubmissionTarget], warnings: [Notice]) {
    let tenant = try tenant(app)
    let fates = fates(tenant, message)
    var targets: [SubmissionTarget] = []
    var warnings: [Notice] = []
    do throws(StoreError) {
      switch message.to {
      case .devices(let ids):
        let stored = try await store.devices(ids, app: app)
        targets = zip(ids, stored).map { fates.target($0, $1) }
      case .tokens(let addresses):
        let found: [TokenOwner]
        if let owners { found = owners } else { found = try await store.ownersAndIDs(of: addresses, app: app) }
        targets = zip(addresses, found).map { address, found in
          found.owner.map(fates.target) ?? fates.target(address, id: found.id)
        }
      case .users(let users):
        let found = try await store.devices(ofUsers: users, app: app)
        for devices in found { targets += devices.map(fates.target) }
        warnings = Notice.ofUsersWithoutDevices(found.map(\.isEmpty))
      case .channel(let address): targets = [fates.target(address)]
      case .audience, .everyone: preconditionFailure("an audience is counted, not listed")
      }
    } catch {
      throw Problem(error)
    }
    if targets.count > 1 {
      var seen = Set<DeviceID>(minimumCapacity: targets.count)
      targets.removeAll { !seen.insert($0.device).inserted }
    }
    guard targets.count <= settings.maximumTargets else {
      let detail = "these users have \(targets.count) devices; a message may have \(settings.maximumTargets) targets"
      throw Problem(
        .invalidMessage, detail, violations: [Violation("/to/users", Violation.Code.tooMany, detail)])
    }
    return (targets, warnings)
  }
}
