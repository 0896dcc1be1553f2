package import Domain

package struct StoredDevice: Hashable, Sendable {
  package var device: Device
  /// Set when it was pruned or moved: it gets nothing until it registers again.
  package var tombstone: Tombstone?
  package init(device: Device, tombstone: Tombstone?) {
    self.device = device
    self.tombstone = tombstone
  }
}

package enum Registration: Hashable, Sendable {
  case created
  case updated
  /// A tombstone came back to life.
  case revived
  /// The token was registered as `from`, which now is a tombstone.
  case moved(from: DeviceID)
}

extension Store {
  /// Registers or replaces a device (design D5: record, alias, tombstone of the former owner of the token; repeatable).
  /// `device.id` empty: by token, under the id that already holds it, or the derived one; the result tells which.
  package func put(_ device: Device, app: AppID) async throws(StoreError) -> (id: DeviceID, registration: Registration)
  {
    preconditionFailure("not built yet")
  }
  package func device(_ id: DeviceID, app: AppID) async throws(StoreError) -> StoredDevice? {
    preconditionFailure("not built yet")
  }
  /// In the order asked for; nil where there is none.
  package func devices(_ ids: [DeviceID], app: AppID) async throws(StoreError) -> [StoredDevice?] {
    preconditionFailure("not built yet")
  }
  /// The registered owners of these tokens, in order; nil where a token is registered under no id.
  package func owners(of addresses: [Address], app: AppID) async throws(StoreError) -> [StoredDevice?] {
    preconditionFailure("not built yet")
  }
  /// True if there was one.
  package func removeDevice(_ id: DeviceID, app: AppID) async throws(StoreError) -> Bool {
    preconditionFailure("not built yet")
  }
  package func devices(ofUser user: String, app: AppID) async throws(StoreError) -> [StoredDevice] {
    preconditionFailure("not built yet")
  }
  /// Deletes all devices of a user; returns how many.
  package func removeUser(_ user: String, app: AppID) async throws(StoreError) -> Int {
    preconditionFailure("not built yet")
  }
  /// Live devices by provider name, from the sets.
  package func deviceCounts(app: AppID) async throws(StoreError) -> [ProviderName: Int] {
    preconditionFailure("not built yet")
  }
}
