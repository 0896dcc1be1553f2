import Domain

/// The `aps` dictionary of section 5.
enum APNsPayload {
  static func aps(_ message: Message, warnings: inout [RenderWarning]) -> [JSONMember] {
    var aps: [JSONMember] = []
    guard message.kind == .alert, let notification = message.notification else {
      if message.notification != nil {
        warnings.append(RenderWarning("/notification", "apns: a background message shows nothing"))
      }
      if message.kind == .background || message.contentAvailable { aps.set("content-available", 1) }
      return aps
    }
    aps.set("alert", members: alert(notification))
    aps.set("badge", notification.badge)
    aps.set("sound", sound(notification.sound, warnings: &warnings))
    aps.set("thread-id", notification.threadID)
    aps.set("category", notification.category)
    if message.contentAvailable { aps.set("content-available", 1) }
    if message.mutableContent ?? (notification.image != nil) { aps.set("mutable-content", 1) }
    aps.set("target-content-id", notification.targetContentID)
    aps.set("interruption-level", notification.interruptionLevel?.rawValue)
    aps.set("relevance-score", notification.relevanceScore.map(JSONValue.double))
    aps.set("filter-criteria", notification.filterCriteria)
    warn(about: notification, &warnings)
    return aps
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
        warnings.append(RenderWarning("/notification/sound/volume", "apns: only a critical sound has a volume"))
      }
      return .string(sound.name)
    }
    var members = [JSONMember("critical", .integer(1)), JSONMember("name", .string(sound.name))]
    members.set("volume", sound.volume.map(JSONValue.double))
    return .object(members)
  }

  private static func warn(about notification: Notification, _ warnings: inout [RenderWarning]) {
    if notification.link != nil {
      warnings.append(RenderWarning("/notification/link", "apns: no field for a link; the app can read one from data"))
    }
    if !notification.buttons.isEmpty {
      warnings.append(RenderWarning("/notification/buttons", "apns: buttons come from the app's category"))
    }
    if !notification.localized.isEmpty {
      warnings.append(
        RenderWarning("/notification/localized", "apns: not chosen per device yet; the default texts are sent"))
    }
  }
}
