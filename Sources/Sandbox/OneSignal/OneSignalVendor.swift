import Domain
import HTTPServer
import JSON

/// A OneSignal request as examined: as other vendors', and whom it was for.
struct OneSignalExamination {
  var base: Examination
  var members: [String] = []
  /// The field that held the members.
  var targeting = ""
  /// The key had been used: the first result is answered again.
  var replayed = false
}

/// Plays the OneSignal REST API: creating and cancelling notifications, Live Activities, tags, and the legacy paths.
final class OneSignalVendor {
  private let appID: String
  private let apiKey: String
  private let legacyKey: String
  private var ids: UniqueIDs
  private var replays = Replays()
  /// Notifications that can still be cancelled, newest last.
  private var live: Set<String> = []
  private static let maximumLive = 1_000_000

  init(appID: String, apiKey: String, legacyKey: String, seed: UInt64) {
    self.appID = appID
    self.apiKey = apiKey
    self.legacyKey = legacyKey
    ids = UniqueIDs(seed: seed)
  }

  func examine(_ request: HTTPServerRequest, now: WallTime) -> OneSignalExamination {
    var path = request.path
    if path.hasPrefix("/api/v1/") { path = String(path.dropFirst("/api/v1".count)) }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
    let create = parts == ["notifications"]
    var examination = OneSignalExamination(base: Examination(valid: false, answer: VendorAnswer(status: 200)))
    examination.base.topic = appID
    guard isAuthorized(request) else {
      examination.base.answer = create || parts.first == "notifications" ? Self.denied : Self.unauthorized
      if create, let body = try? JSON.parse(request.body) { describe(body, &examination) }
      return examination
    }
    switch (request.method, parts.count) {
    case ("POST", 1) where create: createNotification(request, &examination, now)
    case ("DELETE", 2) where parts[0] == "notifications":
      examination.base.answer = cancel(parts[1], app: request.query("app_id"))
    case ("POST", 5) where parts[0] == "apps" && parts[2] == "live_activities" && parts[4] == "notifications":
      updateActivity(request, app: parts[1], activity: parts[3], &examination)
    case ("POST", 5) where parts[0] == "apps" && parts[2] == "activities" && parts[3] == "activity":
      startActivity(request, app: parts[1], &examination, now)
    case ("PATCH", 6) where parts[0] == "apps" && parts[2] == "users" && parts[3] == "by":
      patchUser(request, app: parts[1], alias: "alias:\(parts[4]):\(parts[5])", &examination)
    default:
      examination.base.answer =
        create
        ? Self.refusal(405, ["Method not allowed"]) : Self.refusal(404, ["Not found"])
    }
    return examination
  }

  /// `Key` takes the app's current key only; `Basic` takes that and the legacy one, raw.
  private func isAuthorized(_ request: HTTPServerRequest) -> Bool {
    guard let authorization = request.header("authorization") else { return false }
    let parts = authorization.split(separator: " ", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return false }
    switch parts[0].lowercased() {
    case "key": return parts[1] == apiKey
    case "basic": return parts[1] == legacyKey || parts[1] == apiKey
    default: return false
    }
  }

  private func describe(_ body: JSONValue, _ examination: inout OneSignalExamination) {
    let check = NotificationCheck(body)
    examination.members = check.members
    examination.targeting = check.targeting
    examination.base.id = check.idempotencyKey
  }

  // MARK: Notifications

  private func createNotification(
    _ request: HTTPServerRequest, _ examination: inout OneSignalExamination, _ now: WallTime
  ) {
    guard let body = parse(request, &examination) else { return }
    let check = NotificationCheck(body)
    examination.members = check.members
    examination.targeting = check.targeting
    examination.base.id = check.idempotencyKey
    if let refusal = appRefusal(body["app_id"]?.string) {
      examination.base.answer = refusal
      return
    }
    guard check.errors.isEmpty else {
      examination.base.answer = Self.refusal(400, check.errors)
      return
    }
    accept(&examination, now) { id in
      let echo: JSONValue = check.idempotencyKey.isEmpty ? .null : .string(check.idempotencyKey)
      return .object([JSONMember("id", .string(id)), JSONMember("external_id", echo)])
    }
  }

  /// Takes the request for delivery, or finds the first result of its key.
  private func accept(
    _ examination: inout OneSignalExamination, _ now: WallTime, status: Int = 200, _ body: (String) -> JSONValue
  ) {
    examination.base.valid = true
    if !examination.base.id.isEmpty, let first = replays.answer(for: examination.base.id, now: now) {
      examination.base.answer = first
      examination.base.answer.headers.append(Header("idempotent-replayed", "true"))
      examination.replayed = true
      return
    }
    let id = ids.next()
    examination.base.answer = VendorAnswer(
      status: status, headers: Self.headers, body: body(id).encoded, name: id)
  }

