import Audience
import Domain

@testable import Store

/// The registry as one would write it without a care for speed: what the real one is compared with.
struct RegistryModel {
  var devices: [DeviceID: StoredDevice] = [:]
  var userTags: [ExactText: [String]] = [:]
  /// Devices whose token was registered under a chosen id, by the id that the token would give.
  var aliases: [DeviceID: DeviceID] = [:]

  private func derived(_ device: Device) -> DeviceID { DeviceID.derived(of: device.address, in: shop) }
  private func holds(_ id: DeviceID, _ device: Device) -> Bool {
    devices[id]?.device.address.holdsSameToken(as: device.address) ?? false
  }

  func owner(_ device: Device) -> DeviceID? {
    if let alias = aliases[derived(device)], holds(alias, device) { return alias }
    return holds(derived(device), device) ? derived(device) : nil
  }

  mutating func put(_ device: Device, at now: WallTime) -> DeviceID {
    var device = device
    let token = derived(device)
    if device.id.rawValue.isEmpty { device.id = owner(device) ?? token }
    if let old = devices[device.id]?.device, derived(old) != token { dropAlias(of: old) }
    for other in [aliases[token], token].compactMap({ $0 }) where other != device.id && holds(other, device) {
      if devices[other]?.tombstone == nil {
        devices[other]?.tombstone = Tombstone(reason: "moved:\(device.id.rawValue)", at: now)
      }
    }
    aliases[token] = device.id == token ? nil : device.id
    devices[device.id] = StoredDevice(device: device, tombstone: nil)
    return device.id
  }

  private mutating func dropAlias(of old: Device) {
    if aliases[derived(old)] == old.id { aliases[derived(old)] = nil }
  }

  mutating func remove(_ id: DeviceID) -> Bool {
    guard let old = devices.removeValue(forKey: id) else { return false }
    dropAlias(of: old.device)
    return true
  }

  func tags(of stored: StoredDevice) -> Set<ExactText> {
    Set((stored.device.tags + (stored.device.user.flatMap { userTags[ExactText($0)] } ?? [])).map(ExactText.init))
  }

  func matches(_ expression: AudienceExpression, _ stored: StoredDevice, now: WallTime) -> Bool {
    let device = stored.device
    switch expression {
    case .everyone: return true
    case .not(let inner): return !matches(inner, stored, now: now)
    case .all(let members): return members.allSatisfy { matches($0, stored, now: now) }
    case .any(let members): return members.contains { matches($0, stored, now: now) }
    case .term(let term):
      switch term {
      case .tag, .tagPrefix, .present(.tag): return tags(of: stored).contains { term.matches($0.text) }
      case .provider, .present(.provider): return term.matches(device.address.provider.rawValue)
      case .platform, .present(.platform): return device.platform.map { term.matches($0) } ?? false
      case .language, .present(.language): return device.language.map { term.matches($0.lowercased()) } ?? false
      case .zone, .present(.zone): return device.timeZone.map { term.matches($0) } ?? false
      case .appVersion, .present(.appVersion): return device.appVersion.map { term.matches($0) } ?? false
      case .permission, .present(.permission): return device.permissions.all.contains { term.matches($0.rawValue) }
      case .activity, .present(.activity): return device.activityID.map { term.matches($0) } ?? false
      case .present(.seen): return true
      case .seen:
        let day = (device.lastSeen ?? device.registeredAt).milliseconds / 86_400_000
        return term.matches(day: Int(day), today: Int(now.milliseconds / 86_400_000))
      case .audience: return false
      }
    }
  }

  /// `carries`: what the message can go to comes before what it cannot.
  func members(
    _ selection: AudienceSelection, now: WallTime, _ carries: ((Address) -> Bool)? = nil
  ) -> Set<DeviceID> {
    let reached = devices.values.filter { stored in
      guard stored.tombstone == nil, stored.device.enabled else { return false }
      guard matches(selection.expression, stored, now: now) else { return false }
      return selection.providers?.contains(stored.device.address.provider) ?? true
    }
    let members = selection.reach == .allDevices ? reached : reached.filter { isLatest($0, among: reached, carries) }
    return Set(members.map(\.device.id))
  }

  private func isLatest(
    _ stored: StoredDevice, among reached: [StoredDevice], _ carries: ((Address) -> Bool)?
  ) -> Bool {
    guard let user = stored.device.user else { return true }
    func isCarried(_ device: Device) -> Bool { carries?(device.address) ?? true }
    func seen(_ device: Device) -> Int64 { (device.lastSeen ?? device.registeredAt).milliseconds }
    return reached.allSatisfy { other in
      guard other.device.isOf(user), other.device.id != stored.device.id else { return true }
      if isCarried(stored.device) != isCarried(other.device) { return isCarried(stored.device) }
      let (mine, others) = (seen(stored.device), seen(other.device))
      return mine > others || (mine == others && stored.device.id.rawValue < other.device.id.rawValue)
    }
  }
}
