import Domain
import JSON

/// Notifications that were accepted, to be viewed and cancelled: the latest, for 30 days.
struct NotificationRegister {
  static let lifetime: Int64 = 30 * 86_400_000
  static let maximum = 200_000
  /// Longer texts and data of a notification are not kept.
  static let maximumKept = 2048

  private struct Notification {
    var queuedAt: WallTime
    /// Nil: at once.
    var sendAfter: WallTime?
    /// Fields of the request that an answer repeats.
    var kept: [UInt8]
    /// Members that are reached, and members that are not subscribed.
    var reached = 0
    var unsubscribed = 0
    var canceledAt: WallTime?

    func isSent(_ now: WallTime) -> Bool { (sendAfter ?? queuedAt) <= now }
  }
  private var notifications: [String: Notification] = [:]
  /// Ids in the order in which they came, from `oldest` on.
  private var order: [String] = []
  private var oldest = 0

  private static let keptFields = ["name", "contents", "headings", "subtitle", "data", "url", "template_id"]

  mutating func remember(_ id: String, _ request: JSONValue, now: WallTime) {
    let kept = Self.keptFields.compactMap { name in request[name].map { JSONMember(name, $0) } }
    let bytes = JSONValue.object(kept).encoded
    let id = id.lowercased()
    notifications[id] = Notification(
      queuedAt: now, sendAfter: request["send_after"]?.string.flatMap { WallTime(rfc3339: $0) },
      kept: bytes.count <= Self.maximumKept ? bytes : [])
    order.append(id)
    while order.count - oldest > Self.maximum {
      notifications[order[oldest]] = nil
      oldest += 1
    }
    if oldest > Self.maximum {
      order.removeFirst(oldest)
      oldest = 0
    }
  }

  mutating func count(_ id: String, reached: Int, unsubscribed: Int) {
    notifications[id.lowercased()]?.reached = reached
    notifications[id.lowercased()]?.unsubscribed = unsubscribed
  }

  /// A page of them, newest first.
  func list(app: String, offset: Int, limit: Int, now: WallTime) -> JSONValue {
    let all = order[oldest...].reversed()
    let page = all.dropFirst(offset).prefix(limit).compactMap { view($0, app: app, now: now) }
    return .object([
      JSONMember("total_count", .integer(Int64(all.count))), JSONMember("offset", .integer(Int64(offset))),
      JSONMember("limit", .integer(Int64(limit))), JSONMember("notifications", .array(page)),
    ])
  }

  /// False if there is none to cancel.
  mutating func cancel(_ id: String, now: WallTime) -> Bool {
    guard let notification = current(id, now), notification.canceledAt == nil else { return false }
    notifications[id.lowercased()]?.canceledAt = now
    return true
  }

  /// "Sends through the API may vanish after about 30 days"
  private func current(_ id: String, _ now: WallTime) -> Notification? {
    guard let notification = notifications[id.lowercased()], now - notification.queuedAt < Self.lifetime else {
      return nil
    }
    return notification
  }

  /// The counters of "view notification". A segment or filters count as one, since the sandbox has no subscribers.
  func view(_ id: String, app: String, now: WallTime) -> JSONValue? {
    guard let notification = current(id, now) else { return nil }
    let isSent = notification.isSent(notification.canceledAt ?? now)
    let isOver = isSent || notification.canceledAt != nil
    func whole(_ count: Int) -> JSONValue { .integer(Int64(count)) }
    func seconds(_ time: WallTime?) -> JSONValue { time.map { .integer($0.seconds) } ?? .null }
    var members = [JSONMember("id", .string(id.lowercased())), JSONMember("app_id", .string(app))]
    members += (try? JSON.parse(notification.kept))?.object ?? []
    members += [
      JSONMember("successful", whole(isSent ? notification.reached : 0)),
      JSONMember("failed", whole(isSent ? notification.unsubscribed : 0)), JSONMember("errored", .integer(0)),
      JSONMember("converted", .integer(0)), JSONMember("received", .integer(0)),
      JSONMember("remaining", whole(isOver ? 0 : notification.reached + notification.unsubscribed)),
      JSONMember("queued_at", seconds(notification.queuedAt)),
      JSONMember("send_after", seconds(notification.sendAfter ?? notification.queuedAt)),
      JSONMember(
        "completed_at", seconds(isSent ? notification.sendAfter ?? notification.queuedAt : notification.canceledAt)),
      JSONMember("canceled", .bool(notification.canceledAt != nil)), JSONMember("platform_delivery_stats", .object([])),
    ]
    return .object(members)
  }
}
