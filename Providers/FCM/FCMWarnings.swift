import Domain

/// What a notification asks for that not every platform behind FCM shows.
enum FCMWarnings {
  private static let appleOnly = "for Apple devices only"

  /// Seconds between the full, half and quarter hours, and how far bulk sends are to keep away from them.
  private static let quarter: Int64 = 900
  private static let crowd: Int64 = 120
  /// Devices of a send that is large enough for that to matter.
  private static let bulk = 1_000

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
        "fcm: Google asks not to send at :00, :15, :30 or :45, when everybody sends. Choose :03 if you can. The time "
          + "stays as you set it", leastDevices: bulk))
  }

  /// Data is never urgent on Apple devices, and FCM has no tokens for their calls.
  static func addAppleLimits(_ message: Message, to warnings: inout [RenderWarning]) {
    if message.kind == .voip {
      warnings.append(
        RenderWarning("/kind", "fcm: Apple devices get a background push; their calls need voip tokens of APNs"))
    }
    if message.kind == .background, message.priority == .high {
      warnings.append(
        RenderWarning(
          "/priority",
          "fcm: Apple devices get it with priority 5; Android lowers it in time for an app that shows nothing"))
    }
  }

  static func add(_ message: Message, _ notification: Notification, to warnings: inout [RenderWarning]) {
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
        !notification.buttons.isEmpty, "/notification/buttons",
        "browsers show the first \(WebBlock.buttonLimit), Apple apps those of the category; Android apps find them in data"
      ),
      (
        notification.link.map { !WebBlock.isWebLink($0) } ?? false, "/notification/link",
        "apps find it in data; browsers open https links only"
      ),
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
