import Domain

/// What each kind of message takes and needs: combinations that vendors refuse, or that contradict themselves.
extension Intake {
  /// Members that only some kinds take, and why others do not.
  private static let belongings: [(name: String, kinds: [Kind], why: String)] = [
    ("notification", [.alert, .liveActivity], "shows no notification"),
    ("data", [.alert, .background, .voip, .location, .complication, .pushToTalk], "has its own payload"),
    ("encrypted_body", [.alert], "has no text that a service extension could change"),
    ("live_activity", [.liveActivity], "does not change a Live Activity"),
    ("file_provider", [.fileProvider], "does not go to a file provider"),
    ("mdm", [.mdm], "does not go to device management"),
  ]

  /// Priorities that APNs takes for a kind (protocols/apns.md section 3).
  private static func priorities(of kind: Kind) -> [Priority] {
    switch kind {
    // APNs takes no urgent background push: there it goes as normal, with a warning.
    case .alert, .background: [.high, .normal, .low]
    case .voip, .pushToTalk, .mdm: [.high]
    case .liveActivity, .location, .complication, .fileProvider, .widgets, .controls: [.high, .normal]
    }
  }

  static func checkKind(_ message: Message.Fields, _ fields: Fields, _ findings: inout Findings) {
    let place = fields.place
    let kind = message.kind
    for (name, kinds, why) in belongings where fields.has(name) && !kinds.contains(kind) {
      let names = kinds.map { "`\($0.rawValue)`" }.joined(separator: ", ")
      findings.refuse(
        place.member(name), .notAllowed, "a `\(kind.rawValue)` push \(why): leave `\(name)` out (it is for \(names))")
    }
    let own: String? =
      switch kind {
      case .liveActivity: "live_activity"
      case .fileProvider: "file_provider"
      case .mdm: "mdm"
      default: nil
      }
    if let name = own, !fields.has(name) {
      findings.refuse(place.member(name), .required, "kind `\(kind.rawValue)` needs `\(name)`")
    }
    if kind == .voip, message.data.isEmpty, !fields.has("data") {
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
        "a `\(kind.rawValue)` push has no text that a service extension could change: leave it out")
    }
  }

  static func readFileProvider(_ message: Fields, _ findings: inout Findings) -> FileProvider? {
    guard let fields = message.object("file_provider", of: .fileProvider, &findings) else { return nil }
    if !fields.has("container_identifier") {
      findings.refuse(fields.place.member("container_identifier"), .required, "name the container that has changed")
    }
    let domain = fields.text("domain", .line(256), &findings)
    guard let container = fields.text("container_identifier", .line(256), &findings) else { return nil }
    return FileProvider(containerIdentifier: container, domain: domain)
  }

  static func readMDM(_ message: Fields, _ findings: inout Findings) -> MDM? {
    guard let fields = message.object("mdm", of: .mdm, &findings) else { return nil }
    if !fields.has("push_magic") {
      findings.refuse(
        fields.place.member("push_magic"), .required, "give the `PushMagic` that the device sent when it enrolled")
    }
    return fields.text("push_magic", .line(256), &findings).map(MDM.init(pushMagic:))
  }
}
