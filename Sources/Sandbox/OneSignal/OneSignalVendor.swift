import Domain
import HTTP2
import JSON

/// Plays the OneSignal REST API: creating, viewing and cancelling notifications, Live Activities, tags, and the legacy paths.
final class OneSignalVendor: Vendor {
  let provider = SandboxProvider.oneSignal
  private let appID: String
  private let apiKey: String
  private let legacyKey: String
  private var ids: UniqueIDs
  private var replays = Replays()
  private var notifications = NotificationRegister()

  init(appID: String, apiKey: String, legacyKey: String, seed: UInt64) {
    self.appID = appID
    self.apiKey = apiKey
    self.legacyKey = legacyKey
    ids = UniqueIDs(seed: seed)
  }

  func examine(_ request: HTTP2ServerRequest, now: WallTime) -> Examination {
    var path = request.barePath
    if path.hasPrefix("/api/v1/") { path = String(path.dropFirst("/api/v1".count)) }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
    let create = parts == ["notifications"]
    var examination = Examination(valid: false, answer: VendorAnswer(status: 200))
    examination.topic = appID
    guard isAuthorized(request) else {
      examination.answer = create || parts.first == "notifications" ? Self.denied : Self.unauthorized
      if create, let body = try? JSON.parse(request.body) { describe(body, &examination) }
      return examination
    }
    switch (request.method, parts.count) {
    case ("POST", 1) where create: createNotification(request, &examination, now)
    case ("GET", 1) where create: list(request.query, &examination, now)
    case ("GET", 2) where parts[0] == "notifications":
      view(parts[1], app: request.query["app_id"], &examination, now)
    case ("DELETE", 2) where parts[0] == "notifications":
      examination.answer = cancel(parts[1], app: request.query["app_id"], now)
    case ("POST", 5) where parts[0] == "apps" && parts[2] == "live_activities" && parts[4] == "notifications":
      updateActivity(request, app: parts[1], activity: parts[3], &examination, now)
    case ("POST", 5) where parts[0] == "apps" && parts[2] == "activities" && parts[3] == "activity":
      startActivity(request, app: parts[1], &examination, now)
    case ("PATCH", 6) where parts[0] == "apps" && parts[2] == "users" && parts[3] == "by":
      patchUser(request, app: parts[1], alias: "alias:\(parts[4]):\(parts[5])", &examination)
    default:
      examination.answer =
        create
        ? Self.refusal(405, ["Method not allowed"]) : Self.refusal(404, ["Not found"])
    }
    return examination
  }

  /// `Key` takes the app's current key only; `Basic` takes that and the legacy one, raw.
  private func isAuthorized(_ request: HTTP2ServerRequest) -> Bool {
    guard let authorization = request.header("authorization") else { return false }
    let parts = authorization.split(separator: " ", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return false }
    switch parts[0].lowercased() {
    case "key": return parts[1] == apiKey
    case "basic": return parts[1] == legacyKey || parts[1] == apiKey
    default: return false
    }
  }

  private func describe(_ body: JSONValue, _ examination: inout Examination) {
    let check = NotificationCheck(body)
    examination.members = check.members
    examination.id = check.idempotencyKey
  }

  // MARK: Notifications

  private func createNotification(
    _ request: HTTP2ServerRequest, _ examination: inout Examination, _ now: WallTime
  ) {
    guard let body = parse(request, &examination) else { return }
    let check = NotificationCheck(body)
    examination.members = check.members
    examination.id = check.idempotencyKey
    if let refusal = appRefusal(body["app_id"]?.string) {
      examination.answer = refusal
      return
    }
    guard check.errors.isEmpty else {
      examination.answer = Self.refusal(400, check.errors)
      return
    }
    accept(body, &examination, now) { id in
      let echo: JSONValue = check.idempotencyKey.isEmpty ? .null : .string(check.idempotencyKey)
      return .object([JSONMember("id", .string(id)), JSONMember("external_id", echo)])
    }
  }

  /// Takes the request for delivery, or finds the first result of its key.
  private func accept(
    _ body: JSONValue, _ examination: inout Examination, _ now: WallTime, status: Int = 200,
    _ answer: (String) -> JSONValue
  ) {
    examination.valid = true
    if !examination.id.isEmpty, let first = replays.answer(for: examination.id, now: now) {
      examination.answer = first
      examination.answer.headers.append(Header("idempotent-replayed", "true"))
      examination.replayed = true
      return
    }
    let id = ids.next()
    examination.answer = VendorAnswer(
      status: status, headers: Self.headers, body: answer(id).encoded, name: id)
    examination.effect = { [unowned self] in notifications.remember(id, body, now: now) }
  }