  /// The request was processed: its result is what its key stands for, and it can be cancelled.
  func processed(_ examination: OneSignalExamination, now: WallTime) {
    guard examination.base.valid, !examination.replayed else { return }
    if !examination.base.id.isEmpty { replays.remember(examination.base.id, examination.base.answer, now: now) }
    if !examination.base.answer.name.isEmpty {
      if live.count >= Self.maximumLive { live.removeAll() }
      live.insert(examination.base.answer.name)
    }
  }

  private func cancel(_ id: String, app: String?) -> VendorAnswer {
    if let refusal = appRefusal(app) { return refusal }
    guard live.remove(id) != nil else { return Self.refusal(404, ["Notification not found"]) }
    return VendorAnswer(
      status: 200, headers: Self.headers, body: JSONValue.object([JSONMember("success", .bool(true))]).encoded)
  }

  // MARK: Live Activities and users

  private func updateActivity(
    _ request: HTTPServerRequest, app: String, activity: String, _ examination: inout OneSignalExamination
  ) {
    examination.members = ["activity:\(activity)"]
    guard let body = parse(request, &examination) else { return }
    var errors: [String] = []
    if !["update", "end"].contains(body["event"]?.string ?? "") { errors.append("event must be update or end.") }
    errors += Self.activityErrors(body)
    if body["dismissal_date"] != nil, body["event"]?.string != "end" {
      errors.append("dismissal_date goes with the event end.")
    }
    guard settle(app, errors, &examination) else { return }
    examination.base.valid = true
    let id = ids.next()
    examination.base.answer = VendorAnswer(
      status: 201, headers: Self.headers, body: JSONValue.object([JSONMember("id", .string(id))]).encoded, name: id)
  }

  private func startActivity(
    _ request: HTTPServerRequest, app: String, _ examination: inout OneSignalExamination, _ now: WallTime
  ) {
    guard let body = parse(request, &examination) else { return }
    let check = NotificationCheck(body, needsChannel: false)
    examination.members = check.members
    examination.targeting = check.targeting
    examination.base.id = check.idempotencyKey
    var errors = check.errors + Self.activityErrors(body)
    if body["event"]?.string != "start" { errors.append("event must be start.") }
    if (body["activity_id"]?.string ?? "").isEmpty { errors.append("activity_id is required.") }
    if body["event_attributes"]?.object == nil { errors.append("event_attributes must be an object.") }
    for name in ["contents", "headings"] where body[name]?.object == nil { errors.append("\(name) is required.") }
    guard settle(app, errors, &examination) else { return }
    accept(&examination, now, status: 201) { .object([JSONMember("notification_id", .string($0))]) }
  }

  private static func activityErrors(_ body: JSONValue) -> [String] {
    var errors: [String] = []
    if (body["name"]?.string ?? "").isEmpty { errors.append("name is required.") }
    if body["event_updates"]?.object == nil { errors.append("event_updates must be an object.") }
    if let priority = body["priority"], ![5, 10].contains(priority.integer ?? 0) {
      errors.append("priority must be 5 or 10.")
    }
    for name in ["contents", "headings"] {
      if let map = body[name], map.object?.allSatisfy({ $0.value.string != nil }) != true {
        errors.append("\(name) must map languages to texts.")
      }
    }
    for name in ["stale_date", "dismissal_date"] {
      if let date = body[name], date.integer == nil { errors.append("\(name) must be UNIX seconds.") }
    }
    return errors
  }

  private func patchUser(
    _ request: HTTPServerRequest, app: String, alias: String, _ examination: inout OneSignalExamination
  ) {
    examination.members = [alias]
    guard let body = parse(request, &examination) else { return }
    var errors: [String] = []
    if body["properties"] == nil, body["deltas"] == nil { errors.append("properties or deltas are required.") }
    if let tags = body["properties"]?["tags"] {
      if tags.object == nil { errors.append("tags must be an object.") }
      for tag in tags.object ?? [] where tag.value.object != nil || tag.value.array != nil {
        errors.append("tags must be flat: \(tag.key)")
      }
      for tag in tags.object ?? [] where Self.reservedTags.contains(tag.key) {
        errors.append("tag keys are reserved: \(tag.key)")
      }
    }
    guard settle(app, errors, &examination) else { return }
    examination.base.answer = VendorAnswer(
      status: 202, headers: Self.headers,
      body: JSONValue.object([JSONMember("properties", body["properties"] ?? .object([]))]).encoded)
  }

