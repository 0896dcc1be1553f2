import Domain
import JSON

/// Checks a payload against the vendor's table of keys and against its push type. Pure.
enum APNsPayloadCheck {
  /// `typed`: the type was given, not told by the topic.
  static func refusal(_ body: [UInt8], _ type: APNsPushType, typed: Bool) -> APNsReason? {
    guard !body.isEmpty else { return .payloadEmpty }
    guard body.count <= type.maximumPayload else { return .payloadTooLarge }
    guard let payload = try? JSON.parse(body), payload.object != nil else { return .badRequestPayload }
    let aps = payload["aps"]
    guard aps == nil || aps?.object != nil, aps != nil || !type.needsAPS else { return .badRequestPayload }
    if let aps, !hasRightTypes(aps, type) { return .badRequestPayload }
    if typed, !fits(payload, aps ?? .object([]), type) { return .invalidPushType }
    return nil
  }

  // MARK: The table of keys

  private static func hasRightTypes(_ aps: JSONValue, _ type: APNsPushType) -> Bool {
    for member in aps.object ?? [] {
      let value = member.value
      let right: Bool
      switch member.key {
      case "alert": right = value.string != nil || isAlert(value, type)
      case "badge": right = (value.integer ?? -1) >= 0
      case "sound": right = value.string != nil || isSound(value)
      case "thread-id", "category", "target-content-id", "filter-criteria", "attributes-type":
        right = value.string != nil
      case "content-available", "mutable-content", "input-push-token": right = value.integer == 1 || value.integer == 0
      case "interruption-level":
        right = ["passive", "active", "time-sensitive", "critical"].contains(value.string ?? "")
      case "relevance-score":
        right = number(value).map { type == .liveactivity || (0...1).contains($0) } ?? false
      case "timestamp", "stale-date", "dismissal-date": right = value.integer != nil
      case "event": right = ["start", "update", "end"].contains(value.string ?? "")
      case "content-state", "attributes": right = value.object != nil
      case "input-push-channel": right = ChannelRegistry.isID(value.string ?? "")
      case "content-changed": right = value.bool == true
      case "url-args": right = isTexts(value)
      default: right = true
      }
      if !right { return false }
    }
    return true
  }

  private static func isAlert(_ alert: JSONValue, _ type: APNsPushType) -> Bool {
    guard let members = alert.object else { return false }
    return members.allSatisfy { member in
      switch member.key {
      case "title", "body":
        return member.value.string != nil || type == .liveactivity && isLocalized(member.value)
      case "subtitle", "launch-image", "title-loc-key", "subtitle-loc-key", "loc-key", "action-loc-key", "action":
        return member.value.string != nil
      case "title-loc-args", "subtitle-loc-args", "loc-args": return isTexts(member.value)
      case "sound": return member.value.string != nil || isSound(member.value)
      default: return true
      }
    }
  }
  private static func isLocalized(_ value: JSONValue) -> Bool {
    value["loc-key"]?.string != nil && value["loc-args"].map(isTexts) ?? true
  }
  private static func isSound(_ sound: JSONValue) -> Bool {
    guard let members = sound.object else { return false }
    return members.allSatisfy { member in
      switch member.key {
      case "critical": return member.value.integer == 1 || member.value.integer == 0
      case "name": return member.value.string != nil
      case "volume": return number(member.value).map { (0...1).contains($0) } ?? false
      default: return true
      }
    }
  }
  private static func isTexts(_ value: JSONValue) -> Bool { value.array?.allSatisfy { $0.string != nil } ?? false }
  private static func number(_ value: JSONValue) -> Double? {
    switch value {
    case .integer(let whole): Double(whole)
    case .double(let number): number
    default: nil
    }
  }

  // MARK: What a type asks for

  /// The header "must match the payload".
  private static func fits(_ payload: JSONValue, _ aps: JSONValue, _ type: APNsPushType) -> Bool {
    let shows = aps["alert"] != nil || aps["badge"] != nil || aps["sound"] != nil
    switch type {
    case .alert: return shows && !isActivity(aps)
    case .background: return aps["content-available"]?.integer == 1 && !shows
    case .widgets, .controls: return aps["content-changed"]?.bool == true
    case .liveactivity: return isActivityUpdate(aps, starts: true)
    case .fileprovider:
      return !(payload["container-identifier"]?.string ?? "").isEmpty
        && (payload["domain"] == nil || payload["domain"]?.string != nil) && payload["aps"] == nil
    case .mdm: return !(payload["mdm"]?.string ?? "").isEmpty && payload["aps"] == nil
    case .location, .voip, .complication, .pushtotalk: return !isActivity(aps)
    }
  }

  private static func isActivity(_ aps: JSONValue) -> Bool { aps["event"] != nil && aps["timestamp"] != nil }

  /// `starts`: the event may be one that starts an activity.
  static func isActivityUpdate(_ aps: JSONValue, starts: Bool) -> Bool {
    guard aps["timestamp"]?.integer != nil, let event = aps["event"]?.string else { return false }
    // "title and body … and sound goes inside alert"
    guard aps["sound"] == nil else { return false }
    switch event {
    case "start":
      return starts && aps["content-state"] != nil && aps["attributes-type"] != nil && aps["attributes"] != nil
        && aps["alert"] != nil && (aps["input-push-token"] == nil || aps["input-push-channel"] == nil)
    case "update": return aps["content-state"] != nil && isRunning(aps)
    case "end": return isRunning(aps)
    default: return false
    }
  }

  /// What only a start may hold is not there.
  private static func isRunning(_ aps: JSONValue) -> Bool {
    ["attributes", "attributes-type", "input-push-token", "input-push-channel"].allSatisfy { aps[$0] == nil }
  }
}
