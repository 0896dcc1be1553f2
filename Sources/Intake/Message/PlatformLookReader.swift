import Domain

/// Reads what single platforms alone show of a notification.
enum PlatformLookReader {
  static func android(_ fields: Fields, into notification: inout Notification, _ findings: inout Findings) {
    fields.read("android_channel", .line(256), into: &notification.androidChannel, &findings)
    notification.androidVisibility = fields.choice("android_visibility", AndroidVisibility.self, &findings)
    fields.read("android_tag", .line(256), into: &notification.androidTag, &findings)
    notification.androidCount = fields.integer("android_count", in: 0...Int64(Int32.max), &findings).map(Int.init)
    fields.read("android_ticker", .line(256), into: &notification.androidTicker, &findings)
  }

  static func web(_ fields: Fields, _ findings: inout Findings) -> WebLook? {
    guard let fields = fields.object("web", of: .web, &findings) else { return nil }
    var web = WebLook()
    web.icon = LinkReader.webURL("icon", fields, &findings)
    web.badge = LinkReader.webURL("badge", fields, &findings)
    web.requireInteraction = fields.flag("require_interaction", &findings)
    web.silent = fields.flag("silent", &findings)
    web.tag = fields.text("tag", .line(256), &findings)
    return web
  }
}
