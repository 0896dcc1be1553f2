import Domain
import Store

/// Devices as an app has them: ten tags each, some that half of all have and one that nobody else has; most with a user,
/// some users with two devices; half of them under an id that the app chose.
struct BenchPopulation {
  let provider: ProviderName
  /// Their clocks: by chance, unless each is to have as many.
  var isEven = false
  private var state: UInt64

  static let now = WallTime(seconds: 1_780_000_000)
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

  /// The same devices each time, others for each provider.
  init(provider: ProviderName) {
    self.provider = provider
    state = provider.rawValue.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) }
  }

  /// SplitMix64.
  private mutating func random(_ bound: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return Int((z ^ z >> 31) % UInt64(bound))
  }
  /// Small numbers come up more often.
  private mutating func skewed(_ bound: Int) -> Int { min(random(bound), random(bound), random(bound)) }
  private mutating func hex(_ count: Int) -> String {
    var text = ""
    while text.utf8.count < count {
      let word = String(UInt64(random(1 << 32)), radix: 16)
      text += String(repeating: "0", count: 8 - word.utf8.count) + word
    }
    return String(text.prefix(count))
  }
  private mutating func letters(_ count: Int) -> String {
    String((0..<count).map { _ in Self.alphabet[random(64)] })
  }

  /// FCM's tokens have 142 to 163 characters; OneSignal's subscriptions are UUIDs.
  private mutating func token() -> String {
    switch provider {
    case .fcm: letters(22) + ":APA91b" + letters(113 + random(22))
    case .oneSignal: uuid()
    default: hex(64)
    }
  }
  private mutating func uuid() -> String { "\(hex(8))-\(hex(4))-4\(hex(3))-8\(hex(3))-\(hex(12))" }

  static let zones = 24
  /// Zones an hour apart; the clock of the first is ahead of all others'.
  static func zone(_ number: Int) -> String {
    let hours = hoursAhead(number)
    // These names count westward.
    return hours == 0 ? "Etc/GMT" : hours > 0 ? "Etc/GMT-\(hours)" : "Etc/GMT+\(-hours)"
  }
  static func hoursAhead(_ zone: Int) -> Int { 12 - zone }

  mutating func device(_ number: Int) -> Device {
    let chosen = number % 2 == 0
    let uuid = uuid()
    var device = Device(
      id: DeviceID(rawValue: chosen ? uuid : ""), address: Address(provider: provider, token: token()),
      registeredAt: WallTime(milliseconds: Self.now.milliseconds - Int64(skewed(400)) * 86_400_000))
    device.lastSeen = device.registeredAt + Int64(random(86_400_000))
    // One in ten has none; of the others one in six shares it with the device before.
    if number % 10 != 9 { device.user = "user-\(number % 6 == 5 ? number - 1 : number)" }
    device.platform = provider == .fcm ? "android" : "ios"
    device.appVersion = "2.\(skewed(12)).0"
    device.language = ["en", "de", "fr", "es", "it", "pt-BR", "nl", "pl", "sv", "tr"][skewed(10)]
    let usual = ["Europe/Berlin", "Europe/London", "America/New_York", "Asia/Tokyo", "America/Sao_Paulo"][skewed(5)]
    device.timeZone = isEven ? Self.zone(number % Self.zones) : usual
    device.tags = [
      "plan:\(["free", "pro", "team"][skewed(3)])", "city:\(skewed(500))", "interest:\(skewed(60))",
      "category:\(skewed(60))", "cohort:2026-w\(random(52))", "store:\(skewed(2_000))", "theme:\(random(3))",
      random(4) == 0 ? "churned" : "active", "list:\(random(20))", "order:\(number)",
    ]
    device.attributes = [JSONMember("first_name", .string("Name\(skewed(2_000))"))]
    return device
  }
}
