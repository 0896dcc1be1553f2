package import Domain
package import Intake
import Store

/// What a `register` key may do. It ships inside an app, so anybody may hold it: it can say which token an installation
/// has, set the tags that are free for that, and name a user only with an identity token.
package struct AppRegistration {
  package let app: App
  private let rules: [ProviderName: TokenRules]
  /// An identity token says whose the device is.
  private let isSigned: Bool

  /// `app`: as configured. `rules`: of the providers. `isSigned`: the request has an identity token that holds.
  package init(app: App, rules: [ProviderName: TokenRules], isSigned: Bool) {
    (self.app, self.rules, self.isSigned) = (app, rules, isSigned)
  }

  /// Throws with all that the key may not set; a user without an identity token comes after the rest.
  package func check(_ reading: DeviceReading) throws(Problem) {
    var violations: [Violation] = []
    if !reading.device.id.rawValue.isEmpty {
      violations.append(
        Violation("/id", .notAllowed, "a `register` key registers by token only: leave `id` out"))
    }
    let address = reading.device.address
    if let rule = rules[address.provider], rule.reachesSeveral(address.token, address.tokenKind) {
      violations.append(
        Violation(
          "/token", .notAllowed,
          "this token stands for several devices: a `register` key registers one device, by the device's own token"))
    }
    for (index, tag) in reading.device.tags.enumerated() where !isFree(tag) {
      violations.append(
        Violation(
          "/tags/\(index)", .notAllowed,
          "a `register` key cannot set this tag: allow it in the app's `register_tags`, or set it with a `devices` key"
        ))
    }
    if !isSigned { violations += beyondAnonymous(reading.device) }
    guard violations.isEmpty else { throw Problem(Refusal(violations: violations), .invalidDevice) }
    try checkIdentity(reading)
  }

  /// What a registration without an identity token has too much of.
  private func beyondAnonymous(_ device: Device) -> [Violation] {
    let registration = app.registration
    let parts = [
      ("tags", device.tags.count, registration.anonymousTags),
      ("attributes", device.attributes.count, registration.anonymousAttributes),
    ]
    return parts.filter { $0.1 > $0.2 }.map { name, count, limit in
      Violation(
        "/\(name)", .tooMany,
        "has \(count) entries; a registration without `\(RequestIdentity.name)` may set \(limit) "
          + "(`registration.anonymous.\(name)`)")
    }
  }

  private func checkIdentity(_ reading: DeviceReading) throws(Problem) {
    guard !isSigned else { return }
    let registration = app.registration
    if reading.device.user != nil {
      guard registration.identity != nil else {
        let detail = "cannot be set by a `register` key, as this app has no `registration.keys`: leave it out"
        throw Problem(.invalidIdentity, "`user` \(detail)", violations: [Violation("/user", .notAllowed, detail)])
      }
      throw RequestIdentity.required("A `register` key alone cannot set a device's user")
    }
    guard registration.allowsAnonymous else {
      throw RequestIdentity.required("This app allows no registration without a user")
    }
  }

  /// The registration on top of what is known: what the key may not change, and what the app left out, stays. Nil: the
  /// known device has another token. A token's first id may have been given to another device later, and this token
  /// gives no right to that one; an installation does.
  package func merge(_ reading: DeviceReading, into known: Device) -> Device? {
    guard reading.installation != nil || known.address.holdsSameToken(as: reading.device.address) else { return nil }
    var device = reading.merged(into: known)
    // What was left out is the known one already.
    guard reading.given.contains("tags") else { return device }
    let kept = known.tags.filter { !isFree($0) }
    device.tags = kept + device.tags.filter { !kept.contains($0) }
    return device
  }

  private func isFree(_ tag: String) -> Bool {
    app.registerTags.contains { pattern in
      pattern.hasSuffix("*") ? tag.hasPrefix(pattern.dropLast()) : tag == pattern
    }
  }
}
