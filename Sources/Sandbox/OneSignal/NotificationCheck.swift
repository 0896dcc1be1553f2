import Domain
import JSON

/// Checks the body of "create notification" as the sheet says, all faults at once. Unknown fields are ignored, as the
/// vendor does. Pure.
struct NotificationCheck {
  static let maximumIDs = 20_000
  static let maximumOldIDs = 2_000
  static let maximumData = 2_048
  static let maximumFilters = 200
  static let longestTTL: Int64 = 2_419_200

  private(set) var errors: [String] = []
  /// As rules and log name them: subscription ids as they are, `alias:<label>:<id>`, `segment:<name>`, `filters`, addresses.
  private(set) var members: [String] = []
  private(set) var idempotencyKey = ""

  private let body: JSONValue

  private let needsChannel: Bool

  /// `needsChannel`: aliases must say their channel; Live Activities have but one.
  init(_ body: JSONValue, needsChannel: Bool = true) {
    self.body = body
    self.needsChannel = needsChannel
    readTargets()
    checkContents()
    checkDelivery()
    checkLook()
    if members.isEmpty, errors.isEmpty {
      errors.append("You must include which players, segments, or tags you wish to send this notification to.")
    }
  }

  // MARK: Targets

  private static let oldLists = [
    "include_player_ids", "include_external_user_ids", "include_ios_tokens", "include_android_reg_ids",
    "include_chrome_web_reg_ids", "include_chrome_reg_ids", "include_amazon_reg_ids", "include_wp_wns_uris",
    "include_email_tokens",
  ]
  private static let newLists = ["include_subscription_ids", "email_to", "include_phone_numbers"]

  private mutating func readTargets() {
    let methods =
      (["include_aliases", "included_segments", "filters"] + Self.newLists + Self.oldLists).filter { isGiven($0) }
    guard methods.count == 1, let method = methods.first else {
      errors.append(
        methods.isEmpty
          ? "You must include which players, segments, or tags you wish to send this notification to."
          : "You may only use one targeting method at a time: \(methods.joined(separator: ", ")).")
      return
    }
    if isGiven("excluded_segments"), method != "included_segments" {
      errors.append("excluded_segments may only be combined with included_segments.")
    }
    switch method {
    case "include_aliases": readAliases()
    case "included_segments":
      members = texts(body["included_segments"] ?? .null, "included_segments").map { "segment:\($0)" }
      if let excluded = body["excluded_segments"] { _ = texts(excluded, "excluded_segments") }
    case "filters": readFilters()
    default: readIDs(method)
    }
  }

  private func isGiven(_ name: String) -> Bool {
    guard let value = body[name], value != .null else { return false }
    if let items = value.array { return !items.isEmpty }
    return true
  }

  private mutating func readIDs(_ method: String) {
    members = texts(body[method] ?? .null, method)
    let limit = Self.newLists.contains(method) ? Self.maximumIDs : Self.maximumOldIDs
    if members.count > limit { errors.append("\(method) may hold at most \(limit) entries.") }
    guard method == "include_subscription_ids" || method == "include_player_ids" else { return }
    let word = method == "include_subscription_ids" ? "subscription_id" : "player_id"
    for id in members where UUIDBytes(id) == nil {
      errors.append("Incorrect \(word) format in \(method) (not a valid UUID): \(id)")
    }
  }

  private mutating func readAliases() {
    guard let labels = body["include_aliases"]?.object, !labels.isEmpty else {
      return errors.append("include_aliases must be an object of label and ids.")
    }
    for label in labels {
      let ids = texts(label.value, "include_aliases.\(label.key)")
      members += ids.map { "alias:\(label.key):\($0)" }
    }
    if members.count > Self.maximumIDs { errors.append("include_aliases may hold at most \(Self.maximumIDs) ids.") }
    if body["target_channel"] == nil, !needsChannel { return }
    guard let channel = body["target_channel"]?.string, ["push", "email", "sms"].contains(channel) else {
      return errors.append("include_aliases needs target_channel: push, email or sms.")
    }
  }

