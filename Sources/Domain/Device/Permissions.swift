/// What a person lets an app's notifications do on a device, as the app has told it: one status, and what is allowed beside it.
package enum Permission: String, Hashable, Sendable, CaseIterable {
  case authorized
  /// They come silently, into the notification centre.
  case provisional
  /// Of an App Clip, for some hours.
  case ephemeral
  case denied
  case notDetermined = "not_determined"
  case timeSensitive = "time-sensitive"
  case critical

  /// A device has one status at most.
  package var isStatus: Bool {
    switch self {
    case .authorized, .provisional, .ephemeral, .denied, .notDetermined: true
    case .timeSensitive, .critical: false
    }
  }
}

/// A set of them in one byte, which is part of the stored layout.
package struct Permissions: Hashable, Sendable {
  /// One bit for each permission; the highest is never set. Stored: a bit never changes its meaning.
  package private(set) var rawValue: UInt8

  /// The empty set: the app has told nothing.
  package init() { rawValue = 0 }
  /// Nil: a byte that no set has.
  package init?(rawValue: UInt8) {
    guard rawValue >> UInt8(Permission.allCases.count) == 0 else { return nil }
    self.rawValue = rawValue
  }

  package var isEmpty: Bool { rawValue == 0 }
  /// In the order of their declaration.
  package var all: [Permission] { Permission.allCases.filter(contains) }
  package var hasStatus: Bool { all.contains(where: \.isStatus) }

  package func contains(_ permission: Permission) -> Bool { rawValue & Self.bit(permission) != 0 }
  /// Does not take away another status: the reader refuses two.
  package mutating func insert(_ permission: Permission) { rawValue |= Self.bit(permission) }

  private static func bit(_ permission: Permission) -> UInt8 {
    switch permission {
    case .authorized: 1
    case .provisional: 2
    case .ephemeral: 4
    case .denied: 8
    case .notDetermined: 16
    case .timeSensitive: 32
    case .critical: 64
    }
  }
}
