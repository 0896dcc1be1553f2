import Audience
import Domain

/// Reads to whom a message goes.
enum RecipientsReader {
  static let longestDeviceID = 128
  static let longestUser = 256
  static let longestActivity = 256

  private static let ways =
    "`devices`, `users`, `tokens`, `audience`, `filters`, `activity`, `channel` or `everyone`"

  /// `to`: exactly one way to name recipients, each of them once.
  static func read(_ message: Fields, _ findings: inout Findings) -> Recipients? {
    guard message.has("to") else {
      message.require("to", "a message needs `to`: one of \(ways)", &findings)
      return nil
    }
    guard let fields = message.object("to", of: .recipients, &findings) else { return nil }
    // A slip of the hand is told, and not also what is missing because of it.
    if fields.isEmpty, fields.meansOthers { return nil }
    guard let way = fields.onlyName else {
      findings.refuse(
        fields.place, fields.isEmpty ? .required : .notAllowed,
        "`to` takes exactly one of \(ways)")
      return nil
    }
    switch way {
    case "devices": return readDevices(fields, &findings).map { .devices($0) }
    case "users": return readNames(way, .line(longestUser), fields, &findings).map { .users($0) }
    case "tokens": return readTokens(fields, &findings).map { .tokens($0) }
    case "audience", "filters": return AudienceReader.expression(way, fields, &findings).map { .audience($0.canonical) }
    case "activity":
      return fields.text(way, .line(longestActivity), &findings).map {
        .audience(AudienceExpression.term(.activity($0)).canonical)
      }
    case "channel": return ChannelReader.recipient(fields, &findings).map { .channel($0) }
    default: return AudienceReader.everyone(fields, &findings)
    }
  }

  /// Recipients of several kinds beside each other.
  static func listed(_ fields: Fields, _ findings: inout Findings) -> TestRecipients {
    var recipients = TestRecipients()
    if fields.has("devices") { recipients.devices = readDevices(fields, &findings) ?? [] }
    if fields.has("users") { recipients.users = readNames("users", .line(longestUser), fields, &findings) ?? [] }
    if fields.has("tokens") { recipients.tokens = readTokens(fields, &findings) ?? [] }
    return recipients
  }

  private static func readDevices(_ fields: Fields, _ findings: inout Findings) -> [DeviceID]? {
    readNames("devices", .identifier(longestDeviceID), fields, &findings)?.map(DeviceID.init(rawValue:))
  }

  private static func readNames(_ way: String, _ rule: TextRule, _ fields: Fields, _ findings: inout Findings)
    -> [String]?
  {
    guard let items = readTargets(way, fields, &findings) else { return nil }
    let names = fields.texts(in: items, of: way, rule, &findings)
    guard names.count > 1 else { return names }
    let unique = names.eachOnce
    warn(ofRepeated: names.count - unique.count, at: fields.place.member(way), &findings)
    return unique
  }

  private static func readTokens(_ fields: Fields, _ findings: inout Findings) -> [Address]? {
    guard let items = readTargets("tokens", fields, &findings) else { return nil }
    let place = fields.place.member("tokens")
    var addresses: [Address] = []
    addresses.reserveCapacity(items.count)
    for (index, item) in items.enumerated() {
      guard let entry = Fields(item, at: place, index: index, of: .token, &findings) else { continue }
      if let address = AddressReader.read(entry, &findings) { addresses.append(address) }
    }
    guard addresses.count > 1 else { return addresses }
    // Tokens with different hashes are different: almost always that is all.
    var hashes = Set<Int>(minimumCapacity: addresses.count)
    if addresses.allSatisfy({ hashes.insert($0.token.hashValue).inserted }) { return addresses }
    var seen = Set<Address>(minimumCapacity: addresses.count)
    let unique = addresses.filter { seen.insert($0).inserted }
    warn(ofRepeated: addresses.count - unique.count, at: place, &findings)
    return unique
  }

  private static func readTargets(_ way: String, _ fields: Fields, _ findings: inout Findings) -> [JSONValue]? {
    let maximum = findings.maximumTargets
    guard case .array(let items)? = fields[way] else { return fields.items(way, maximum: maximum, &findings) }
    guard items.count <= maximum else {
      findings.refuse(
        fields.place.member(way), .tooMany,
        "`\(way)` has \(items.count) entries; the limit is \(maximum) (`limits.targets` of the configuration): "
          + "give the devices a tag (`fanfare devices import`) and send to the tag: "
          + "`\"to\": { \"audience\": \"the-tag\" }`; or send several messages")
      return nil
    }
    guard !items.isEmpty else {
      findings.refuse(fields.place.member(way), .empty, "`\(way)` is empty: give at least one, or leave it out")
      return nil
    }
    return items
  }

  private static func warn(ofRepeated count: Int, at place: @autoclosure () -> Place, _ findings: inout Findings) {
    guard count > 0 else { return }
    findings.warn(
      place(), "duplicate_targets",
      count == 1 ? "1 target is repeated; it gets one push" : "\(count) targets are repeated; each gets one push")
  }
}
