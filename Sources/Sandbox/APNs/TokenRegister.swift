/// What APNs knows of device tokens: a token belongs to one topic and one environment, which its first accepted push
/// tells. Shared by both environments, owned by the loop.
final class TokenRegister {
  /// Beyond it all is forgotten, and learned anew.
  static let maximumTokens = 1 << 20
  private struct Home: Hashable {
    var topic: String
    var environment: APNsEnvironment
  }
  private var homes: [Home] = []
  private var places: [UInt64: Int] = [:]

  func refusal(_ token: String, _ topic: String, _ environment: APNsEnvironment) -> APNsReason? {
    guard let home = places[Self.hash(token)].map({ homes[$0] }) else { return nil }
    if home.environment != environment { return .badDeviceToken }
    return home.topic == topic ? nil : .deviceTokenNotForTopic
  }

  func learn(_ token: String, _ topic: String, _ environment: APNsEnvironment) {
    let hash = Self.hash(token)
    guard places[hash] == nil else { return }
    if places.count >= Self.maximumTokens { places.removeAll() }
    let home = Home(topic: topic, environment: environment)
    if let place = homes.firstIndex(of: home) {
      places[hash] = place
    } else {
      places[hash] = homes.count
      homes.append(home)
    }
  }

  func forgetAll() {
    places = [:]
    homes = []
  }

  /// FNV-1a over the token in lower case.
  private static func hash(_ token: String) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in token.utf8 { hash = (hash ^ UInt64(byte | 0x20)) &* 0x100_0000_01b3 }
    return hash
  }
}
