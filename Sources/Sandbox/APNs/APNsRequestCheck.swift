import Domain
import JSON

/// Checks a device push as the vendor's sheet says, without its authorization. Pure.
struct APNsRequestCheck {
  static let pathPrefix = "/3/device/"
  /// Hex characters: 32 bytes are the shortest tokens seen, 256 bytes a generous bound.
  static let tokenLengths = 64...512
  static let maximumCollapseID = 64
  private static let single: Set<String> = [
    "authorization", "apns-topic", "apns-push-type", "apns-id", "apns-expiration", "apns-priority", "apns-collapse-id",
  ]

  /// Bundle ids of the team; empty: any.
  let bundleIDs: Set<String>
  /// The last payload found good, and for which type: a campaign repeats it.
  private var goodPayload: (body: [UInt8], type: APNsPushType)?

  init(bundleIDs: Set<String>) { self.bundleIDs = bundleIDs }

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

  mutating func refusal(token: String, headers: [Header], body: [UInt8]) -> APNsReason? {
    var topic: String?
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
      case "apns-topic": topic = header.value
      default: break
      }
    }
    guard let topic, !topic.isEmpty else { return .missingTopic }
    let kind: APNsPushType
    switch pushType(type, topic: topic) {
    case .success(let found): kind = found
    case .failure(let refusal): return refusal.reason
    }
    guard kind.priorities.contains(priority) else { return .badPriority }
    guard Self.isToken(token) else { return .badDeviceToken }
    return payloadRefusal(body, kind, typed: type != nil)
  }

  private static func isTime(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 18 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  static func isToken(_ token: String) -> Bool {
    let bytes = token.utf8
    return tokenLengths.contains(bytes.count) && bytes.count % 2 == 0
      && bytes.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) || (0x41...0x46).contains($0) }
  }

  /// The type in effect: the header's, checked against the topic; without one the topic's suffix tells it.
  private func pushType(_ type: APNsPushType?, topic: String) -> Result<APNsPushType, APNsRefusal> {
    guard topic.utf8.allSatisfy({ Self.isTopicByte($0) }) else { return .failure(.init(.badTopic)) }
    guard let type else {
      let told = APNsPushType.allCases.first { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) } ?? .alert
      return allowed(String(topic.dropLast(told.topicSuffix.count)))
        ? .success(told) : .failure(.init(.topicDisallowed))
    }
    if type == .mdm {
      return topic.hasPrefix("com.apple.mgmt.") ? .success(type) : .failure(.init(.invalidPushType))
    }
    if type.topicSuffix.isEmpty {
      let other = APNsPushType.allCases.contains { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }
      guard !other else { return .failure(.init(.invalidPushType)) }
      return allowed(topic) ? .success(type) : .failure(.init(.topicDisallowed))
    }
    guard topic.hasSuffix(type.topicSuffix) else { return .failure(.init(.invalidPushType)) }
    return allowed(String(topic.dropLast(type.topicSuffix.count))) ? .success(type) : .failure(.init(.topicDisallowed))
  }

  private static func isTopicByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }
  private func allowed(_ bundleID: String) -> Bool { bundleIDs.isEmpty || bundleIDs.contains(bundleID) }

  private mutating func payloadRefusal(_ body: [UInt8], _ type: APNsPushType, typed: Bool) -> APNsReason? {
    if let goodPayload, goodPayload.type == type, goodPayload.body == body { return nil }
    guard !body.isEmpty else { return .payloadEmpty }
    guard body.count <= type.maximumPayload else { return .payloadTooLarge }
    guard let payload = try? JSON.parse(body), payload.object != nil else { return .badRequestPayload }
    let aps = payload["aps"]
    guard aps == nil || aps?.object != nil, aps != nil || !type.needsAPS else { return .badRequestPayload }
    if typed, let aps, !Self.fits(aps, type) { return .invalidPushType }
    goodPayload = (body, type)
    return nil
  }

  /// The header "must match the payload".
  private static func fits(_ aps: JSONValue, _ type: APNsPushType) -> Bool {
    let shows = aps["alert"] != nil || aps["badge"] != nil || aps["sound"] != nil
    switch type {
    case .alert: return shows
    case .background: return aps["content-available"]?.integer == 1 && !shows
    case .widgets, .controls: return aps["content-changed"]?.bool == true
    case .liveactivity:
      guard aps["timestamp"]?.integer != nil, let event = aps["event"]?.string else { return false }
      switch event {
      case "start":
        return aps["content-state"]?.object != nil && aps["attributes-type"]?.string != nil
          && aps["attributes"]?.object != nil && aps["alert"] != nil
      case "update": return aps["content-state"]?.object != nil
      case "end": return true
      default: return false
      }
    default: return true
    }
  }
}

struct APNsRefusal: Error {
  var reason: APNsReason
  init(_ reason: APNsReason) { self.reason = reason }
}
