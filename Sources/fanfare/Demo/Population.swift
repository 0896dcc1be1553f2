import Domain
import JSON

/// The demo's devices: three providers, and among them some whose tokens the vendors will call dead or refuse.
struct Population: Sendable {
  /// What the demo expects of a device, by the faults scripted for its token.
  enum Fate: Sendable, CaseIterable {
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
    var fate: Fate
  }

  let members: [Member]

  init(apns: Int, fcm: Int, oneSignal: Int) {
    var members: [Member] = []
    for number in 0..<apns {
      let fate = Self.fate(number, returns: true)
      members.append(
        Member(id: "iphone-\(number)", provider: .apns, token: Self.apnsToken(number, fate), fate: fate))
    }
    for number in 0..<fcm {
      let fate = Self.fate(number, returns: false)
      members.append(
        Member(id: "android-\(number)", provider: .fcm, token: "\(Self.mark(fate))-android-\(number)", fate: fate))
    }
    for number in 0..<oneSignal {
      let fate: Fate = number % 50 == 7 ? .dying : .healthy
      let mark = fate == .dying ? "dead" : "feed"
      let token = "\(mark)0000-0000-4000-8000-" + Self.hex(number, digits: 12)
      members.append(Member(id: "web-\(number)", provider: .oneSignal, token: token, fate: fate))
    }
    self.members = members
  }

  private static func fate(_ number: Int, returns: Bool) -> Fate {
    switch number % 100 {
    case 11, 47: .dying
    case 23: returns ? .returned : .healthy
    case 71: .refused
    default: .healthy
    }
  }

  /// How tokens of a fate begin, for the rules' globs.
  static func mark(_ fate: Fate) -> String {
    switch fate {
    case .healthy: "fe"
    case .dying: "dd"
    case .returned: "ee"
    case .refused: "bb"
    }
  }

  private static func apnsToken(_ number: Int, _ fate: Fate) -> String { mark(fate) + hex(number, digits: 62) }

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
