package import Domain
package import Store

extension RouteResolver {
  /// A device named by its id; nil where the registry has none.
  package func target(_ id: DeviceID, _ stored: StoredDevice?) -> SubmissionTarget {
    guard let stored else {
      return SubmissionTarget(
        device: id, registered: false, address: nil, route: .skipped(.unknownDevice))
    }
    return target(stored)
  }

  /// A disabled device is skipped, and a pruned one ends as dead with its tombstone's reason.
  package func target(_ stored: StoredDevice) -> SubmissionTarget {
    let device = stored.device
    return SubmissionTarget(
      device: device.id, registered: true, address: device.address, route: route(of: stored), platform: device.platform)
  }

  /// A token that is registered under no id.
  package func target(_ address: Address) -> SubmissionTarget {
    target(address, id: DeviceID.derived(of: address, in: app.id))
  }

  /// `id`: the one that the token has by itself.
  func target(_ address: Address, id: DeviceID) -> SubmissionTarget {
    SubmissionTarget(device: id, registered: false, address: address, route: route(of: address))
  }

  /// Why a device of a user that a message names is no target of it: its token is dead, or of another kind than such a
  /// push goes to. Nil: it is one.
  func reasonForNoTarget(_ stored: StoredDevice) -> String? {
    if let tombstone = stored.tombstone { return tombstone.reason }
    return route(of: stored.device.address) == .skipped(.tokenKind) ? SkipReason.tokenKind.rawValue : nil
  }

  private func route(of stored: StoredDevice) -> Route {
    if !stored.device.enabled { return .skipped(.deviceDisabled) }
    if let tombstone = stored.tombstone { return .ended(.dead, reason: tombstone.reason) }
    return route(of: stored.device.address)
  }
}
