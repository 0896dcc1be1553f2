package import Domain

/// A device as the registry holds it, with what the device itself does not say.
package struct StoredDevice: Hashable, Sendable {
  package var device: Device
  /// Set when it was pruned or moved: it gets nothing until it registers again.
  package var tombstone: Tombstone?
  /// Set for its user; `device.tags` are its own. It is reached by both.
  package var userTags: [String]
  /// `userTags`: the tags of its user, as last copied to its record.
  package init(device: Device, tombstone: Tombstone?, userTags: [String] = []) {
    self.device = device
    self.tombstone = tombstone
    self.userTags = userTags
  }

  /// Receives.
  package var isLive: Bool { tombstone == nil && device.enabled }
}

/// What a registration found before it.
package enum Registration: Hashable, Sendable {
  case created
  case updated
  /// A tombstone came back to life.
  case revived
  /// The token was registered as `from`, which now is a tombstone.
  case moved(from: FormerOwner)
}

/// A device that has lost its token to another one.
package struct FormerOwner: Hashable, Sendable {
  package var id: DeviceID
  /// As it was when it lost the token.
  package var isEnabled: Bool
  package init(id: DeviceID, isEnabled: Bool) { (self.id, self.isEnabled) = (id, isEnabled) }
  init(_ device: Device) { self.init(id: device.id, isEnabled: device.enabled) }
}

/// What became of one device.
package enum PutResult: Hashable, Sendable {
  case stored(DeviceID, Registration)
  /// Its user has `StoreSettings.devicesPerUser` already: a placeholder such as `guest`, not a person.
  case userIsFull
  /// What is known of the device was not to be changed; nothing was.
  case leftAlone
}
