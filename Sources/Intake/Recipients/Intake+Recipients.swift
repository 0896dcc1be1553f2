import Audience
import Domain

extension Intake {
  static let longestDeviceID = 128
  static let longestUser = 256
  static let longestActivity = 256

  /// `to`: exactly one way to name recipients, each of them once.
  static func readRecipients(_ message: Fields, _ findings: inout Findings) -> Recipients? {
    let place = message.place.member("to")
    guard message.has("to") else {
      findings.refuse(place, .required, "a message needs `to`: `devices`, `users`, `tokens` or an `audience`")
      return nil
    }
    guard let fields = message.object("to", of: .recipients, &findings) else { return nil }
    guard fields.names.count == 1, let way = fields.names.first else {
      findings.refuse(
        place, fields.names.isEmpty ? .required : .notAllowed,
        "`to` takes exactly one of `devices`, `users`, `tokens`, `audience`, `filters`, `activity`, `channel`, `everyone`"
      )
      return nil
    }
    switch way {
    case "devices":
      let rule = TextRule.identifier(longestDeviceID)
      return readNames(way, rule, fields, &findings).map { .devices($0.map(DeviceID.init(rawValue:))) }
    case "users":
      return readNames(way, .line(longestUser), fields, &findings).map { .users($0) }
    case "tokens": return readTokens(fields, &findings).map { .tokens($0) }
    case "audience", "filters": return readExpression(way, fields, &findings).map { .audience($0.canonical) }
    case "activity":
      return fields.text(way, .line(Self.longestActivity), &findings).map {
        .audience(AudienceExpression.term(.activity($0)).canonical)
      }
    case "channel":
      return readChannel(fields, &findings).map { .channel($0) }
    default: return readEveryone(fields, &findings)
    }
  }

  /// Recipients of several kinds beside each other.
  static func readListed(_ fields: Fields, _ findings: inout Findings) -> TestRecipients {
    var recipients = TestRecipients()
    if fields.has("devices") {
      let names = readNames("devices", .identifier(longestDeviceID), fields, &findings) ?? []
      recipients.devices = names.map(DeviceID.init(rawValue:))
    }
    if fields.has("users") { recipients.users = readNames("users", .line(longestUser), fields, &findings) ?? [] }
    if fields.has("tokens") { recipients.tokens = readTokens(fields, &findings) ?? [] }
    return recipients
  }

  private static func readNames(_ way: String, _ rule: TextRule, _ fields: Fields, _ findings: inout Findings)
    -> [String]?
  {
    guard let items = readTargets(way, fields, &findings) else { return nil }
    let place = fields.place.member(way)
    var names: [String] = []
    names.reserveCapacity(items.count)
    for (index, item) in items.enumerated() {
      guard case .string(let name) = item else {
        findings.refuse(place.element(index), .wrongType, "must be a string, not \(item.article)")
        continue
      }
      if let fault = rule.fault(in: name) {
        findings.refuse(place.element(index), fault.code, "this entry \(fault.detail)")
        continue
      }
      names.append(name)
    }
    return once(names.map(ExactText.init), at: place, &findings).map(\.text)
  }

  private static func readTokens(_ fields: Fields, _ findings: inout Findings) -> [Address]? {
    guard let items = readTargets("tokens", fields, &findings) else { return nil }
    let place = fields.place.member("tokens")
    var addresses: [Address] = []
    addresses.reserveCapacity(items.count)
    for (index, item) in items.enumerated() {
      guard let entry = Fields(item, at: place.element(index), of: .token, &findings) else { continue }
      if let address = readAddress(entry, &findings) { addresses.append(address) }
    }
    return once(addresses, at: place, &findings)
  }

  private static func readTargets(_ way: String, _ fields: Fields, _ findings: inout Findings) -> [JSONValue]? {
    let maximum = findings.maximumTargets
    if let given = fields[way]?.array, given.count > maximum {
      findings.refuse(
        fields.place.member(way), .tooMany,
        "`\(way)` has \(given.count) entries; the limit is \(maximum) (`limits.targets` of the configuration): "
          + "give the devices a tag (`fanfare devices import`) and send to the tag: "
          + "`\"to\": { \"audience\": \"the-tag\" }`; or send several messages")
      return nil
    }
    guard let items = fields.items(way, maximum: maximum, &findings) else { return nil }
    guard !items.isEmpty else {
      findings.refuse(fields.place.member(way), .empty, "`\(way)` is empty: a message needs at least one target")
      return nil
    }
    return items
  }

  private static func once<Target: Hashable>(_ targets: [Target], at place: Place, _ findings: inout Findings)
    -> [Target]
  {
    guard targets.count > 1 else { return targets }
    var seen = Set<Target>(minimumCapacity: targets.count)
    let unique = targets.filter { seen.insert($0).inserted }
    let removed = targets.count - unique.count
    if removed > 0 {
      findings.warn(
        place, "duplicate_targets",
        removed == 1 ? "1 target is repeated; it gets one push" : "\(removed) targets are repeated; each gets one push")
    }
    return unique
  }
}
