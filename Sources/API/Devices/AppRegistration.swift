package import Domain
package import Intake
import TLS

/// What a `register` key may do. It ships inside an app, so anybody may hold it: it can say which token an installation
/// has, set the tags that are free for that, and name a user only with the app's own signature.
package struct AppRegistration {
  package let app: App
  /// `app`: as configured, with its user secret and the tags that are free.
  package init(app: App) { self.app = app }

  /// Throws with all that the key may not set; a user without the right signature comes after the rest.
  package func check(_ reading: DeviceReading) throws(Problem) {
    var violations: [Violation] = []
    if !reading.device.id.rawValue.isEmpty {
      violations.append(
        Violation("/id", Violation.Code.notAllowed, "a `register` key registers by token only: leave `id` out"))
    }
    for (index, tag) in reading.device.tags.enumerated() where !isFree(tag) {
      violations.append(
        Violation(
          "/tags/\(index)", Violation.Code.notAllowed,
          "a `register` key may not set this tag: allow it in the app's `register_tags`, or set it with a `devices` key"
        ))
    }
    guard violations.isEmpty else { throw Problem(Refusal(violations: violations), .invalidDevice) }
    guard let user = reading.device.user else { return }
    guard isSigned(user, reading.userSignature) else {
      throw Problem(
        .invalidUserSignature,
        app.userSecret == nil
          ? "This app has no user secret, so a `register` key cannot set a user"
          : "`user_signature` must be the hex HMAC-SHA256 of `user` under the app's user secret",
        violations: [Violation("/user_signature", Violation.Code.notAllowed, "is not the signature of this user")])
    }
  }

  /// The registration on top of what is known: what the key may not change, and what the app left out, stays.
  package func merge(_ reading: DeviceReading, into known: Device) -> Device {
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

  private func isSigned(_ user: String, _ signature: String?) -> Bool {
    guard let secret = app.userSecret, let signature, let given = Self.bytes(hex: signature) else { return false }
    return Digest.equal(given, Digest.hmacSHA256(Array(user.utf8), key: secret))
  }

  private static func bytes(hex: String) -> [UInt8]? {
    let digits = Array(hex.utf8)
    guard digits.count == 64 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index].hexDigitValue, let low = digits[index + 1].hexDigitValue else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}
