import Domain

/// Everything of a notification but its texts (protocols/onesignal.md sections 2.3 to 2.6).
enum OneSignalLook {
  static let buttonLimit = 3
  static let webButtonLimit = 2

  static func write(_ notification: Notification, to members: inout [JSONMember], _ warnings: inout [RenderWarning]) {
    apple(notification, to: &members, &warnings)
    members.set("android_group", notification.threadID)
    members.set("existing_android_channel_id", notification.androidChannel)
    members.set("small_icon", notification.icon)
    members.set("android_accent_color", notification.color.map { "FF" + $0.drop { $0 == "#" }.uppercased() })
    if let image = notification.image {
      members.set("ios_attachments", members: [JSONMember("image", .string(image))])
      members.set("big_picture", image)
      members.set("chrome_web_image", image)
    }
    if let link = notification.link { members.set(isWebAddress(link) ? "url" : "app_url", link) }
    members.set("android_visibility", notification.androidVisibility.map(visibility))
    if let web = notification.web { write(web, to: &members) }
    buttons(notification.buttons, to: &members, &warnings)
    warn(about: notification, &warnings)
  }

  /// Browsers open these too; what an app alone can open is no `url`.
  private static func isWebAddress(_ link: String) -> Bool {
    let link = link.lowercased()
    return link.hasPrefix("https://") || link.hasPrefix("http://")
  }

  private static func visibility(_ visibility: AndroidVisibility) -> Int {
    switch visibility {
    case .public: 1
    case .private: 0
    case .secret: -1
    }
  }

  private static func write(_ web: WebLook, to members: inout [JSONMember]) {
    members.set("chrome_web_icon", web.icon)
    members.set("firefox_icon", web.icon)
    members.set("chrome_web_badge", web.badge)
    members.set("web_push_topic", web.tag)
  }

  private static func warn(about notification: Notification, _ warnings: inout [RenderWarning]) {
    let absent: [(isGiven: Bool, field: String, note: String)] = [
      (notification.launchImage != nil, "launch_image", "no field for it"),
      (notification.filterCriteria != nil, "filter_criteria", "no field for it"),
      (notification.androidTag != nil, "android_tag", "no field for it; a collapse key replaces here"),
      (notification.androidCount != nil, "android_count", "no field for it; OneSignal counts on Android by itself"),
      (notification.androidTicker != nil, "android_ticker", "no field for it"),
      (notification.web?.requireInteraction != nil, "web/require_interaction", "set for all in OneSignal's dashboard"),
      (notification.web?.silent != nil, "web/silent", "no field for it"),
    ]
    for (isGiven, field, note) in absent where isGiven {
      warnings.append(RenderWarning("/notification/\(field)", "onesignal: \(note)", isLeftOut: true))
    }
    for (place, button) in notification.buttons.enumerated() {
      guard let url = button.url, !isWebAddress(url) else { continue }
      warnings.append(
        RenderWarning(
          "/notification/buttons/\(place)/url", "onesignal: a button's URL is for browsers, and only of http or https",
          isLeftOut: true))
    }
  }

  private static func apple(
    _ notification: Notification, to members: inout [JSONMember], _ warnings: inout [RenderWarning]
  ) {
    var alert: [JSONMember] = []
    alert.set("title-loc-key", notification.titleKey)
    alert.set("title-loc-args", strings: notification.titleArgs)
    alert.set("subtitle-loc-key", notification.subtitleKey)
    alert.set("subtitle-loc-args", strings: notification.subtitleArgs)
    alert.set("loc-key", notification.bodyKey)
    alert.set("loc-args", strings: notification.bodyArgs)
    members.set("apns_alert", members: alert)
    if let badge = notification.badge {
      members.set("ios_badgeType", "SetTo")
      members.set("ios_badgeCount", badge)
    }
    members.set("ios_sound", notification.sound?.name)
    if let sound = notification.sound {
      for (field, isGiven) in [("critical", sound.critical), ("volume", sound.volume != nil)] where isGiven {
        warnings.append(
          RenderWarning(
            "/notification/sound/\(field)", "onesignal: only the sound's name is carried", isLeftOut: true))
      }
    }
    members.set("ios_category", notification.category)
    members.set("thread_id", notification.threadID)
    members.set(
      "ios_interruption_level",
      notification.interruptionLevel.map { $0 == .timeSensitive ? "time_sensitive" : $0.rawValue })
    members.set("ios_relevance_score", notification.relevanceScore.map(JSONValue.double))
    members.set("target_content_identifier", notification.targetContentID)
  }

  private static func buttons(
    _ buttons: [Button], to members: inout [JSONMember], _ warnings: inout [RenderWarning]
  ) {
    if buttons.isEmpty { return }
    if buttons.count > buttonLimit {
      warnings.append(RenderWarning("/notification/buttons", "onesignal: the first \(buttonLimit) are shown"))
    }
    func member(_ button: Button) -> [JSONMember] {
      var members = [JSONMember("id", .string(button.id)), JSONMember("text", .string(button.text))]
      members.set("icon", button.icon)
      return members
    }
    members.set("buttons", .array(buttons.prefix(buttonLimit).map { .object(member($0)) }))
    let web = buttons.filter { $0.url.map(isWebAddress) ?? false }.prefix(webButtonLimit).map { button in
      var inner = member(button)
      inner.set("url", button.url)
      return JSONValue.object(inner)
    }
    if !web.isEmpty { members.set("web_buttons", .array(web)) }
  }
}
