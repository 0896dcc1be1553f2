import Domain

extension Intake {
  /// Nil only together with findings.
  static func readMessage(_ document: JSONValue, _ findings: inout Findings) -> Message? {
    guard let fields = Fields(document, at: .root, of: .message, &findings) else { return nil }
    let recipients = readRecipients(fields, &findings)
    let kind = fields.choice("kind", Kind.self, &findings) ?? .alert
    if kind != .alert && kind != .background {
      findings.postpone(fields.place.member("kind"), "kind `\(kind.rawValue)`", to: .breadth)
    }

    var message = Message(to: recipients ?? .devices([]), kind: kind)
    message.notification = readNotification(fields, &findings)
    message.data = readData(fields, &findings)
    message.contentAvailable = fields.flag("content_available", &findings) ?? false
    message.mutableContent = fields.flag("mutable_content", &findings)
    message.liveActivity = readLiveActivity(fields, &findings)
    message.priority = fields.choice("priority", Priority.self, &findings)
    message.ttl =
      fields.integer("ttl", in: 0...Int64(Message.maximumTTL), &findings).map(Int.init) ?? Message.defaultTTL
    // 64 bytes, not characters: APNs sheet section 2.
    message.collapseKey = fields.text("collapse_key", .line(64), &findings)
    message.ordered = fields.flag("ordered", &findings) ?? true
    message.providers = readProviders(fields, &findings)
    message.labels = readLabels(fields, &findings)
    message.overrides = readOverrides(fields, &findings)
    readPlanned(fields, &findings)

    checkAgreement(message, fields, &findings)
    return recipients == nil ? nil : message
  }

  /// Combinations that vendors refuse, or that contradict themselves.
  private static func checkAgreement(_ message: Message, _ fields: Fields, _ findings: inout Findings) {
    let place = fields.place
    switch message.kind {
    case .background:
      if message.priority == .high {
        findings.refuse(
          place.member("priority"), .notAllowed,
          "APNs refuses background pushes of high priority: use `normal` or `low`, or kind `alert`")
      }
      if fields.has("notification") {
        findings.refuse(
          place.member("notification"), .notAllowed,
          "a background push shows nothing: leave `notification` out, or use kind `alert`")
      }
      if fields["content_available"] == .bool(false) {
        findings.refuse(
          place.member("content_available"), .notAllowed,
          "a background push is always content-available: leave it out")
      }
      if message.mutableContent == true {
        findings.refuse(
          place.member("mutable_content"), .notAllowed,
          "a background push has no text that a service extension could change: leave it out")
      }
    case .alert:
      guard let notification = message.notification else {
        if !fields.has("notification") {
          findings.refuse(
            place.member("notification"), .required, "an alert needs `notification` with a text, a sound or a badge")
        }
        break
      }
      if !notification.hasText, notification.sound == nil, notification.badge == nil,
        !findings.violations.contains(where: { $0.pointer.hasPrefix("/notification") })
      {
        findings.refuse(
          place.member("notification"), .required,
          "an alert needs a text (`title`, `body`, `title_key` …), a `sound` or a `badge`; for a silent push use kind "
            + "`background`")
      } else if message.mutableContent == true, !notification.hasText {
        findings.refuse(
          place.member("mutable_content"), .notAllowed, "needs a `title`, `subtitle` or `body` that could be changed")
      }
    case .liveActivity:
      if !fields.has("live_activity") {
        findings.refuse(place.member("live_activity"), .required, "kind `live_activity` needs `live_activity`")
      }
    default: break
    }
    if message.kind != .liveActivity, fields.has("live_activity") {
      findings.refuse(
        place.member("live_activity"), .notAllowed, "belongs to kind `live_activity`, not to `\(message.kind.rawValue)`"
      )
    }
  }

  private static func readProviders(_ fields: Fields, _ findings: inout Findings) -> [ProviderName]? {
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
    guard let known = findings.providers, !known.contains(name) else { return name }
    let names = known.map(\.rawValue).sorted()
    let hint =
      Suggestion.nearest(to: text, among: names).map { "did you mean `\($0)`?" }
      ?? "use one of \(names.joined(separator: ", "))"
    findings.refuse(place, .unknownValue, "unknown provider; \(hint)")
    return nil
  }
}

extension Notification {
  /// True if there is something to read.
  fileprivate var hasText: Bool {
    if titleKey != nil || subtitleKey != nil || bodyKey != nil { return true }
    let texts = [title, subtitle, body] + localized.flatMap { [$0.title, $0.subtitle, $0.body] }
    return texts.contains { $0?.isEmpty == false }
  }
}