  /// The request was processed: its result is what its key stands for, and it can be viewed and cancelled.
  func processed(_ examination: Examination, now: WallTime) {
    guard examination.valid, !examination.replayed else { return }
    if !examination.id.isEmpty { replays.remember(examination.id, examination.answer, now: now) }
    examination.effect?()
    let out = examination.outOfReach?.members ?? []
    notifications.count(
      examination.answer.name, reached: examination.members.count { !out.contains($0) },
      unsubscribed: examination.members.count { out.contains($0) })
  }

  private func view(_ id: String, app: String?, _ examination: inout Examination, _ now: WallTime) {
    if let refusal = appRefusal(app) {
      examination.answer = refusal
    } else if let notification = notifications.view(id, app: appID, now: now) {
      examination.valid = true
      examination.rehearsal = true
      examination.answer = VendorAnswer(status: 200, headers: Self.headers, body: notification.encoded)
    } else {
      examination.answer = Self.refusal(404, ["Notification not found"])
    }
  }

  private func list(_ query: [String: String], _ examination: inout Examination, _ now: WallTime) {
    if let refusal = appRefusal(query["app_id"]) {
      examination.answer = refusal
      return
    }
    let limit = query["limit"].map { Int($0) ?? 0 } ?? Self.longestList
    let offset = query["offset"].map { Int($0) ?? -1 } ?? 0
    guard (1...Self.longestList).contains(limit), offset >= 0 else {
      examination.answer = Self.refusal(400, ["limit must be 1 to \(Self.longestList), offset 0 or more"])
      return
    }
    let list = notifications.list(app: appID, offset: offset, limit: limit, now: now)
    examination.valid = true
    examination.rehearsal = true
    examination.answer = VendorAnswer(status: 200, headers: Self.headers, body: list.encoded)
  }
  private static let longestList = 50

  private func cancel(_ id: String, app: String?, _ now: WallTime) -> VendorAnswer {
    if let refusal = appRefusal(app) { return refusal }
    guard notifications.cancel(id, now: now) else { return Self.refusal(404, ["Notification not found"]) }
    return VendorAnswer(
      status: 200, headers: Self.headers, body: JSONValue.object([JSONMember("success", .bool(true))]).encoded)
  }

  // MARK: Live Activities and users

  private func updateActivity(
    _ request: HTTP2ServerRequest, app: String, activity: String, _ examination: inout Examination, _ now: WallTime
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
    examination.valid = true
    let id = ids.next()
    examination.answer = VendorAnswer(
      status: 201, headers: Self.headers, body: JSONValue.object([JSONMember("id", .string(id))]).encoded, name: id)
    examination.effect = { [unowned self] in notifications.remember(id, body, now: now) }
  }

  private func startActivity(
    _ request: HTTP2ServerRequest, app: String, _ examination: inout Examination, _ now: WallTime
  ) {
    guard let body = parse(request, &examination) else { return }
    let check = NotificationCheck(body, needsChannel: false)
    examination.members = check.members
    examination.id = check.idempotencyKey
    var errors = check.errors + Self.activityErrors(body)
    if body["event"]?.string != "start" { errors.append("event must be start.") }
    if (body["activity_id"]?.string ?? "").isEmpty { errors.append("activity_id is required.") }
    if body["event_attributes"]?.object == nil { errors.append("event_attributes must be an object.") }
    for name in ["contents", "headings"] where body[name]?.object == nil { errors.append("\(name) is required.") }
    guard settle(app, errors, &examination) else { return }
    accept(body, &examination, now, status: 201) { .object([JSONMember("notification_id", .string($0))]) }
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
    _ request: HTTP2ServerRequest, app: String, alias: String, _ examination: inout Examination
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
    examination.answer = VendorAnswer(
      status: 202, headers: Self.headers,
      body: JSONValue.object([JSONMember("properties", body["properties"] ?? .object([]))]).encoded)
  }

  private static let reservedTags: Set<String> = [
    "message", "notification", "subscription", "user", "template", "app", "org", "dynamic_content", "data_feed",
    "journey", "custom_data",
  ]

  private func settle(_ app: String, _ errors: [String], _ examination: inout Examination) -> Bool {
    if let refusal = appRefusal(app) {
      examination.answer = refusal
    } else if !errors.isEmpty {
      examination.answer = Self.refusal(400, errors)
    } else {
      return true
    }
    return false
  }

  private func parse(_ request: HTTP2ServerRequest, _ examination: inout Examination) -> JSONValue? {
    guard let type = request.header("content-type"), type.lowercased().hasPrefix("application/json") else {
      examination.answer = Self.refusal(400, ["The content type must be application/json"])
      return nil
    }
    guard let body = try? JSON.parse(request.body), body.object != nil else {
      examination.answer = Self.refusal(400, ["The body must be a JSON object"])
      return nil
    }
    return body
  }

  private func appRefusal(_ app: String?) -> VendorAnswer? {
    guard let app, UUIDBytes(app) != nil else { return Self.refusal(400, ["app_id must be a UUID"]) }
    return app.lowercased() == appID.lowercased() ? nil : Self.refusal(404, ["app_id not found"])
  }
}
