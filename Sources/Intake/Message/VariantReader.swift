import Domain

/// Reads `variants` and `holdout`: shares of the devices that get something else, or nothing.
enum VariantReader {
  /// What a variant may change, member by member.
  private static let changeable = ["notification", "data"]
  private static let texts = ["title", "subtitle", "body"]
  /// In hundredths of a percent.
  private static let onePercent = 100

  static func read(
    _ document: JSONValue, _ fields: Fields, _ message: inout Message.Fields, _ findings: inout Findings
  ) {
    guard fields.has("variants") || fields.has("holdout") else { return }
    let holdout = fields.has("holdout") ? fields.percent("holdout", &findings) : 0
    message.holdout = holdout ?? 0
    if let holdout, (1..<onePercent).contains(holdout) {
      let meant = percent(holdout * onePercent)
      findings.warn(
        fields.place.member("holdout"), "small_holdout",
        "is in percent: \(percent(holdout)) leaves out \(holdout) of 10,000 devices; for \(meant) % write \(meant)")
    }
    for name in ["variants", "holdout"] where fields.has(name) {
      if message.isOneDelivery {
        findings.refuse(
          fields.place.member(name), .notAllowed, "this message is one delivery and cannot have variants: leave it out")
      }
    }
    let place = fields.place.member("variants")
    guard let items = fields.items("variants", maximum: Message.maximumVariants, &findings) else {
      if !fields.has("variants"), holdout == VariantShares.whole {
        findings.refuse(fields.place.member("holdout"), .outOfRange, "a holdout of 100 % sends nothing to anybody")
      }
      return
    }
    if items.isEmpty { return findings.refuse(place, .empty, "is empty: leave it out") }
    var weights: [Int?] = []
    var names: Set<String> = []
    for (index, item) in items.enumerated() {
      guard let own = Fields(item, at: place.element(index), of: .variant, &findings) else {
        weights.append(nil)
        continue
      }
      for name in ["name", "weight"] { own.require(name, "a variant needs `\(name)`", &findings) }
      let name = own.text("name", .identifier(32), &findings) ?? String(index)
      if !names.insert(name).inserted {
        findings.refuse(own.place.member("name"), .duplicate, "another variant has the name `\(name)`")
      }
      let weight = own.percent("weight", &findings)
      weights.append(weight)
      var variant = Variant(name: name, weight: weight ?? 0, notification: nil, data: [])
      readContent(of: &variant, item, own, document, message, &findings)
      message.variants.append(variant)
    }
    // Where one could not be read, nothing is said about the sum.
    let known = weights.compactMap { $0 }
    guard let holdout, known.count == weights.count else { return }
    checkSum(known.reduce(0, +) + holdout, at: place, &findings)
  }

  private static func checkSum(_ sum: Int, at place: Place, _ findings: inout Findings) {
    let off = sum - VariantShares.whole
    guard off != 0 else { return }
    let total = "the weights and `holdout` add up to \(percent(sum)) %, not 100"
    if off > 0 {
      findings.refuse(place, .outOfRange, "\(total): remove \(percent(off))")
    } else {
      findings.refuse(place, .required, "\(total): add \(percent(-off))")
    }
  }

  private static func percent(_ hundredths: Int) -> String {
    let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
    if rest == 0 { return String(whole) }
    return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
  }

  /// The message as the variant makes it, by the same rules as a message by itself. A fault is told where it stands: in
  /// the variant, or once in the message.
  private static func readContent(
    of variant: inout Variant, _ item: JSONValue, _ own: Fields, _ document: JSONValue, _ message: Message.Fields,
    _ findings: inout Findings
  ) {
    var inner = Findings(like: findings)
    // What the message holds besides is said already.
    var ignored = Findings(like: findings)
    guard let fields = Fields(merged(document, own["notification"], own["data"]), at: .root, of: .message, &ignored)
    else { return }
    var content = message
    content.notification = nil
    NotificationReader.read(fields, into: &content.notification, &inner)
    content.data = DataReader.data(fields, &inner)
    MessageReader.checkContent(content, fields, &inner)
    variant.notification = content.notification
    variant.data = content.data
    findings.add(inner, of: "variant `\(variant.name)`") { pointer in
      for section in changeable {
        guard let change = own[section], pointer == "/\(section)" || pointer.hasPrefix("/\(section)/") else { continue }
        guard let member = pointer.split(separator: "/").dropFirst().first, let members = change.object else {
          return own.place.pointer + pointer
        }
        if members.contains(where: { Place.root.member($0.key).pointer.dropFirst() == member }) {
          return own.place.pointer + pointer
        }
      }
      return nil
    }
    warnOfLanguages(own, document, &findings)
  }

  /// A message with members of a variant in place of its own.
  private static func merged(_ document: JSONValue, _ notification: JSONValue?, _ data: JSONValue?) -> JSONValue {
    var members = document.object ?? []
    for (section, change) in zip(changeable, [notification, data]) {
      guard let change else { continue }
      guard let changes = change.object else {
        members.set(section, change)
        continue
      }
      var merged = members[section]?.object ?? []
      merged.set(changes)
      members.set(section, .object(merged))
    }
    return .object(members)
  }

  /// A valid message as the devices of each of its variants get it, or as it is.
  static func contents(of document: JSONValue) -> [(name: String?, document: JSONValue)] {
    guard let variants = document["variants"]?.array, !variants.isEmpty else { return [(nil, document)] }
    return variants.map { ($0["name"]?.string, merged(document, $0["notification"], $0["data"])) }
  }

  private static func warnOfLanguages(_ own: Fields, _ document: JSONValue, _ findings: inout Findings) {
    guard let change = own["notification"], change["localized"] == nil, texts.contains(where: { change[$0] != nil }),
      document["notification"]?["localized"]?.object?.isEmpty == false
    else { return }
    findings.warn(
      own.place.member("notification"), "not_localized",
      "devices with a language in `localized` get the message's texts, not this variant's: add `localized` to the variant"
    )
  }
}

extension Fields {
  /// Of a hundred, with at most two decimals: in hundredths of a percent.
  func percent(_ name: String, _ findings: inout Findings) -> Int? {
    guard let number = number(name, in: 0.01...100, &findings) else { return nil }
    let hundredths = (number * 100).rounded()
    guard abs(number * 100 - hundredths) < 1e-6 else {
      findings.refuse(place.member(name), .invalidFormat, "`\(name)` is in percent, with at most two decimals")
      return nil
    }
    return Int(hundredths)
  }
}

extension Message.Fields {
  /// A provider shares it out among devices that are not known here.
  fileprivate var isOneDelivery: Bool {
    if case .channel = to { return true }
    return oneSignalTargeting == .provider
  }
}
