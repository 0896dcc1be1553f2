import Domain
import HTTPServer
import Loop

/// How many devices each address may bring into an app without an identity token (`registration.anonymous`). Belongs to
/// the loop, and counts what its process registers.
final class AnonymousDevices {
  private let loop: EventLoop
  private var apps: [AppID: AddressAllowance] = [:]
  /// Milliseconds after which an address may register as many as at first.
  private static let hour: Int64 = 3_600_000
  /// Addresses of an app.
  private static let capacity = 100_000

  init(loop: EventLoop) { self.loop = loop }

  /// Takes the place of one device, before it is known whether it is new. Not nil: there is none, and a device that is new
  /// is refused with this.
  func take(_ request: HTTPServerRequest, of app: App) -> Problem? {
    guard !request.isFromSharedAddress else { return nil }
    let limit = app.registration.anonymousDevices
    // A new configuration may have another limit.
    if apps[app.id]?.burst != limit { apps[app.id] = Self.allowance(of: limit) }
    // In place: a copy would have all addresses.
    guard let wait = apps[app.id]?.take(request.address, now: loop.now) else { return nil }
    return Problem(
      .tooManyRegistrations,
      "Your address has registered too many new devices without `\(RequestIdentity.name)`; wait, or register with an "
        + "identity token (`registration.anonymous.devices_per_address`; behind a proxy: `listen.trusted_proxies`)",
      retryAfter: Int(wait / 1_000) + 1)
  }

  /// It was no new device.
  func refund(_ request: HTTPServerRequest, of app: App) {
    if !request.isFromSharedAddress { apps[app.id]?.refund(request.address) }
  }

  private static func allowance(of limit: Int) -> AddressAllowance {
    AddressAllowance(burst: limit, recovery: max(1, hour / Int64(limit)), capacity: capacity)
  }
}
