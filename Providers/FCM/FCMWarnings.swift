import Domain

/// What a notification asks for that not every platform behind FCM shows.
enum FCMWarnings {
  private static let appleOnly = "for Apple devices only"

  /// Seconds between the full, half and quarter hours, and how far bulk sends are to keep away from them.
  private static let quarter: Int64 = 900
  private static let crowd: Int64 = 120

  /// The vendor asks bulk sends to stay away from the times at which everybody sends.
  static func addCrowdedTime(_ message: Message, to warnings: inout [RenderWarning]) {
    switch message.to {
    case .audience, .everyone: break
    default: return
    }
    let (pointer, seconds): (String, Int64)
    switch message.sendAt {
    case .at(let time): (pointer, seconds) = ("/send_at", time.seconds)
    case .local(let time): (pointer, seconds) = ("/send_at_local", time.seconds)
    case nil: return
    }
    let past = seconds % quarter
    guard past < crowd || past > quarter - crowd else { return }
    warnings.append(
      RenderWarning(
        pointer,
        "fcm: its vendor asks to keep bulk sends two minutes away from :00, :15, :30 and :45, when everybody sends; "
          + "it is sent as you say"))
  }

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
