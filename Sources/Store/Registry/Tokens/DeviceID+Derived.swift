package import Domain
import TLS

extension DeviceID {
  /// The id of a token that is registered under none: UUIDv5 of app, provider, environment and token.
  package static func derived(of address: Address, in app: AppID) -> DeviceID {
    let name = name(app.rawValue, address.provider.rawValue, address.environment.rawValue, address.token)
    return DeviceID(rawValue: UUIDBytes.v5(namespace: tokenNamespace, name: name).description)
  }

  /// The id of what an installation registers. It tells nothing of the installation, whose id nobody can guess.
  package static func derived(of device: Device, in app: AppID, of installation: InstallationID) -> DeviceID {
    let name = name(app.rawValue, installation.text, installation.slot(of: device))
    return DeviceID(rawValue: UUIDBytes.v5(namespace: installationNamespace, name: name).description)
  }

  /// Parted by NULs.
  private static func name(_ parts: String...) -> [UInt8] {
    var name: [UInt8] = []
    name.reserveCapacity(parts.reduce(0) { $0 + $1.utf8.count + 1 })
    for (place, part) in parts.enumerated() {
      if place > 0 { name.append(0) }
      name += part.utf8
    }
    return name
  }

  /// An id that nobody has and nobody guesses (UUIDv4).
  package static func random() -> DeviceID {
    let (high, low) = (SecureRandom.word(), SecureRandom.word())
    return DeviceID(rawValue: UUIDBytes(high: high & ~0xF000 | 0x4000, low: low & ~(3 << 62) | 2 << 62).description)
  }

  /// Part of the stored layout, as the next.
  private static let installationNamespace = UUIDBytes(high: 0x6661_6e66_6172_6540, low: 0x8069_6e73_7461_6c31)
  private static let tokenNamespace = UUIDBytes(high: 0x6661_6e66_6172_6540, low: 0x8074_6f6b_656e_7331)
}