  private static let reservedTags: Set<String> = [
    "message", "notification", "subscription", "user", "template", "app", "org", "dynamic_content", "data_feed",
    "journey", "custom_data",
  ]

  private func settle(_ app: String, _ errors: [String], _ examination: inout OneSignalExamination) -> Bool {
    if let refusal = appRefusal(app) {
      examination.base.answer = refusal
    } else if !errors.isEmpty {
      examination.base.answer = Self.refusal(400, errors)
    } else {
      return true
    }
    return false
  }

  private func parse(_ request: HTTPServerRequest, _ examination: inout OneSignalExamination) -> JSONValue? {
    guard let type = request.header("content-type"), type.lowercased().hasPrefix("application/json") else {
      examination.base.answer = Self.refusal(400, ["The content type must be application/json"])
      return nil
    }
    guard let body = try? JSON.parse(request.body), body.object != nil else {
      examination.base.answer = Self.refusal(400, ["The body must be a JSON object"])
      return nil
    }
    return body
  }

  private func appRefusal(_ app: String?) -> VendorAnswer? {
    guard let app, UUIDBytes(app) != nil else { return Self.refusal(400, ["app_id must be a UUID"]) }
    return app.lowercased() == appID.lowercased() ? nil : Self.refusal(404, ["app_id not found"])
  }

  // MARK: Answers

  static let headers = [Header("content-type", "application/json; charset=utf-8")]

  private static func refusal(_ status: Int, _ errors: [String]) -> VendorAnswer {
    VendorAnswer(
      status: status, reason: String(errors[0].prefix(100)), headers: headers,
      body: JSONValue.object([JSONMember("errors", .array(errors.map { .string($0) }))]).encoded)
  }
  private static let denied = refusal(
    403,
    [
      "Access denied.  Please include an 'Authorization: ...' header with a valid API key (https://documentation.onesignal.com/docs/accounts-and-keys)."
    ])
  private static let unauthorized = VendorAnswer(
    status: 401, reason: "auth-1", headers: headers,
    body: Array(#"{"errors":[{"code":"auth-1","title":"Missing or invalid API key"}]}"#.utf8))
  static let notSubscribed = "not_subscribed"

  /// The answer of a rule.
  func answer(_ reply: Rule.Reply, to examination: OneSignalExamination) -> VendorAnswer {
    var answer: VendorAnswer
    switch reply.status {
    case 200, 201:
      guard reply.reason == Self.notSubscribed else { return reply.filling(examination.base.answer) }
      answer = VendorAnswer(
        status: 200, reason: Self.notSubscribed, headers: Self.headers,
        body: Array(#"{"id":"","errors":["All included players are not subscribed"]}"#.utf8))
    case 401: answer = Self.unauthorized
    case 403: answer = reply.reason.map { Self.refusal(403, [$0]) } ?? Self.denied
    case 404: answer = Self.refusal(404, [reply.reason ?? "Notification not found"])
    case 429: answer = Self.refusal(429, [reply.reason ?? "API rate limit exceeded"])
    case 503: answer = Self.refusal(503, [reply.reason ?? "Service temporarily unavailable"])
    case 500...: answer = VendorAnswer(status: reply.status, reason: reply.reason ?? "server error")
    default: answer = Self.refusal(reply.status, [reply.reason ?? "Bad request"])
    }
    // "always present" with 429
    if let seconds = reply.retryAfter ?? (reply.status == 429 ? 1 : nil) {
      answer.headers.append(Header("retry-after", String(seconds)))
    }
    return reply.filling(answer)
  }

  /// The partial answer that names these members.
  func partial(_ reason: String, _ picked: [String], _ examination: OneSignalExamination) -> VendorAnswer {
    var answer = examination.base.answer
    let errors: JSONValue
    if reason == "invalid_aliases" {
      var labels: [JSONMember] = []
      for member in picked {
        let parts = member.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts[0] == "alias" else { continue }
        let place = labels.firstIndex { $0.key == parts[1] } ?? labels.count
        if place == labels.count { labels.append(JSONMember(parts[1], .array([]))) }
        labels[place].value = .array((labels[place].value.array ?? []) + [.string(parts[2])])
      }
      errors = .object(labels)
    } else {
      errors = .array(picked.map { .string($0) })
    }
    let echo: JSONValue = examination.base.id.isEmpty ? .null : .string(examination.base.id)
    answer.body =
      JSONValue.object([
        JSONMember("id", .string(answer.name)), JSONMember("external_id", echo),
        JSONMember("errors", .object([JSONMember(reason, errors)])),
      ]).encoded
    return answer
  }
}
