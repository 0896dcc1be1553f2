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

  /// A disabled device, and one whose token has moved, is skipped; a pruned one ends as dead with its tombstone's reason.
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

  /// Why a device of a user that a message names is no target of it: its token is dead, or such a push cannot go there.
  /// Nil: it is one.
  func exclusion(ofUsersDevice stored: StoredDevice) -> Forecast.Exclusion? {
    if let tombstone = stored.tombstone { return Forecast.Exclusion(nil, tombstone.deliveryReason) }
    let route = route(of: stored.device.address)
    guard case .ended(_, let reason) = route, let note = note(of: route, at: stored.device.address) else { return nil }
    return Forecast.Exclusion(nil, reason, note: note)
  }

  /// Why such a push cannot go to a target, with the kinds that its token has and would need; nil: another reason keeps
  /// it, or none.
  func note(of target: SubmissionTarget) -> String? {
    target.address.flatMap { note(of: target.route, at: $0) }
  }

  /// The same, of a route to an address.
  func note(of route: Route, at address: Address) -> String? {
    switch route {
    case .skipped(.tokenKind):
      var other = address
      let needed = message.pushType.tokenKinds.filter { kind in
        guard kind.isOfDevice else { return false }
        other.tokenKind = kind
        return providers[address.provider]?.carries(message.pushType, to: other) == true
      }
      let words = needed.map { "`\($0.rawValue)`" }.joined(separator: " or ")
      return "the token's kind is `\(address.tokenKind.rawValue)`, and kind `\(message.kind.rawValue)` needs \(words)"
    case .skipped(.kindUnsupported):
      return "\(address.provider.rawValue) has no such push of kind `\(message.kind.rawValue)`"
    default: return nil
    }
  }

  private func route(of stored: StoredDevice) -> Route {
    if !stored.device.enabled { return .skipped(.deviceDisabled) }
    if let tombstone = stored.tombstone {
      return tombstone.isMoved ? .skipped(.moved) : .ended(.dead, reason: tombstone.reason)
    }
    return route(of: stored.device.address)
  }
}