  private static let relations: Set<String> = [
    "=", "!=", ">", "<", "exists", "not_exists", "in_array", "not_in_array", "time_elapsed_gt", "time_elapsed_lt",
  ]

  private mutating func readFilters() {
    guard let filters = body["filters"]?.array, (1...Self.maximumFilters).contains(filters.count) else {
      return errors.append("filters must be an array of 1 to \(Self.maximumFilters) entries.")
    }
    members = ["filters"]
    for filter in filters {
      if filter["operator"] != nil {
        if !["OR", "AND"].contains(filter["operator"]?.string ?? "") { errors.append("Unknown operator in filters.") }
        continue
      }
      guard let field = filter["field"]?.string else {
        errors.append("Each filter needs a field.")
        continue
      }
      checkFilter(filter, field)
    }
    if filters.last?["operator"] != nil || filters.first?["operator"] != nil {
      errors.append("filters must not start or end with an operator.")
    }
  }

  /// Fields, and the members each needs.
  private static let filterFields: [String: [String]] = [
    "tag": ["key", "relation"], "last_session": ["relation", "hours_ago"], "first_session": ["relation", "hours_ago"],
    "session_count": ["relation", "value"], "session_time": ["relation", "value"], "language": ["relation", "value"],
    "app_version": ["relation", "value"], "location": ["radius", "lat", "long"], "country": ["relation", "value"],
    "amount_spent": ["relation", "value"], "bought_sku": ["relation", "key", "value"], "email": ["value"],
  ]
  private static let maximumListed = 20

  private mutating func checkFilter(_ filter: JSONValue, _ field: String) {
    guard let needed = Self.filterFields[field] else {
      return errors.append("Unknown field in filters: \(field)")
    }
    for name in needed where filter[name] == nil { errors.append("Filters on \(field) need \(name).") }
    let relation = filter["relation"]?.string ?? ""
    if filter["relation"] != nil, !Self.relations.contains(relation) {
      errors.append("Unknown relation in filters: \(relation)")
    }
    let bare = relation == "exists" || relation == "not_exists"
    if field == "tag", !bare, filter["value"] == nil { errors.append("Filters on tag need a value.") }
    if let value = filter["value"], value.string == nil { errors.append("Values in filters must be strings.") }
    let listed = (filter["value"]?.string ?? "").split(separator: ",").count
    if relation.hasSuffix("in_array"), listed > Self.maximumListed {
      errors.append("\(relation) takes at most \(Self.maximumListed) values.")
    }
  }

  private mutating func texts(_ value: JSONValue, _ field: String) -> [String] {
    guard let items = value.array else {
      errors.append("\(field) must be an array.")
      return []
    }
    var texts: [String] = []
    texts.reserveCapacity(items.count)
    for item in items {
      if let text = item.string, !text.isEmpty {
        texts.append(text)
      } else {
        errors.append("\(field) must hold strings.")
      }
    }
    return texts
  }

  // MARK: Content

  private mutating func checkContents() {
    let silent = body["content_available"]?.bool == true
    if let contents = body["contents"], contents != .null {
      guard isTextMap(contents) else { return errors.append("contents must map languages to texts.") }
      if (contents["en"]?.string ?? "").isEmpty {
        errors.append("Message Notifications must have English language content")
      }
    } else if body["template_id"] == nil, !silent {
      errors.append("Message Notifications must have English language content")
    }
    for name in ["headings", "subtitle"] {
      guard let map = body[name], map != .null else { continue }
      if !isTextMap(map) { errors.append("\(name) must map languages to texts.") }
    }
    if let template = body["template_id"], template.string.flatMap({ UUIDBytes($0) }) == nil {
      errors.append("template_id must be a UUID.")
    }
    if let data = body["data"] {
      if data.object == nil { errors.append("data must be an object.") }
      if data.encoded.count > Self.maximumData { errors.append("data may be at most \(Self.maximumData) bytes.") }
    }
    if let name = body["name"]?.string, name.count > 128 { errors.append("name may be at most 128 characters.") }
    if body["url"] != nil, body["web_url"] != nil || body["app_url"] != nil {
      errors.append("url excludes web_url and app_url.")
    }
  }

