package import Domain

/// Reads a message and all that belongs to it (pure). A refusal tells every fault at once.
package enum MessageReader {
  /// A message as `POST /v1/messages` takes it. The same body reads the same at any later time, so that a worker can
  /// read what was stored.
  package static func message(from document: JSONValue) throws(Refusal) -> Message { try read(document).message }

  /// As `message(from:)`, with what was changed on the way. `providers`: those that exist, nil where any will do;
  /// `maximumTargets`: a lower bound than `RequestBounds.targets`; `now`: times that are asked for must lie ahead of
  /// it; `faults`: shared by all lines of a request.
  package static func read(
    _ document: JSONValue, providers: [ProviderName: TokenRules]? = nil,
    maximumTargets: Int = RequestBounds.targets, now: WallTime? = nil, faults: FaultBudget = FaultBudget()
  ) throws(Refusal) -> MessageReading {
    var findings = Findings(
      providers: providers, maximumTargets: min(maximumTargets, RequestBounds.targets), now: now, faults: faults)
    let message = read(document, &findings)
    do throws(Refusal) {
      try findings.refuse()
    } catch {
      var refusal = error
      refusal.partialMessage = message
      throw refusal
    }
    guard let message else { preconditionFailure("a message was not read, but nothing was found wrong with it") }
    return MessageReading(message: message, warnings: findings.warnings)
  }

  /// What a message lacks before it can be sent; nothing where it has other faults.
  package static func missing(in message: JSONValue, providers: [ProviderName: TokenRules]? = nil) -> [Violation] {
    var findings = Findings(providers: providers, maximumTargets: RequestBounds.targets, mayBeIncomplete: true)
    _ = read(message, &findings)
    return findings.missing
  }

  /// Nil only together with findings.
  static func read(_ document: JSONValue, _ findings: inout Findings) -> Message? {
    guard let fields = Fields(document, at: .root, of: .message, &findings) else { return nil }
    let recipients = RecipientsReader.read(fields, &findings)
    let kind = fields.choice("kind", Kind.self, &findings)
    var message = Message.Fields(to: recipients ?? .devices([]), kind: kind ?? .alert)
    read(document, fields, into: &message, &findings)
    if recipients == nil { return nil }
    return Message(consume message)
  }

  private static func read(
    _ document: JSONValue, _ fields: Fields, into message: inout Message.Fields, _ findings: inout Findings
  ) {
    NotificationReader.read(fields, into: &message.notification, &findings)
    message.data = DataReader.data(fields, &findings)
    message.contentAvailable = fields.flag("content_available", &findings) ?? false
    message.mutableContent = fields.flag("mutable_content", &findings)
    fields.read("encrypted_body", .opaque, into: &message.encryptedBody, &findings)
    if fields.has("live_activity") { message.liveActivity = LiveActivityReader.read(fields, &findings) }
    if fields.has("file_provider") { message.fileProvider = KindPayloadReader.fileProvider(fields, &findings) }
    if fields.has("mdm") { message.mdm = KindPayloadReader.mdm(fields, &findings) }
    message.priority = fields.choice("priority", Priority.self, &findings)
    message.ttl = readTTL(fields, of: message, &findings)
    // 64 bytes, not characters: protocols/apns.md section 2.
    fields.read("collapse_key", .line(64), into: &message.collapseKey, &findings)
    message.ordered = fields.flag("ordered", &findings) ?? true
    message.providers = ProviderReader.list(fields, &findings)
    message.replicas = fields.object("durability", of: .durability, &findings)?
      .integer("replicas", in: 0...16, &findings).map(Int.init)
    message.ratePerSecond = fields.integer("rate_per_second", in: 1...Message.maximumRate, &findings).map(Int.init)
    message.errorBrake = readErrorBrake(fields, &findings)
    fields.read("name", .line(Message.longestName), into: &message.name, &findings)
    message.labels = DataReader.labels(fields, &findings)
    message.analyticsLabel = DataReader.analyticsLabel(fields, &findings)
    OverridesReader.read(fields, into: &message.overrides, &findings)
    AimingReader.read(fields, &message, &findings)
    TimingReader.read(fields, &message, &findings)
    LiveActivityReader.warnOfTimes(message, fields, &findings)
    VariantReader.read(document, fields, &message, &findings)
    // With variants nobody gets the message as it is.
    if !fields.has("variants") { checkContent(message, fields, &findings) }
  }

  /// What the parts of a message ask of each other.
  static func checkContent(_ message: Message.Fields, _ fields: Fields, _ findings: inout Findings) {
    // Of a kind that could not be read, nothing is known that it asks for.
    guard !fields.hasOrMeans("kind") || fields["kind"]?.string.flatMap(Kind.init(rawValue:)) != nil else { return }
    KindRules.check(message, fields, &findings)
    NotificationRules.check(message, fields, &findings)
    PlaceholderRules.checkDefaults(message, fields, &findings)
    ChannelRules.check(message, fields, &findings)
    checkActivity(message, fields, &findings)
  }

  /// Only devices that show it already can be found by an activity.
  private static func checkActivity(_ message: Message.Fields, _ fields: Fields, _ findings: inout Findings) {
    switch message.to {
    case .audience: break
    // It could not be read.
    case .devices(let devices) where devices.isEmpty: break
    default: return
    }
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
        "a late `\(message.kind.rawValue)` push is useless: `ttl` must lie in "
          + "\(range.lowerBound)…\(range.upperBound) s, or leave it out")
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
}

/// A valid message, and what the client should know about it.
package struct MessageReading: Sendable {
  package var message: Message
  package var warnings: [Warning]
}
