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
