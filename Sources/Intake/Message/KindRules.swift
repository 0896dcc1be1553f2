import Domain

/// What each kind of message takes and needs: combinations that vendors refuse, or that contradict themselves.
enum KindRules {
  /// Priorities that APNs takes for a kind (protocols/apns.md section 3).
  private static func priorities(of kind: Kind) -> [Priority] {
    switch kind {
    // APNs takes no urgent background push: there it goes as normal, with a warning.
    case .alert, .background: [.high, .normal, .low]
    case .voip, .pushToTalk, .mdm: [.high]
    case .liveActivity, .location, .complication, .fileProvider, .widgets, .controls: [.high, .normal]
    }
  }

  static func check(_ message: Message.Fields, _ fields: Fields, _ findings: inout Findings) {
    let place = fields.place
    let kind = message.kind
    func belongs(_ name: String, to kinds: @autoclosure () -> [Kind], _ why: String, _ findings: inout Findings) {
      if fields.has(name), !kinds().contains(kind) { refuse(name, of: kind, kinds(), why, place, &findings) }
    }
    belongs("notification", to: [.alert, .liveActivity], "shows no notification", &findings)
    belongs(
      "data", to: [.alert, .background, .voip, .location, .complication, .pushToTalk], "has its own payload",
      &findings)
    belongs("encrypted_body", to: [.alert], "has no text that a service extension could change", &findings)
    belongs("live_activity", to: [.liveActivity], "does not change a Live Activity", &findings)
    belongs("file_provider", to: [.fileProvider], "does not go to a file provider", &findings)
    belongs("mdm", to: [.mdm], "does not go to device management", &findings)
    let own: Schema? =
      switch kind {
      case .liveActivity: .liveActivity
      case .fileProvider: .fileProvider
      case .mdm: .mdm
      default: nil
      }
    if let own {
      fields.require(
        own.name, "kind `\(kind.rawValue)` needs `\(own.name)`\(FieldHint.object(own))", &findings)
    }
    if kind == .voip, message.data.isEmpty, !fields.hasOrMeans("data") {
      findings.refuse(place.member("data"), .required, "a call needs `data`: it tells the app who calls")
    }
    if let priority = message.priority, !priorities(of: kind).contains(priority) {
      let words = priorities(of: kind).map { "`\($0.rawValue)`" }.joined(separator: " or ")
      findings.refuse(
        place.member("priority"), .notAllowed,
        "APNs refuses `\(kind.rawValue)` pushes of \(priority.rawValue) priority: use \(words), or leave it out")
    }
    if kind == .background, fields["content_available"] == .bool(false) {
      findings.refuse(
        place.member("content_available"), .notAllowed, "a background push is always content-available: leave it out")
    }
    if message.contentAvailable, kind != .alert, kind != .background {
      findings.refuse(
        place.member("content_available"), .notAllowed, "is for alerts and background pushes: leave it out")
    }
    if message.mutableContent == true, kind != .alert {
      findings.refuse(
        place.member("mutable_content"), .notAllowed,
        "\(named(kind)) has no text that a service extension could change: leave it out")
    }
  }

  private static func named(_ kind: Kind) -> String {
    let article = kind.rawValue.first.map("aeiou".contains) == true ? "an" : "a"
    return "\(article) `\(kind.rawValue)` push"
  }

  /// Refuses a member that only other kinds take.
  private static func refuse(
    _ name: String, of kind: Kind, _ kinds: [Kind], _ why: String, _ place: Place, _ findings: inout Findings
  ) {
    let names = kinds.map { "`\($0.rawValue)`" }.joined(separator: ", ")
    findings.refuse(
      place.member(name), .notAllowed, "\(named(kind)) \(why): leave `\(name)` out (it is for \(names))")
  }
}
