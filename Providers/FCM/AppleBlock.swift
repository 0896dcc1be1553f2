import Domain

/// `apns`, protocols/fcm.md section 3.4: what FCM passes on to Apple. Title and body come from the common
/// `notification` unless the alert needs more than these.
/// `APNsPayload` writes most of the same fields: no provider imports another, and what FCM passes on follows FCM's page.
enum AppleBlock {
  static let collapseIDLimit = 64

  static func members(
    _ message: Message, _ notification: Notification?, _ startedAt: WallTime, _ warnings: inout [RenderWarning]
  ) -> [JSONMember] {
    var members: [JSONMember] = []
    members.set("headers", members: headers(message, startedAt, &warnings))
    members.set("payload", members: [JSONMember("aps", .object(aps(message, notification)))])
    if let image = notification?.image {
      members.set("fcm_options", members: [JSONMember("image", .string(image))])
    }
    return members
  }

  static func headers(_ message: Message, _ startedAt: WallTime, _ warnings: inout [RenderWarning])
    -> [JSONMember]
  {
    // A call wakes the app as any data does: FCM reaches no VoIP token.
    let kind = message.kind == .voip ? .background : message.kind
    let priority =
      switch (kind, message.effectivePriority) {
      case (.background, _), (_, .normal), (.liveActivity, .low): "5"
      case (_, .low): "1"
      case (_, .high): "10"
      }
    let expiration = message.ttl == 0 ? 0 : startedAt.seconds + Int64(message.ttl)
    var headers: [JSONMember] = []
    // FCM knows a Live Activity by its token, and fills in type and topic.
    if kind != .liveActivity { headers.set("apns-push-type", kind.rawValue) }
    headers.set("apns-priority", priority)
    headers.set("apns-expiration", String(expiration))
    if let key = message.collapseKey {
      if key.utf8.count <= collapseIDLimit, Header.isSafeValue(key) {
        headers.set("apns-collapse-id", key)
      } else {
        warnings.append(RenderWarning("/collapse_key", "fcm: no collapse id for Apple devices, left out there"))
      }
    }
    return headers
  }

  private static func aps(_ message: Message, _ notification: Notification?) -> [JSONMember] {
    var aps: [JSONMember] = []
    guard let notification else {
      if message.kind == .background || message.kind == .voip || message.contentAvailable {
        aps.set("content-available", 1)
      }
      return aps
    }
    aps.set("alert", members: alert(notification))
    aps.set("badge", notification.badge)
    aps.set("sound", sound(notification.sound))
    aps.set("thread-id", notification.threadID)
    aps.set("category", notification.effectiveCategory)
    if message.contentAvailable { aps.set("content-available", 1) }
    if message.mutableContent ?? notification.asksExtension(encryptedBody: message.encryptedBody) {
      aps.set("mutable-content", 1)
    }
    aps.set("target-content-id", notification.targetContentID)
    aps.set("interruption-level", notification.interruptionLevel?.rawValue)
    aps.set("relevance-score", notification.relevanceScore.map(JSONValue.double))
    aps.set("filter-criteria", notification.filterCriteria)
    return aps
  }

  private static func alert(_ notification: Notification) -> [JSONMember] {
    var alert: [JSONMember] = []
    alert.set("subtitle", notification.subtitle)
    alert.set("title-loc-key", notification.titleKey)
    alert.set("title-loc-args", strings: notification.titleArgs)
    alert.set("subtitle-loc-key", notification.subtitleKey)
    alert.set("subtitle-loc-args", strings: notification.subtitleArgs)
    alert.set("loc-key", notification.bodyKey)
    alert.set("loc-args", strings: notification.bodyArgs)
    alert.set("launch-image", notification.launchImage)
    if alert.isEmpty { return [] }
    // An alert given here stands in place of the common texts.
    alert.set("title", notification.title)
    alert.set("body", notification.body)
    return alert
  }

  private static func sound(_ sound: Sound?) -> JSONValue? {
    guard let sound else { return nil }
    guard sound.critical else { return .string(sound.name) }
    var members = [JSONMember("critical", .integer(1)), JSONMember("name", .string(sound.name))]
    members.set("volume", sound.volume.map(JSONValue.double))
    return .object(members)
  }
}
