/// Which of the devices of an audience a message goes to.
package enum Reach: String, Hashable, Sendable, CaseIterable {
  case allDevices = "all_devices"
  /// Of each user only the device seen last; a device without a user counts as a user of its own.
  case latestDevicePerUser = "latest_device_per_user"
}
