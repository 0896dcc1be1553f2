import Domain

/// The `aps` dictionary of protocols/apns.md section 5.
enum APNsPayload {
  /// `notification`: the message's.
  static func aps(
    _ message: Message, _ notification: Notification?, warnings: inout [RenderWarning]
  ) -> [JSONMember] {
    var aps: [JSONMember] = []
    switch message.kind {
    case .alert: break
    case .background:
      if notification != nil {
        warnings.append(
          RenderWarning("/notification", "apns: a background message shows nothing", isLeftOut: true))
      }
      return [contentAvailable]
    case .liveActivity: return message.liveActivity.map { activity($0, notification, &warnings) } ?? []
    case .widgets, .controls: return [JSONMember("content-changed", .bool(true))]
    case .voip, .location, .complication, .fileProvider, .mdm, .pushToTalk: return []
    }
    guard let notification else { return message.contentAvailable ? [contentAvailable] : [] }
    aps.set("alert", members: alert(notification))
    aps.set("badge", notification.badge)
    aps.set("sound", sound(notification.sound, warnings: &warnings))
    aps.set("thread-id", notification.threadID)
    aps.set("category", notification.effectiveCategory)
    if message.contentAvailable { aps.append(contentAvailable) }
    if message.mutableContent ?? notification.asksExtension(encryptedBody: message.encryptedBody) {
      aps.set("mutable-content", 1)
    }
    aps.set("target-content-id", notification.targetContentID)
    aps.set("interruption-level", notification.interruptionLevel?.rawValue)
    aps.set("relevance-score", notification.relevanceScore.map(JSONValue.double))
    aps.set("filter-criteria", notification.filterCriteria)
    warn(about: notification, &warnings)
    return aps
  }

  static let encryptedBodyKey = "encrypted_body"
  private static let contentAvailable = JSONMember("content-available", .integer(1))

  /// What stands beside `aps`, or in its place, for kinds whose payload is not the app's own.
  static func own(_ message: Message) throws(RenderFault) -> [JSONMember] {
    switch message.kind {
    case .fileProvider:
      guard let fileProvider = message.fileProvider else { throw missing("file_provider", of: message.kind) }
      var members = [JSONMember("container-identifier", .string(fileProvider.containerIdentifier))]
      members.set("domain", fileProvider.domain)
      return members
    case .mdm:
      guard let mdm = message.mdm else { throw missing("mdm", of: message.kind) }
      return [JSONMember("mdm", .string(mdm.pushMagic))]
    case .liveActivity:
      if message.liveActivity == nil { throw missing("live_activity", of: message.kind) }
      return []
    default: return []
    }
  }

  private static func missing(_ field: String, of kind: Kind) -> RenderFault {
    RenderFault(
      pointer: "/\(field)", code: RenderFault.requiredCode,
      detail: "apns: a \(kind.rawValue) push cannot be sent without \(field)")
  }

  private static func alert(_ notification: Notification) -> [JSONMember] {
    var alert: [JSONMember] = []
    alert.set("title", notification.title)
    alert.set("subtitle", notification.subtitle)
    alert.set("body", notification.body)
    alert.set("title-loc-key", notification.titleKey)
    alert.set("title-loc-args", strings: notification.titleArgs)
    alert.set("subtitle-loc-key", notification.subtitleKey)
    alert.set("subtitle-loc-args", strings: notification.subtitleArgs)
    alert.set("loc-key", notification.bodyKey)
    alert.set("loc-args", strings: notification.bodyArgs)
    alert.set("launch-image", notification.launchImage)
    return alert
  }

  /// A name; a dictionary only for critical alerts, which alone have a volume.
  private static func sound(_ sound: Sound?, warnings: inout [RenderWarning]) -> JSONValue? {
    guard let sound else { return nil }
    guard sound.critical else {
      if sound.volume != nil {
        warnings.append(
          RenderWarning("/notification/sound/volume", "apns: only a critical sound has a volume", isLeftOut: true))
      }
      return .string(sound.name)
    }
    var members = [JSONMember("critical", .integer(1)), JSONMember("name", .string(sound.name))]
    members.set("volume", sound.volume.map(JSONValue.double))
    return .object(members)
  }

  private static func warn(about notification: Notification, _ warnings: inout [RenderWarning]) {
    func warn(_ isGiven: Bool, _ field: String, _ note: String) {
      guard isGiven else { return }
      warnings.append(RenderWarning("/notification/\(field)", "apns: \(note)", isLeftOut: true))
    }
    warn(notification.icon != nil, "icon", "the app's own icon is shown")
    warn(notification.color != nil, "color", "no field for a color")
    warn(notification.androidChannel != nil, "android_channel", "Android only")
    warn(notification.androidVisibility != nil, "android_visibility", "Android only")
    warn(notification.androidTag != nil, "android_tag", "Android only; a collapse key replaces here")
    warn(notification.androidCount != nil, "android_count", "Android only; the badge counts here")
    warn(notification.androidTicker != nil, "android_ticker", "Android only")
    warn(notification.web != nil, "web", "for browsers only")
  }
}
