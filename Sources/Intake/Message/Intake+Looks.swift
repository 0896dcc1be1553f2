import Domain

/// What single platforms alone show of a notification.
extension Intake {
  static func readAndroid(_ fields: Fields, into notification: inout Notification, _ findings: inout Findings) {
    notification.androidChannel = fields.text("android_channel", .line(256), &findings)
    notification.androidVisibility = fields.choice("android_visibility", AndroidVisibility.self, &findings)
    notification.androidTag = fields.text("android_tag", .line(256), &findings)
    notification.androidCount = fields.integer("android_count", in: 0...Int64(Int32.max), &findings).map(Int.init)
    notification.androidTicker = fields.text("android_ticker", .line(256), &findings)
  }

  static func readWeb(_ fields: Fields, _ findings: inout Findings) -> WebLook? {
    guard let fields = fields.object("web", of: .web, &findings) else { return nil }
    var web = WebLook()
    web.icon = readURL("icon", fields, &findings)
    web.badge = readURL("badge", fields, &findings)
    web.requireInteraction = fields.flag("require_interaction", &findings)
    web.silent = fields.flag("silent", &findings)
    web.tag = fields.text("tag", .line(256), &findings)
    return web
  }
}
