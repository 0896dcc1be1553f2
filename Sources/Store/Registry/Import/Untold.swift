import Domain

/// What registrations made of devices whose client was answered with an error: it may register them again, and is told then what
/// both have done. Of this process only, and for a while. Loop thread only.
struct Untold {
  struct Registered {
    var registration: Registration
    /// When it was tried first.
    var since: WallTime
  }
  private struct Name: Hashable {
    var app: AppID
    var id: DeviceID
  }

  /// Longer than a client goes on to repeat an import.
  static let milliseconds: Int64 = 600_000
  /// Some ten imports of the largest size. What comes beyond is told as it is found.
  static let most = 100_000

  private var devices: [Name: (registered: Registered, until: Instant)] = [:]
  /// Before it none is too old.
  private var oldest: Instant?

  var isEmpty: Bool { devices.isEmpty }

  /// Whoever repeats it is told now.
  mutating func take(_ id: DeviceID, _ app: AppID, now: Instant) -> Registered? {
    guard !devices.isEmpty, let kept = devices.removeValue(forKey: Name(app: app, id: id)) else { return nil }
    return now < kept.until ? kept.registered : nil
  }

  /// The sweep has brought the registration to its end, and taken the token from another device.
  mutating func settled(_ id: DeviceID, from: FormerOwner, _ app: AppID) {
    devices[Name(app: app, id: id)]?.registered.registration = .moved(from: from)
  }

  /// Of several of one device the first counts: the others found what that one had made. Nothing is kept of an update, as a repeat
  /// is one too.
  mutating func keep(_ registered: Registered, of id: DeviceID, _ app: AppID, now: Instant) {
    guard registered.registration != .updated else { return }
    if let oldest, oldest <= now {
      devices = devices.filter { now < $0.value.until }
      self.oldest = devices.values.map(\.until).min()
    }
    let name = Name(app: app, id: id)
    guard devices.count < Self.most, devices[name] == nil else { return }
    let until = now + Self.milliseconds
    devices[name] = (registered, until)
    oldest = oldest ?? until
  }
}
