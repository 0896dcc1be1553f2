import Domain

/// Checks a device push as the vendor's sheet says, without its authorization. Pure.
struct APNsRequestCheck {
  static let pathPrefix = "/3/device/"
  /// Hex characters: 32 bytes are the shortest tokens seen, 256 bytes a generous bound.
  static let tokenLengths = 64...512
  static let maximumCollapseID = 64
  private static let single: Set<String> = [
    "authorization", "apns-topic", "apns-push-type", "apns-id", "apns-expiration", "apns-priority", "apns-collapse-id",
    "apns-channel-id", "apns-request-id",
  ]

  /// The last payload found good, and for which type: a campaign repeats it.
  private var goodPayload: (body: [UInt8], type: APNsPushType)?

  /// The token part of a path, or why there is none.
  static func token(method: String, path: String) -> Result<String, APNsRefusal> {
    guard path.hasPrefix(pathPrefix) || path == "/3/device" else { return .failure(.init(.badPath)) }
    guard method == "POST" else { return .failure(.init(.methodNotAllowed)) }
    let token = String(path.dropFirst(pathPrefix.count))
    return token.isEmpty ? .failure(.init(.missingDeviceToken)) : .success(token)
  }

  static func duplicated(_ headers: [Header]) -> Bool {
    for (place, header) in headers.enumerated() where single.contains(header.name) {
      if headers[..<place].contains(where: { $0.name == header.name }) { return true }
    }
    return false
  }

  /// `topic` becomes the one in effect where the header was left out.
  mutating func refusal(
    token: String, headers: [Header], body: [UInt8], topics: APNsTopics, topic: inout String
  ) -> APNsReason? {
    var type: APNsPushType?
    var priority = 10
    for header in headers {
      switch header.name {
      case "apns-id": guard UUIDBytes(header.value) != nil else { return .badMessageId }
      case "apns-expiration": guard Self.isTime(header.value) else { return .badExpirationDate }
      case "apns-priority":
        guard let number = Int(header.value), [1, 5, 10].contains(number) else { return .badPriority }
        priority = number
      case "apns-collapse-id":
        guard header.value.utf8.count <= Self.maximumCollapseID else { return .badCollapseId }
      case "apns-push-type":
        guard let known = APNsPushType(rawValue: header.value) else { return .invalidPushType }
        type = known
      default: break
      }
    }
    if topic.isEmpty { topic = topics.usual ?? "" }
    guard !topic.isEmpty else { return .missingTopic }
    let kind: APNsPushType
    switch Self.pushType(type, topic: topic, topics) {
    case .success(let found): kind = found
    case .failure(let refusal): return refusal.reason
    }
    guard kind.priorities.contains(priority) else { return .badPriority }
    guard Self.isToken(token) else { return .badDeviceToken }
    if let goodPayload, goodPayload.type == kind, goodPayload.body == body { return nil }
    if let reason = APNsPayloadCheck.refusal(body, kind, typed: type != nil) { return reason }
    goodPayload = (body, kind)
    return nil
  }

  static func isTime(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 18 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  static func isToken(_ token: String) -> Bool {
    let bytes = token.utf8
    return tokenLengths.contains(bytes.count) && bytes.count % 2 == 0
      && bytes.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) || (0x41...0x46).contains($0) }
  }

  /// The type in effect: the header's, checked against the topic; without one the topic's suffix tells it.
  private static func pushType(
    _ type: APNsPushType?, topic: String, _ topics: APNsTopics
  ) -> Result<APNsPushType, APNsRefusal> {
    guard topic.utf8.allSatisfy({ isTopicByte($0) }) else { return .failure(.init(.badTopic)) }
    let told = APNsPushType.allCases.first { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }
    if type == .mdm || type == nil && topic.hasPrefix(APNsPushType.mdmPrefix) {
      // A management certificate's own topic; "token auth supports all types".
      guard topic.hasPrefix(APNsPushType.mdmPrefix) else { return .failure(.init(.invalidPushType)) }
      if case .exactly = topics, !topics.allow(topic, bundle: topic) { return .failure(.init(.topicDisallowed)) }
      return .success(.mdm)
    }
    let kind = type ?? told ?? .alert
    if kind.topicSuffix.isEmpty ? told != nil : !topic.hasSuffix(kind.topicSuffix) {
      return .failure(.init(.invalidPushType))
    }
    let bundle = String(topic.dropLast(kind.topicSuffix.count))
    return topics.allow(topic, bundle: bundle) ? .success(kind) : .failure(.init(.topicDisallowed))
  }

  private static func isTopicByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }
}
