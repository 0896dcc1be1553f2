import Domain
import JSON

/// Checks the meaning of a message whose shape is right: targets, keys, ranges, sizes. Pure.
struct FCMMessageCheck {
  enum Target {
    case token(String)
    case fid(String)
    case topic(String)
    case condition(String)

    /// As rules and log name it.
    var token: String {
      switch self {
      case .token(let text), .fid(let text): text
      case .topic(let name): "topic:\(name)"
      case .condition(let text): "condition:\(text)"
      }
    }
  }
  static let payloadLimit = 4096
  static let topicPayloadLimit = 2048
  static let longestTTL: Int64 = 2_419_200

  private(set) var violations: [FieldViolation] = []
  private(set) var target: Target?
  /// The target is a token or id that cannot be one.
  private(set) var malformedRegistration = false

  init(_ message: JSONValue) {
    readTarget(message)
    checkData(message["data"], "message.data")
    checkAndroid(message)
    checkWebpush(message["webpush"])
    checkAPNs(message["apns"])
    for (field, options) in [
      ("message.fcm_options", message["fcm_options"]), ("message.apns.fcm_options", message["apns"]?["fcm_options"]),
    ] { checkLabel(options, field) }
    checkSize(message)
  }

  private mutating func readTarget(_ message: JSONValue) {
    let given = ["fid", "token", "topic", "condition"].filter { message[$0] != nil }
    guard given.count == 1, let kind = given.first, let text = message[kind]?.string else {
      let problem =
        given.isEmpty
        ? "Recipient of the message is not set." : "Exactly one of fid, token, topic or condition may be set."
      return add("message", problem)
    }
    switch kind {
    case "token":
      target = .token(text)
      malformedRegistration = !Self.isRegistration(text)
    case "fid":
      target = .fid(text)
      malformedRegistration = !Self.isInstallation(text)
    case "topic":
      target = .topic(text)
      if !FCMCondition.isTopic(text) { add("message.topic", "Invalid topic name: must match [a-zA-Z0-9-_.~%]{1,900}") }
    default:
      target = .condition(text)
      if let problem = FCMCondition.problem(text) { add("message.condition", "Invalid condition: \(problem)") }
    }
  }

  static let longestRegistration = 4096
  static func isRegistration(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= longestRegistration
      && !text.unicodeScalars.contains { $0.value <= 0x20 || $0.value == 0x7f }
  }
  static func isInstallation(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == 22 && (UInt8(ascii: "c")...UInt8(ascii: "f")).contains(bytes[0])
      && bytes.allSatisfy {
        switch $0 {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
      }
  }

  private mutating func checkData(_ data: JSONValue?, _ path: String) {
    for member in data?.object ?? [] {
      let key = member.key
      if key == "from" || key == "message_type" || key == "gcm" || key.hasPrefix("google")
        || key.hasPrefix("gcm.notification.")
      {
        add(path, "Invalid data payload key: \(key)")
      }
    }
  }

  private mutating func checkAndroid(_ message: JSONValue) {
    if message["android"] != nil, message["android_v2"] != nil {
      add("message.android_v2", "Only one of android and android_v2 may be set.")
    }
    for name in ["android", "android_v2"] {
      guard let android = message[name] else { continue }
      let path = "message.\(name)"
      if let ttl = android["ttl"], let seconds = FCMShapeCheck.seconds(ttl), !(0...Self.longestTTL).contains(seconds) {
        add("\(path).ttl", "Invalid TTL: must be 0…\(Self.longestTTL) seconds")
      }
      checkData(android["data"], "\(path).data")
      checkLabel(android["fcm_options"], "\(path).fcm_options")
      let notification = name == "android" ? android["notification"] : android["remote_notification"]?["notification"]
      if let color = notification?["color"]?.string, !Self.isColor(color) {
        add("\(path).notification.color", "Invalid color: must be #rrggbb")
      }
      if let light = notification?["light_settings"] { checkLight(light, "\(path).notification.light_settings") }
      if let count = notification?["notification_count"]?.integer, count < 0 {
        add("\(path).notification.notification_count", "must not be negative")
      }
    }
  }

  private static func isColor(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == 7 && bytes[0] == UInt8(ascii: "#")
      && bytes.dropFirst().allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x66).contains($0) || (0x41...0x46).contains($0)
      }
  }

  private mutating func checkLight(_ light: JSONValue, _ path: String) {
    for name in ["color", "light_on_duration", "light_off_duration"] where light[name] == nil {
      add("\(path).\(name)", "light_settings needs color, light_on_duration and light_off_duration")
    }
    for member in light["color"]?.object ?? [] {
      let number: Double? =
        switch member.value {
        case .integer(let whole): Double(whole)
        case .double(let number): number
        default: nil
        }
      if let number, !(0...1).contains(number) { add("\(path).color.\(member.key)", "must be 0…1") }
    }
  }

  mutating func checkLabel(_ options: JSONValue?, _ path: String) {
    guard let label = options?["analytics_label"]?.string else { return }
    if !(1...50).contains(label.utf8.count) || !FCMCondition.isTopic(label) {
      add("\(path).analytics_label", "must match ^[a-zA-Z0-9-_.~%]{1,50}$")
    }
  }

  /// Keys and values of what reaches each platform.
  private mutating func checkSize(_ message: JSONValue) {
    let limit: Int
    switch target {
    case .topic, .condition: limit = Self.topicPayloadLimit
    default: limit = Self.payloadLimit
    }
    let notification = Self.texts(message["notification"])
    let android = message["android"] ?? message["android_v2"]
    let data = android?["data"] ?? message["data"]
    if notification + Self.texts(data) + (android?["notification"]?.encoded.count ?? 0) > limit {
      add("message", "Android message is too big: the limit is \(limit) bytes")
    }
    if let payload = message["apns"]?["payload"], payload.encoded.count > limit {
      add("message.apns.payload", "APNs message is too big: the limit is \(limit) bytes")
    }
    if let webpush = message["webpush"],
      Self.texts(webpush["data"]) + (webpush["notification"]?.encoded.count ?? 0) > limit
    {
      add("message.webpush", "Web push message is too big: the limit is \(limit) bytes")
    }
  }

  private static func texts(_ value: JSONValue?) -> Int {
    value?.object?.reduce(0) { $0 + $1.key.utf8.count + ($1.value.string?.utf8.count ?? 0) } ?? 0
  }
  mutating func add(_ field: String, _ description: String) {
    violations.append(FieldViolation(field: field, description: description))
  }
}