  private func isTextMap(_ value: JSONValue) -> Bool { value.object?.allSatisfy { $0.value.string != nil } ?? false }

  // MARK: Delivery

  private mutating func checkDelivery() {
    if let priority = body["priority"], ![5, 10].contains(priority.integer ?? 0) {
      errors.append("priority must be 5 or 10.")
    }
    if let ttl = body["ttl"], !(0...Self.longestTTL).contains(ttl.integer ?? -1) {
      errors.append("ttl must be 0 to \(Self.longestTTL) seconds.")
    }
    if let collapse = body["collapse_id"], collapse.string.map({ $0.count > 64 }) ?? true {
      errors.append("collapse_id may be at most 64 characters.")
    }
    choice("ios_interruption_level", ["active", "passive", "time_sensitive", "critical"])
    choice("apns_push_type_override", ["voip"])
    choice("delayed_option", ["timezone", "last-active"])
    choice("huawei_msg_type", ["message", "data"])
    for name in ["idempotency_key", "external_id"] {
      guard let value = body[name], value != .null else { continue }
      guard let key = value.string, UUIDBytes(key) != nil else {
        errors.append("\(name) must be a UUID.")
        continue
      }
      if idempotencyKey.isEmpty { idempotencyKey = key }
    }
    for name in ["send_after", "delivery_time_of_day"] {
      if let value = body[name], (value.string ?? "").isEmpty { errors.append("\(name) must be a time.") }
    }
    if let rate = body["throttle_rate_per_minute"], (rate.integer ?? -1) < 0 {
      errors.append("throttle_rate_per_minute must be 0 or more.")
    }
  }

  private mutating func choice(_ name: String, _ words: [String]) {
    guard let value = body[name], !words.contains(value.string ?? "") else { return }
    errors.append("\(name) must be one of: \(words.joined(separator: ", ")).")
  }

  // MARK: Look

  private mutating func checkLook() {
    choice("ios_badgeType", ["None", "SetTo", "Increase"])
    if let count = body["ios_badgeCount"], count.integer == nil { errors.append("ios_badgeCount must be a number.") }
    if let score = body["ios_relevance_score"], !Self.unit(score) {
      errors.append("ios_relevance_score must be 0 to 1.")
    }
    for (name, limit) in [("buttons", 3), ("web_buttons", 2)] {
      guard let value = body[name] else { continue }
      guard let buttons = value.array, buttons.count <= limit else {
        errors.append("\(name) must be an array of at most \(limit).")
        continue
      }
      if buttons.contains(where: { $0["id"]?.string == nil || $0["text"]?.string == nil }) {
        errors.append("\(name) need id and text.")
      }
    }
    if let attachments = body["ios_attachments"], !isTextMap(attachments) {
      errors.append("ios_attachments must map ids to URLs.")
    }
    for name in [
      "ios_sound", "android_sound", "ios_category", "thread_id", "android_group", "android_channel_id",
      "existing_android_channel_id", "big_picture", "global_image", "small_icon", "large_icon", "android_accent_color",
      "url", "web_url", "app_url", "chrome_web_image", "target_content_identifier", "web_push_topic",
    ] {
      if let value = body[name], value != .null, value.string == nil { errors.append("\(name) must be a string.") }
    }
    for name in ["content_available", "mutable_content", "isIos", "isAndroid", "isAnyWeb", "isHuawei"] {
      if let value = body[name], value.bool == nil { errors.append("\(name) must be true or false.") }
    }
  }

  private static func unit(_ value: JSONValue) -> Bool {
    switch value {
    case .integer(let whole): (0...1).contains(whole)
    case .double(let number): (0...1).contains(number)
    default: false
    }
  }
}
