import Domain
import JSON

/// Checks a broadcast to the subscribers of a channel. Pure.
enum BroadcastCheck {
  static let pathPrefix = "/4/broadcasts/apps/"
  static let maximumPayload = 5120

  static func refusal(
    bundle: String, headers: [Header], body: [UInt8], topics: APNsTopics, registry: ChannelRegistry
  ) -> APNsReason? {
    var fields: [String: String] = [:]
    for header in headers { fields[header.name] = header.value }
    if let reason = permission(bundle, topics, registry) { return reason }
    for name in ["apns-request-id", "apns-id"] {
      if let id = fields[name], UUIDBytes(id) == nil { return .badMessageId }
    }
    guard let channel = fields["apns-channel-id"], !channel.isEmpty else { return .missingChannelId }
    guard ChannelRegistry.isID(channel) else { return .badChannelId }
    guard let policy = registry.policy(channel, of: bundle) else { return .channelNotRegistered }
    guard let type = fields["apns-push-type"] else { return .missingPushType }
    guard type == APNsPushType.liveactivity.rawValue else { return .invalidPushType }
    if let priority = fields["apns-priority"], !["5", "10"].contains(priority) { return .badPriority }
    if let time = fields["apns-expiration"] {
      guard APNsRequestCheck.isTime(time), policy == .newestStored || Int64(time) == 0 else {
        return .badExpirationDate
      }
    }
    guard !body.isEmpty else { return .payloadEmpty }
    guard body.count <= maximumPayload else { return .payloadTooLarge }
    guard let payload = try? JSON.parse(body), let aps = payload["aps"], aps.object != nil,
      APNsPayloadCheck.isActivityUpdate(aps, starts: false)
    else { return .badRequestPayload }
    return nil
  }

  /// The app may broadcast, and the credential speaks for it. "The path holds the plain bundle ID, a suffix gives
  /// `TopicDisallowed`."
  static func permission(_ bundle: String, _ topics: APNsTopics, _ registry: ChannelRegistry) -> APNsReason? {
    if APNsPushType.allCases.contains(where: { !$0.topicSuffix.isEmpty && bundle.hasSuffix($0.topicSuffix) }) {
      return .topicDisallowed
    }
    guard topics.allow(bundle, bundle: bundle) else {
      if case .exactly = topics { return .topicMismatch }
      return .topicDisallowed
    }
    return registry.isEnabled(bundle) ? nil : .featureNotEnabled
  }
}
