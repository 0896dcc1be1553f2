import Domain

/// What a message asks for that browsers do not show.
enum WebPushWarnings {
  private static let buttonLimit = 2
  private static let appsOnly = "for apps only; browsers have no place for it"
  private static let noTexts = "browsers have no texts of an app; give the text itself, or `localized`"

  static func add(_ message: Message, to warnings: inout [RenderWarning]) {
    var absent: [(isGiven: Bool, pointer: String, note: String)] = [
      (message.analyticsLabel != nil, "/analytics_label", "push services count nothing by labels"),
      (message.contentAvailable, "/content_available", "a push always wakes the site's service worker"),
    ]
    if message.kind == .background {
      absent.append((message.mutableContent != nil, "/mutable_content", "there is nothing to change"))
    }
    if message.kind == .alert, let notification = message.notification {
      absent += [
        (notification.subtitle != nil, "/notification/subtitle", appsOnly),
        (notification.titleKey != nil, "/notification/title_key", noTexts),
        (!notification.titleArgs.isEmpty, "/notification/title_args", noTexts),
        (notification.subtitleKey != nil, "/notification/subtitle_key", noTexts),
        (!notification.subtitleArgs.isEmpty, "/notification/subtitle_args", noTexts),
        (notification.bodyKey != nil, "/notification/body_key", noTexts),
        (!notification.bodyArgs.isEmpty, "/notification/body_args", noTexts),
        (notification.category != nil, "/notification/category", appsOnly),
        (notification.threadID != nil, "/notification/thread_id", appsOnly),
        (notification.sound != nil, "/notification/sound", "browsers choose the sound; `web.silent` turns it off"),
        (notification.interruptionLevel != nil, "/notification/interruption_level", appsOnly),
        (notification.relevanceScore != nil, "/notification/relevance_score", appsOnly),
        (notification.launchImage != nil, "/notification/launch_image", appsOnly),
        (notification.targetContentID != nil, "/notification/target_content_id", appsOnly),
        (notification.filterCriteria != nil, "/notification/filter_criteria", appsOnly),
        (notification.icon != nil, "/notification/icon", "for apps only; `web.icon` is for browsers"),
        (notification.color != nil, "/notification/color", appsOnly),
        (notification.androidChannel != nil, "/notification/android_channel", appsOnly),
        (notification.androidVisibility != nil, "/notification/android_visibility", appsOnly),
        (notification.androidTag != nil, "/notification/android_tag", "for apps only; `web.tag` is for browsers"),
        (notification.androidCount != nil, "/notification/android_count", appsOnly),
        (notification.androidTicker != nil, "/notification/android_ticker", appsOnly),
      ]
      addLimits(of: notification, to: &warnings)
    }
    for (isGiven, pointer, note) in absent where isGiven {
      warnings.append(RenderWarning(pointer, "webpush: \(note)", isLeftOut: true))
    }
  }

  private static func addLimits(of notification: Notification, to warnings: inout [RenderWarning]) {
    if notification.buttons.count > buttonLimit {
      warnings.append(
        RenderWarning("/notification/buttons", "webpush: browsers show the first \(buttonLimit) or none"))
    }
    let https = "webpush: browsers open https links only"
    if let link = notification.link, !isWebLink(link) { warnings.append(RenderWarning("/notification/link", https)) }
    for (place, button) in notification.buttons.enumerated() {
      guard let url = button.url, !isWebLink(url) else { continue }
      warnings.append(RenderWarning("/notification/buttons/\(place)/url", https))
    }
  }

  private static func isWebLink(_ link: String) -> Bool { link.lowercased().hasPrefix("https://") }
}
