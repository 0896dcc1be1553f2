/// When the first device gets a message that goes by each device's own clock.
package struct FirstStart: Hashable, Sendable {
  package var time: WallTime
  /// Of the device: an IANA name.
  package var zone: String

  package init(time: WallTime, zone: String) {
    self.time = time
    self.zone = zone
  }
}
