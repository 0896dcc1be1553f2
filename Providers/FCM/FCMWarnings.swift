import Domain

/// What a notification asks for that not every platform behind FCM shows.
enum FCMWarnings {
  private static let appleOnly = "for Apple devices only"

  static func add(_ message: Message, _ notification: Notification, to warnings: inout [RenderWarning]) {
    let link = notification.link.map {
      $0.hasPrefix("https://") ? "opened by browsers only" : "left out, only https links are taken"
    }
    let limited: [(isGiven: Bool, pointer: String, note: String)] = [
      (notification.subtitle != nil, "/notification/subtitle", appleOnly),
      (notification.subtitleKey != nil, "/notification/subtitle_key", appleOnly),
      (notification.category != nil, "/notification/category", appleOnly),
      (notification.threadID != nil, "/notification/thread_id", appleOnly),
      (notification.launchImage != nil, "/notification/launch_image", appleOnly),
      (notification.targetContentID != nil, "/notification/target_content_id", appleOnly),
      (notification.filterCriteria != nil, "/notification/filter_criteria", appleOnly),
      (notification.relevanceScore != nil, "/notification/relevance_score", appleOnly),
      (
        notification.sound.map { $0.critical || $0.volume != nil } ?? false, "/notification/sound",
        "critical on Apple devices only; elsewhere its name counts"
      ),
      (
        notification.buttons.count > WebBlock.buttonLimit, "/notification/buttons",
        "the first \(WebBlock.buttonLimit) are shown, by browsers only"
      ),
      ((1...WebBlock.buttonLimit).contains(notification.buttons.count), "/notification/buttons", "for browsers only"),
      (
        notification.buttons.contains { $0.url != nil }, "/notification/buttons",
        "their URLs are left to the app's own code"
      ),
      (link != nil, "/notification/link", link ?? ""),
      (
        message.encryptedBody != nil, "/encrypted_body",
        "Android and browsers show the notification as it is; their apps find this in data"
      ),
    ]
    for (isGiven, pointer, note) in limited where isGiven {
      warnings.append(RenderWarning(pointer, "fcm: \(note)"))
    }
  }
}
