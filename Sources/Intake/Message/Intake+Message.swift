import Domain

extension Intake {
  /// Nil only together with findings.
  static func readMessage(_ document: JSONValue, _ findings: inout Findings) -> Message? {
    guard let fields = Fields(document, at: .root, of: .message, &findings) else { return nil }
    let recipients = readRecipients(fields, &findings)
    let kind = fields.choice("kind", Kind.self, &findings) ?? .alert

    var message = Message.Fields(to: recipients ?? .devices([]), kind: kind)
    message.notification = readNotification(fields, &findings)
    message.data = readData(fields, &findings)
    message.contentAvailable = fields.flag("content_available", &findings) ?? false
    message.mutableContent = fields.flag("mutable_content", &findings)
    message.encryptedBody = fields.text("encrypted_body", .opaque, &findings)
    message.liveActivity = readLiveActivity(fields, &findings)
    message.fileProvider = readFileProvider(fields, &findings)
    message.mdm = readMDM(fields, &findings)
    message.priority = fields.choice("priority", Priority.self, &findings)
    message.ttl = readTTL(fields, of: message, &findings)
    // 64 bytes, not characters: protocols/apns.md section 2.
    message.collapseKey = fields.text("collapse_key", .line(64), &findings)
    message.ordered = fields.flag("ordered", &findings) ?? true
    message.providers = readProviders(fields, &findings)
    message.replicas = fields.object("durability", of: .durability, &findings)?
      .integer("replicas", in: 0...16, &findings).map(Int.init)
    message.ratePerSecond = fields.integer("rate_per_second", in: 1...Message.maximumRate, &findings).map(Int.init)
    message.errorBrake = readErrorBrake(fields, &findings)
    message.name = fields.text("name", .line(Message.longestName), &findings)
    message.labels = readLabels(fields, &findings)
    message.analyticsLabel = readAnalyticsLabel(fields, &findings)
    message.overrides = readOverrides(fields, &findings)
    readAiming(fields, &message, &findings)
    readTiming(fields, &message, &findings)
    readVariants(document, fields, &message, &findings)
    // With variants nobody gets the message as it is.
    if !fields.has("variants") { checkContent(message, fields, &findings) }
    return recipients == nil ? nil : Message(message)
  }

  /// What the parts of a message ask of each other.
  static func checkContent(_ message: Message.Fields, _ fields: Fields, _ findings: inout Findings) {
    checkKind(message, fields, &findings)
    checkNotification(message, fields, &findings)
    checkDefaults(message, fields, &findings)
    checkChannel(message, fields, &findings)
    checkActivity(message, fields, &findings)
  }

  /// Only devices that show it already can be found by an activity.
  private static func checkActivity(_ message: Message.Fields, _ fields: Fields, _ findings: inout Findings) {
    guard fields["to"]?.object?.contains(where: { $0.key == "activity" }) == true else { return }
    let place = fields.place.member("to").member("activity")
    guard message.kind == .liveActivity else {
      return findings.refuse(
        place, .notAllowed, "only a `live_activity` push goes to an activity: name other recipients")
    }
    if message.liveActivity?.event == .start {
      findings.refuse(
        place, .notAllowed,
        "no device shows the activity before its start: send event `start` to `devices`, `users` or an `audience`")
    }
  }

  private static func readTTL(_ fields: Fields, of message: Message.Fields, _ findings: inout Findings) -> Int {
    let given = fields.integer("ttl", in: 0...Int64(Message.maximumTTL), &findings).map(Int.init)
    if let given, !message.kind.ttlRange.contains(given) {
      let range = message.kind.ttlRange
      findings.refuse(
        fields.place.member("ttl"), .outOfRange,
        "a late `\(message.kind.rawValue)` push is of no use: `ttl` must lie in "
          + "\(range.lowerBound)…\(range.upperBound), or leave it out")
    }
    // A channel may be of those that keep nothing: they take no other.
    if given == nil, case .channel = message.to { return 0 }
    return given ?? message.kind.defaultTTL
  }

  private static func readErrorBrake(_ fields: Fields, _ findings: inout Findings) -> ErrorBrake? {
    guard let own = fields.object("error_brake", of: .errorBrake, &findings) else { return nil }
    var brake = ErrorBrake()
    if let share = own.number("share", in: 0...1, &findings) { brake.share = share }
    let range = Int64(ErrorBrake.minimums.lowerBound)...Int64(ErrorBrake.minimums.upperBound)
    if let minimum = own.integer("minimum", in: range, &findings) { brake.minimum = Int(minimum) }
    return brake
  }

  static func readProviders(_ fields: Fields, _ findings: inout Findings) -> [ProviderName]? {
    guard let items = fields.items("providers", maximum: 16, &findings) else { return nil }
    let place = fields.place.member("providers")
    if items.isEmpty {
      findings.refuse(place, .empty, "names no provider: leave it out to use all")
    }
    var names: [ProviderName] = []
    for (index, item) in items.enumerated() {
      guard let name = readProvider(item, at: place.element(index), &findings) else { continue }
      if !names.contains(name) { names.append(name) }
    }
    return names
  }

  /// A provider's name; one that does not exist is refused where the names are known.
  static func readProvider(_ value: JSONValue, at place: Place, _ findings: inout Findings) -> ProviderName? {
    guard case .string(let text) = value else {
      findings.refuse(place, .wrongType, "must be a provider's name, not \(value.article)")
      return nil
    }
    if let fault = TextRule.identifier(32).fault(in: text) {
      findings.refuse(place, fault.code, "the provider's name \(fault.detail)")
      return nil
    }
    let name = ProviderName(rawValue: text)
    guard let known = findings.providers, known[name] == nil else { return name }
    let names = known.keys.map(\.rawValue).sorted()
    let hint =
      findings.faults.suggestion { Suggestion.nearest(to: text, among: names) }.map { "did you mean `\($0)`?" }
      ?? "use one of \(names.joined(separator: ", "))"
    findings.refuse(place, .unknownValue, "unknown provider; \(hint)")
    return nil
  }
}
