package import Domain
package import Store

/// Decides what becomes of each target of one message when it is accepted.
package struct Fates {
  package let app: App
  package let message: Message
  package let providers: [ProviderName: any PushProvider]
  /// Accounts that are open: a route to any other leads nowhere.
  package let accounts: Set<CredentialID>

  package init(
    app: App, message: Message, providers: [ProviderName: any PushProvider], accounts: Set<CredentialID>
  ) {
    self.app = app
    self.message = message
    self.providers = providers
    self.accounts = accounts
  }

  /// A device named by its id; nil where the registry has none.
  package func target(_ id: DeviceID, _ stored: StoredDevice?) -> SubmissionTarget {
    guard let stored else {
      return SubmissionTarget(
        device: id, registered: false, address: nil, fate: .ended(.skipped, reason: "unknown_device"))
    }
    return target(stored)
  }

  package func target(_ stored: StoredDevice) -> SubmissionTarget {
    let device = stored.device
    return SubmissionTarget(device: device.id, registered: true, address: device.address, fate: fate(of: stored))
  }

  /// A token that is registered under no id.
  package func target(_ address: Address) -> SubmissionTarget {
    SubmissionTarget(
      device: Store.derivedID(of: address, in: app.id), registered: false, address: address, fate: fate(of: address))
  }

  private func fate(of stored: StoredDevice) -> SubmissionTarget.Fate {
    if !stored.device.enabled { return .ended(.skipped, reason: "device_disabled") }
    if let tombstone = stored.tombstone { return .ended(.dead, reason: tombstone.reason) }
    return fate(of: stored.device.address)
  }

  private func fate(of address: Address) -> SubmissionTarget.Fate {
    if let wanted = message.providers, !wanted.contains(address.provider) {
      return .ended(.skipped, reason: "provider_excluded")
    }
    guard let provider = providers[address.provider], provider.carries(message.kind, to: address.tokenKind) else {
      return .ended(.skipped, reason: "kind_unsupported")
    }
    guard let credential = app.credential(for: address), accounts.contains(credential) else {
      return .ended(.skipped, reason: "no_credential")
    }
    return .queue(credential)
  }
}
