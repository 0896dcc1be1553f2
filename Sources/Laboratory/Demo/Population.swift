import Domain
import JSON

/// The demo's devices: three providers, and among them some whose tokens the vendors will call dead or refuse.
struct Population: Sendable {
  /// What the demo expects of a device, by the faults scripted for its token.
  enum Route: Sendable, CaseIterable {
    case healthy
    /// The vendor says the token died after it was registered: pruned.
    case dying
    /// APNs says it died before it was registered, so the app has come back since: not pruned.
    case returned
    /// The vendor refuses the message for this token: failed, not pruned.
    case refused
  }

  struct Member: Sendable {
    var id: String
    var provider: ProviderName
    var token: String
    var route: Route
  }

  let members: [Member]

  init(apns: Int, fcm: Int, oneSignal: Int) {
    var members: [Member] = []
    for number in 0..<apns {
      let route = Self.route(number, returns: true)
      members.append(
        Member(id: "iphone-\(number)", provider: .apns, token: Self.apnsToken(number, route), route: route))
    }
    for number in 0..<fcm {
      let route = Self.route(number, returns: false)
      members.append(
        Member(id: "android-\(number)", provider: .fcm, token: "\(Self.mark(route))-android-\(number)", route: route))
    }
    for number in 0..<oneSignal {
      let route: Route = number % 50 == 7 ? .dying : .healthy
      let mark = route == .dying ? "dead" : "feed"
      let token = "\(mark)0000-0000-4000-8000-" + Self.hex(number, digits: 12)
      members.append(Member(id: "web-\(number)", provider: .oneSignal, token: token, route: route))
    }
    self.members = members
  }

  private static func route(_ number: Int, returns: Bool) -> Route {
    switch number % 100 {
    case 11, 47: .dying
    case 23: returns ? .returned : .healthy
    case 71: .refused
    default: .healthy
    }
  }

  /// How tokens of a route begin, for the rules' globs.
  static func mark(_ route: Route) -> String {
    switch route {
    case .healthy: "fe"
    case .dying: "dd"
    case .returned: "ee"
    case .refused: "bb"
    }
  }

  private static func apnsToken(_ number: Int, _ route: Route) -> String { mark(route) + hex(number, digits: 62) }

  private static func hex(_ number: Int, digits: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: digits - text.count) + text
  }

  /// The body of `PUT /v1/devices/{id}`.
  static func registration(_ member: Member) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("provider", member.provider.rawValue)
    writer.member("token", member.token)
    writer.endObject()
    return writer.bytes
  }
}
